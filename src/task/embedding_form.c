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
    struct tn_form form;
    struct tn_str text;
    enum tn_status st = tn_form_begin(root, "texts", sizeof(tn_embed_request), arena, &form, out, err);
    tn_embed_request *r = form.request;
    if (st) return st;
    *r = TN_INIT(tn_embed_request);
    r->texts = form.texts;
    r->count = form.count;
    r->role = form.choices.role;
    for (unsigned i = TN_AUTO; tn_json_str(tn_json_get(root, "normalize"), &text) && switches[i]; i++)
        if (tn_str_is(text, switches[i])) r->normalize = (tn_tristate)i;
    r->dimensions = tn_form_read_count(root, "dimensions");
    TN_FORM_CHOOSE(r, form);
    return TN_OK;
}
