#!/usr/bin/env python3
"""sentence-transformers on torch, in f32 (or torch's bf16 with --precision bf16)."""

import sys

import common

OPTIONS = common.arguments(__doc__)

import torch
from sentence_transformers import SentenceTransformer


class Torch(common.Peer):
    name = "sentence-transformers"
    libraries = ("torch", "sentence-transformers", "transformers", "tokenizers")

    def __init__(self, options):
        super().__init__(options)
        torch.set_num_threads(options.threads)
        dtype = torch.float32 if options.precision == "f32" else torch.bfloat16
        self.model = SentenceTransformer(str(options.package), device="cpu", local_files_only=True,
                                         model_kwargs={"dtype": dtype})
        self.settings = {"attention": self.model[0].model.config._attn_implementation, "threads": torch.get_num_threads()}

    def embed_sorted(self, texts, batch):
        """The library's own loop, which sorts by length in characters."""
        return self.model.encode(texts, batch_size=batch, show_progress_bar=False)

    def embed_arrival(self, texts, batch):
        import numpy as np

        return np.concatenate([self.model.encode(texts[s : s + batch], batch_size=batch, show_progress_bar=False)
                               for s in range(0, len(texts), batch)])

    @torch.inference_mode()
    def run(self, ids, mask):
        features = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
        for module in self.model:
            features = module(features)
        return features["sentence_embedding"].float().numpy()


if __name__ == "__main__":
    sys.exit(common.serve(Torch(OPTIONS)))
