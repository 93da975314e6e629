#!/usr/bin/env python3
"""ONNX Runtime on the exported package, all graph optimisations on, in f32."""

import sys

import common

OPTIONS = common.arguments(__doc__)

import export
import onnxruntime


class OnnxRuntime(common.Peer):
    name = "onnxruntime"
    libraries = ("onnxruntime", "tokenizers")

    def __init__(self, options):
        super().__init__(options)
        if options.precision != "f32":
            sys.exit("onnxruntime_peer: f32 only")
        session = onnxruntime.SessionOptions()
        session.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        session.intra_op_num_threads = options.threads
        session.inter_op_num_threads = 1
        session.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        self.session = onnxruntime.InferenceSession(str(export.onnx_path(options.package)), session,
                                                    providers=["CPUExecutionProvider"])
        self.settings = {"optimisation": "ORT_ENABLE_ALL", "intra_op_num_threads": options.threads}

    def run(self, ids, mask):
        return self.session.run(None, {"input_ids": ids, "attention_mask": mask})[0]


if __name__ == "__main__":
    sys.exit(common.serve(OnnxRuntime(OPTIONS)))
