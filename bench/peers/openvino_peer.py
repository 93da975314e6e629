#!/usr/bin/env python3
"""OpenVINO's CPU device on the exported package, in f32 unless --precision bf16.

OpenVINO takes bf16 by itself on processors that have it; the hint pins the precision. One stream
over all threads and one stream per thread are both tried at the start and the better one stays.
"""

import sys

import common

OPTIONS = common.arguments(__doc__)

import export
import openvino


class OpenVino(common.Peer):
    name = "openvino"
    libraries = ("openvino", "tokenizers")

    def __init__(self, options):
        super().__init__(options)
        core = openvino.Core()
        model = core.read_model(str(export.onnx_path(options.package)))
        self.compiled = {streams: core.compile_model(model, "CPU", {
            "INFERENCE_PRECISION_HINT": options.precision,
            "INFERENCE_NUM_THREADS": options.threads,
            "NUM_STREAMS": streams,
            "PERFORMANCE_HINT": "LATENCY" if streams == 1 else "THROUGHPUT",
        }) for streams in sorted({1, options.threads})}
        self.requests = {streams: c.create_infer_request() for streams, c in self.compiled.items()}
        self.streams = self.best_streams()
        self.settings = {"streams": self.streams,
                         "precision": str(self.compiled[1].get_property("INFERENCE_PRECISION_HINT"))}

    def best_streams(self):
        rows = sorted(self.tokenize(common.spread(self.texts, 96)), key=len)
        batches = [rows[s : s + 8] for s in range(0, len(rows), 8)]
        seconds = {}
        for _ in range(3):
            for self.streams in self.compiled:
                now = common.timed(lambda: self.run_batches(batches))
                seconds[self.streams] = min(now, seconds.get(self.streams, now))
        return min(seconds, key=seconds.get)

    def run(self, ids, mask):
        return self.requests[1].infer({"input_ids": ids, "attention_mask": mask})[0].copy()

    def run_batches(self, batches):
        if self.streams == 1:
            return super().run_batches(batches)
        out = [None] * len(batches)
        queue = openvino.AsyncInferQueue(self.compiled[self.streams], self.streams)

        def keep(request, index):
            out[index] = request.get_output_tensor(0).data.copy()

        queue.set_callback(keep)
        for index, batch in enumerate(batches):
            ids, mask = self.pad(batch)
            queue.start_async({"input_ids": ids, "attention_mask": mask}, index)
        queue.wait_all()
        return out


if __name__ == "__main__":
    sys.exit(common.serve(OpenVino(OPTIONS)))
