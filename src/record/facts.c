/*
 * What evidence about a package rests on, as short strings. Reads the description and the inventory, never a file.
 * Digests here are cheap: documents and container headers were hashed when the package was opened.
 */
#include "record/record.h"

#include <string.h>

static enum tn_status set_digest(struct tn_record_facts *facts, enum tn_dependency kind, struct tn_arena *arena,
                                 struct tn_sha256 *h)
{
    char hex[TN_SHA256_HEX];
    struct tn_digest digest = tn_sha256_finish(h);
    tn_digest_hex(&digest, hex);
    facts->value[kind] = tn_arena_str(arena, tn_str_of(hex));
    return facts->value[kind].s ? TN_OK : TN_INSUFFICIENT_MEMORY;
}

static bool hash_headers(struct tn_sha256 *h, const struct tn_inventory *inv, const struct tn_variant *v)
{
    tn_sha256_update_str(h, v->place);
    for (uint32_t i = 0; i < v->file_count; i++) {
        const struct tn_package_file *file = &inv->files[v->files[i]];
        if (!file->have_header) return false;
        tn_sha256_update(h, file->header.bytes, sizeof(file->header.bytes));
        tn_sha256_update_u64(h, file->size);
    }
    return true;
}

/* Names, types, shapes and places of every tensor that may be bound: the headers of the variant and of the modules. */
static enum tn_status weight_headers(struct tn_record_facts *facts, struct tn_arena *arena,
                                     const struct tn_description *d)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    if (!d->variant || !hash_headers(&h, d->inv, d->variant)) return TN_OK;
    for (uint32_t i = 0; i < d->inv->part_count; i++) {
        if (!hash_headers(&h, d->inv, &d->inv->parts[i])) return TN_OK;
    }
    return set_digest(facts, TN_DEPENDS_ON_WEIGHT_HEADERS, arena, &h);
}

static void hash_value(struct tn_sha256 *h, const struct tn_value *v)
{
    tn_sha256_update_u64(h, v->present);
    if (!v->present) return;
    uint64_t bits = 0;
    memcpy(&bits, &v->f, sizeof(bits));
    tn_sha256_update_u64(h, v->b);
    tn_sha256_update_u64(h, v->u);
    tn_sha256_update_u64(h, bits);
    tn_sha256_update_str(h, v->s);
}

static enum tn_status config(struct tn_record_facts *facts, struct tn_arena *arena, const struct tn_description *d)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    for (uint32_t i = 0; i < d->component_count; i++) {
        const struct tn_component *c = &d->components[i];
        tn_sha256_update_str(&h, c->name);
        if (!c->schema || !c->values) continue;
        tn_sha256_update_str(&h, tn_str_of(c->schema->id));
        for (size_t f = 0; f < c->schema->field_count; f++) {
            if (c->schema->fields[f].kind != TN_FIELD_UNDERSTOOD) continue;
            tn_sha256_update_str(&h, tn_str_of(c->schema->fields[f].name));
            hash_value(&h, &c->values[f]);
        }
    }
    return set_digest(facts, TN_DEPENDS_ON_CONFIG, arena, &h);
}

static void hash_file(struct tn_sha256 *h, const struct tn_inventory *inv, struct tn_str path)
{
    const struct tn_package_file *file = path.n ? tn_inventory_file(inv, path) : NULL;
    tn_sha256_update_u64(h, file && file->have_digest);
    if (file && file->have_digest) tn_sha256_update(h, file->digest.bytes, sizeof(file->digest.bytes));
}

static enum tn_status tokenizer(struct tn_record_facts *facts, struct tn_arena *arena, const struct tn_description *d)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    if (!d->tokenizer.present) return TN_OK;
    hash_file(&h, d->inv, d->tokenizer.tokenizer_json);
    hash_file(&h, d->inv, d->tokenizer.vocab_txt);
    tn_tokenizer_fingerprint(&d->tokenizer, &h);
    return set_digest(facts, TN_DEPENDS_ON_TOKENIZER, arena, &h);
}

static enum tn_status description(struct tn_record_facts *facts, struct tn_arena *arena,
                                  const struct tn_description *d)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_description_fingerprint(d, &h);
    return set_digest(facts, TN_DEPENDS_ON_DESCRIPTION, arena, &h);
}

static struct tn_str printed(struct tn_arena *arena, struct tn_buf *text)
{
    struct tn_str out = tn_buf_status(text) ? (struct tn_str){0} : tn_arena_str(arena, tn_buf_str(text));
    tn_buf_clear(text);
    return out;
}

static enum tn_status route_facts(struct tn_record_facts *facts, struct tn_arena *arena,
                                  const struct tn_record_route *route)
{
    struct tn_buf text;
    tn_buf_init(&text, arena->alloc, 4096);
    if (route->provider.n) {
        tn_buf_printf(&text, "%.*s/%.*s", TN_FMT_ARG(route->provider), TN_FMT_ARG(route->provider_version));
    }
    facts->value[TN_DEPENDS_ON_PROVIDER] = printed(arena, &text);
    if (route->compute.n) {
        tn_buf_printf(&text, "stored=%.*s compute=%.*s accumulate=%.*s kv=%.*s", TN_FMT_ARG(route->stored),
                      TN_FMT_ARG(route->compute), TN_FMT_ARG(route->accumulate), TN_FMT_ARG(route->kv));
    }
    facts->value[TN_DEPENDS_ON_NUMERIC] = printed(arena, &text);
    tn_buf_release(&text);
    facts->value[TN_DEPENDS_ON_FAMILY] = tn_arena_str(arena, route->family);
    facts->value[TN_DEPENDS_ON_ISA_CLASS] = tn_arena_str(arena, route->isa_class);
    facts->value[TN_DEPENDS_ON_RECIPE] = tn_arena_str(arena, route->recipe);
    facts->value[TN_DEPENDS_ON_CONTRACT] = tn_arena_str(arena, route->contract);
    static const enum tn_dependency set[] = {TN_DEPENDS_ON_PROVIDER,  TN_DEPENDS_ON_NUMERIC, TN_DEPENDS_ON_FAMILY,
                                             TN_DEPENDS_ON_ISA_CLASS, TN_DEPENDS_ON_RECIPE,  TN_DEPENDS_ON_CONTRACT};
    for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++) {
        if (!facts->value[set[i]].s) return TN_INSUFFICIENT_MEMORY;
    }
    return TN_OK;
}

enum tn_status tn_record_facts_of(struct tn_record_facts *facts, struct tn_arena *arena,
                                  const struct tn_description *d, const struct tn_record_route *route,
                                  struct tn_error *err)
{
    *facts = (struct tn_record_facts){0};
    enum tn_status status = weight_headers(facts, arena, d);
    if (!status) status = config(facts, arena, d);
    if (!status) status = tokenizer(facts, arena, d);
    if (!status) status = description(facts, arena, d);
    if (!status) status = route_facts(facts, arena, route);
    return status ? tn_error_memory(err, TN_PHASE_RECORD, "collecting the facts of a record") : TN_OK;
}
