/*
 * /model/type of genai_config.json: the word by which that runtime chooses its loop. Here it is a label that nothing
 * branches on; but a word that the convention's own reader has never heard of says that this is another convention, or a
 * later one, and then no meaning of a port may be taken from it.
 *
 * Words of onnxruntime-genai up to 0.18, whatever kind of loop they stand for.
 */
#include "describe/dialect/genai.h"

#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

static const char *const types[] = {
    "chatglm",  "decoder", "decoder-pipeline", "ernie4_5",    "fara",  "gemma",       "gemma2",     "gemma3",
    "gemma3_text", "gpt2", "gptoss",           "granite",     "internlm2", "lfm2",    "llama",      "marian-ssru",
    "mistral",  "nemotron", "nemotron_speech", "olmo",        "phi",   "phi3",        "phi3small",  "phi3v",
    "phi4mm",   "phimoe",  "qwen2",            "qwen2_5_vl",  "qwen3", "qwen3_5",     "qwen3_vl",   "smollm3",
    "whisper",
};

enum { TYPES = sizeof(types) / sizeof(types[0]) };

static void expect_types(struct tn_finding *f)
{
    char text[512] = "";
    size_t n = 0;
    for (size_t i = 0; i < TYPES && n < sizeof(text); i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "", types[i]);
    tn_expected(f, "one of %s", text);
}

void tn_genai_check_type(struct tn_genai *g)
{
    struct tn_json v = tn_json_get(g->model, "type");
    struct tn_nearest best = {NULL, 0};
    struct tn_str word;
    if (!tn_json_str(v, &word)) return;
    if (word.n == 0) {
        expect_types(tn_genai_refuse(g, v, "is empty: nothing says which kind of model this is"));
        return;
    }
    for (size_t i = 0; i < TYPES; i++) {
        if (tn_str_is(word, types[i])) return;
        tn_nearest_offer(&best, word, types[i]);
    }
    struct tn_finding *f = tn_genai_refuse(g, v, "is a kind of model that the convention does not know");
    if (f) f->code = TN_UNKNOWN_FAMILY;
    expect_types(f);
    if (best.name) tn_remedy(f, "the nearest known kind is \"%s\"", best.name);
    else tn_remedy(f, "export the model again for one of these kinds");
}
