/*
 * What a request for embeddings means where it says nothing. The package's word stands over the contract's, and where the
 * package says nothing the contract's stands in; both stay visible. What a request itself says is in its account.
 */
#include "task/embedding.h"
#include "task/text_choices.h"

enum tn_status tn_embedding_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                                    struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err)
{
    struct tn_option_maker m = {.d = d, .arena = arena, .out = out};
    struct tn_option *o = tn_option_begin(&m, "normalize", TN_STR("false"));
    if (tn_embedding_normalizes(d)) tn_option_of_package(&m, o, TN_STR("true"), NULL);
    o = tn_option_begin(&m, "dimensions", tn_json_text_of_u64(arena, width));
    if (o->count == 0) m.no_memory = true;
    if (d->truncate_dim && d->truncate_dim < width)
        tn_option_of_package(&m, o, tn_json_text_of_u64(arena, d->truncate_dim), "package.truncate_dim");
    tn_text_choices_defaults(&m, route);
    return tn_options_end(&m, count, err);
}
