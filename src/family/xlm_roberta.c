/*
 * XLM-RoBERTa (Conneau et al. 2019, arXiv 1911.02116): RoBERTa's forward pass and tensor names, trained on a hundred
 * languages with a vocabulary of its own. What differs is the configuration class and the tokenizer.
 */
#include "family/families.h"
#include "family/head_block.h"
#include "family/roberta.h"
#include "family/schemas.h"

const struct tn_family tn_family_xlm_roberta = {
    .name = "xlm-roberta",
    .version = "1",
    .schema = &tn_schema_xlm_roberta,
    .layer_count = "num_hidden_layers",
    .prefixes = tn_roberta_prefixes, /* base_model_prefix is "roberta" here too */
    .tensors = tn_roberta_tensors,
    .tensor_count = TN_ROBERTA_TENSORS,
    .tied = {"embeddings.word", "lm_head.decoder.weight"},
    .unused = tn_roberta_unused,
    .unused_count = TN_ROBERTA_UNUSED,
    .build = tn_roberta_build,
    .heads = tn_out_proj_heads,
    .head_count = TN_OUT_PROJ_HEADS,
};
