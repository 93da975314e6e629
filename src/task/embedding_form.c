/* The request for dense embeddings as a document. */
#include "task/embedding.h"
#include "task/forms.h"

static const char *const switches[] = {"auto", "yes", "no", NULL};
static const struct tn_doctype tristate = {.kind = TN_DOC_ENUM, .values = switches};

TN_DOC_OBJECT_TYPE(tn_embed_request_type, "EmbedRequest", "Texts to be turned into vectors.",
    TN_DOC_MUST("texts", &tn_form_texts, "The texts; empty ones are legal: they are their special tokens."),
    TN_DOC_NULL_AS("normalize", &tristate, "\"auto\"", "Whether vectors get length 1; auto: as the package says."),
    TN_DOC_NULL("dimensions", &tn_form_count, "Keeps the first components, after everything the package does; what is left has length 1 "
                "only when normalize is yes; absent: all."),
    TN_FORM_CHOICES);

enum tn_status tn_embedding_read(struct tn_json root, struct tn_arena *arena, struct tn_task_request *out, struct tn_error *err)
{
    struct tn_form_items items;
    struct tn_text_choices choices;
    struct tn_str text;
    uint64_t number;
    tn_embed_request *r = tn_arena_alloc(arena, sizeof(*r));
    if (!r || !tn_form_read_items(tn_json_get(root, "texts"), arena, &items)) {
        return tn_error_memory(err, TN_PHASE_REQUEST, "reading the request");
    }
    enum tn_status st = tn_form_read_choices(root, arena, &choices, err);
    if (st) return st;
    *r = TN_INIT(tn_embed_request);
    r->texts = items.texts;
    r->count = items.count;
    r->role = choices.role;
    for (unsigned i = TN_AUTO; tn_json_str(tn_json_get(root, "normalize"), &text) && switches[i]; i++)
        if (tn_str_is(text, switches[i])) r->normalize = (tn_tristate)i;
    if (tn_json_u64(tn_json_get(root, "dimensions"), &number)) r->dimensions = (unsigned)number;
    r->truncation = choices.truncation;
    r->side = choices.side;
    r->atomic = choices.atomic;
    r->batch = choices.batch;
    r->timeout_ms = choices.timeout_ms;
    *out = (struct tn_task_request){r, r->timeout_ms, items.ids, items.count};
    return TN_OK;
}
