/*
 * The plan fingerprint: everything that decides what comes out, and nothing that does not. In: the description without
 * origins, the tensor table without places, the tokenizer's files, contract and recipe, the numeric policy, and what the
 * provider says about itself and the machine. Out: threads, memory, names of files, and how a choice came about.
 */
#include "plan/plan.h"

static void add_tensor(struct tn_sha256 *h, const struct tn_tensor_info *t)
{
    tn_sha256_update_u64(h, t != NULL);
    if (!t) return;
    tn_sha256_update_str(h, t->name);
    tn_sha256_update_str(h, tn_str_of(tn_dtype_name(t->dtype)));
    tn_sha256_update_u64(h, t->rank);
    for (uint32_t r = 0; r < t->rank; r++) tn_sha256_update_u64(h, t->shape[r]);
}

static void add_tensors(struct tn_sha256 *h, const struct tn_description *d, const struct tn_component *c)
{
    const struct tn_variant *v = c && c->variant ? c->variant : d->variant;
    tn_sha256_update_u64(h, v ? v->tensor_count : 0);
    for (uint32_t i = 0; v && i < v->tensor_count; i++) add_tensor(h, &d->inv->tensors[v->first_tensor + i]);
    for (uint32_t i = 0; i < d->module_count; i++) {
        add_tensor(h, d->modules[i].weight);
        add_tensor(h, d->modules[i].bias_tensor);
        add_tensor(h, d->modules[i].residual_weight);
    }
}

static void add_file(struct tn_sha256 *h, const struct tn_description *d, struct tn_str path)
{
    const struct tn_package_file *file = path.n ? tn_inventory_file(d->inv, path) : NULL;
    tn_sha256_update_u64(h, file != NULL);
    if (!file) return;
    tn_sha256_update_u64(h, file->size);
    if (file->have_digest) tn_sha256_update(h, file->digest.bytes, sizeof(file->digest.bytes));
}

static void add_tokenizer(struct tn_sha256 *h, const struct tn_description *d)
{
    const struct tn_tokenizer_facts *t = &d->tokenizer;
    add_file(h, d, t->tokenizer_json);
    add_file(h, d, t->vocab_txt);
}

struct tn_digest tn_plan_fingerprint(const struct tn_survey *s, const struct tn_survey_row *row)
{
    const struct tn_description *d = s->planner->d;
    const struct tn_recipe *recipe = s->policy.task->recipe;
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_sha256_update_str(&h, TN_STR(TN_PLAN_SCHEMA));
    tn_description_fingerprint(d, &h);
    add_tensors(&h, d, s->route.component);
    add_tokenizer(&h, d);
    tn_sha256_update_str(&h, tn_str_of(s->policy.task->contract));
    tn_sha256_update_str(&h, tn_str_of(recipe->name));
    tn_sha256_update_str(&h, tn_str_of(recipe->version));
    tn_sha256_update_u64(&h, s->route.first_module);
    tn_sha256_update_u64(&h, s->route.module_end);
    tn_sha256_update_u64(&h, s->route.max_tokens);
    if (s->route.hiding_rows) tn_sha256_update_u64(&h, s->route.hiding_rows);
    if (s->route.head) tn_sha256_update_u64(&h, s->route.head->kind);
    tn_sha256_update_str(&h, row->record_route.stored);
    tn_sha256_update_str(&h, row->record_route.compute);
    tn_sha256_update_str(&h, row->record_route.accumulate);
    tn_sha256_update_str(&h, row->record_route.kv);
    tn_sha256_update_str(&h, row->record_route.provider);
    tn_sha256_update_str(&h, row->record_route.provider_version);
    row->entry->provider->fingerprint(&row->assessment, &h);
    return tn_sha256_finish(&h);
}
