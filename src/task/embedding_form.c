/* The request for dense embeddings as a document. */
#include "task/embedding.h"
#include "task/forms.h"

static const char *const switches[] = {"auto", "yes", "no", NULL};
static const struct tn_doctype tristate = {.kind = TN_DOC_ENUM, .values = switches};

TN_DOC_OBJECT_TYPE(tn_embed_request_type, "EmbedRequest", "Texts to be turned into vectors.",
    TN_DOC_MUST("texts", &tn_form_texts, "The texts."),
    TN_DOC_NULL("role", TN_DOC_TEXT, "Name of a prompt of the package; absent: its default; empty: none."),
    TN_DOC_MAY("normalize", &tristate, "\"auto\"", "Whether vectors get length 1; auto: as the package says."),
    TN_DOC_NULL("dimensions", &tn_form_count, "Keeps the first components; absent: all."),
    TN_DOC_MAY("truncate", TN_DOC_BOOLEAN, "true", "Whether longer texts are cut, or fail."),
    TN_DOC_MAY("atomic", TN_DOC_BOOLEAN, "false", "Whether one bad item fails the whole request."),
    TN_DOC_NULL("batch", &tn_form_count, "Most texts per step; absent: chosen by tokens."),
    TN_DOC_NULL("timeout_ms", &tn_form_timeout, "Deadline from the start, in milliseconds."));

enum tn_status tn_embedding_read(struct tn_json root, struct tn_arena *arena, struct tn_task_request *out, struct tn_error *err)
{
    struct tn_form_items items;
    struct tn_str text;
    uint64_t number;
    bool truncate;
    tn_embed_request *r = tn_arena_alloc(arena, sizeof(*r));
    if (!r || !tn_form_read_items(tn_json_get(root, "texts"), arena, &items)) {
        return tn_error_memory(err, TN_PHASE_REQUEST, "reading the request");
    }
    *r = TN_INIT(tn_embed_request);
    r->texts = items.texts;
    r->count = items.count;
    enum tn_status st = tn_form_read_name(tn_json_get(root, "role"), "role", arena, &r->role, err);
    if (st) return st;
    for (unsigned i = TN_AUTO; tn_json_str(tn_json_get(root, "normalize"), &text) && switches[i]; i++)
        if (tn_str_is(text, switches[i])) r->normalize = (tn_tristate)i;
    if (tn_json_u64(tn_json_get(root, "dimensions"), &number)) r->dimensions = (unsigned)number;
    if (tn_json_bool(tn_json_get(root, "truncate"), &truncate)) r->truncate = truncate ? TN_YES : TN_NO;
    (void)tn_json_bool(tn_json_get(root, "atomic"), &r->atomic);
    if (tn_json_u64(tn_json_get(root, "batch"), &number)) r->batch = (unsigned)number;
    if (tn_json_u64(tn_json_get(root, "timeout_ms"), &number)) r->timeout_ms = (uint32_t)number;
    *out = (struct tn_task_request){r, r->timeout_ms, items.ids, items.count};
    return TN_OK;
}
