/* The kinds of model: one row each. */
#include "text/internal.h"

static const struct tn_model_kind *const kinds[] = {
    &tn_model_wordpiece,
    &tn_model_bpe,
    &tn_model_unigram,
    &tn_model_wordlevel,
};
static const char offered[] = "WordPiece BPE Unigram WordLevel";

/* Files from before "type" existed: the kind follows from the members, tried in the library's order. */
static struct tn_str untagged_kind(struct tn_json model)
{
    struct tn_json vocab = tn_json_get(model, "vocab");
    if (tn_json_get(model, "merges").doc) return TN_STR("BPE");
    if (tn_json_is(vocab, TN_JSON_ARRAY)) return TN_STR("Unigram");
    bool wordpiece = tn_json_get(model, "unk_token").doc && tn_json_get(model, "continuing_subword_prefix").doc &&
                     tn_json_get(model, "max_input_chars_per_word").doc;
    return wordpiece ? TN_STR("WordPiece") : TN_STR("WordLevel");
}

enum tn_status tn_model_load(struct tn_text_loader *ld, struct tn_json model)
{
    struct tn_str type = {0};
    if (tn_json_is(model, TN_JSON_OBJECT) && !tn_json_get(model, "type").doc) {
        type = untagged_kind(model);
    } else {
        enum tn_status status = tn_load_type(ld, model, "model", &type);
        if (status) return status;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!tn_str_is(type, kinds[i]->name)) continue;
        ld->t->kind = kinds[i];
        return kinds[i]->load(ld, model);
    }
    return tn_load_unknown(ld, model, "model", type, offered);
}
