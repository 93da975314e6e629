/*
 * Several vectors per text in tenon_package.json. The document is untrusted; its closed shape was checked before. What is
 * checked here is what the convention's readers hold too, so that one package has one verdict in both forms: rows of
 * tokens come out, queries are not cut below what they are filled up to, and vectors are compared as their number allows.
 */
#include "describe/dialect/contract.h"
#include "describe/package_parts.h"

static struct tn_str *read_texts(struct tn_builder *b, struct tn_json list, uint32_t *count)
{
    struct tn_str *out = tn_builder_array(b, tn_json_count(list), sizeof(*out)), text;
    for (struct tn_json v = tn_json_first(list); out && tn_json_present(v); v = tn_json_next(v))
        if (tn_json_str(v, &text)) out[(*count)++] = tn_builder_str(b, text);
    return out;
}

static void check_role_length(struct tn_builder *b, struct tn_json v)
{
    bool hard = false;
    uint64_t stated = 0, most = b->d->component_count ? tn_component_positions(b->d->components, &hard) : 0;
    if (!hard || most == 0 || !tn_json_u64(v, &stated) || stated <= most) return;
    tn_expected(tn_package_refuse(b, v, TN_METADATA_INVALID, "is more than the position table holds"), "at most %llu",
                (unsigned long long)most);
}

static void check_cut(struct tn_builder *b, struct tn_json object, const struct tn_multi_vector *m)
{
    uint64_t most = m->length[TN_OF_QUERY];
    if (m->expansion.length == 0 || most == 0 || most >= m->expansion.length) return;
    if (tn_doc_hides(b->marks, object, "expansion")) return;
    tn_expected(tn_package_refuse(b, tn_json_get(object, "query_length"), TN_METADATA_INVALID,
                                  "cuts queries below the length to which they are filled up"),
                "0, or at least %llu, by /multi_vector/expansion/length", (unsigned long long)m->expansion.length);
}

/* What comes out is the row of each token: no module makes one of them, and no head makes something else. */
static void check_rows(struct tn_builder *b, struct tn_json root, struct tn_json object)
{
    const struct tn_description *d = b->d;
    bool pooled = false;
    if (tn_doc_hides(b->marks, root, "modules") || tn_contract_refused_below(b, "/modules")) return;
    for (uint32_t i = 0; i < d->module_count; i++)
        pooled |= d->modules[i].kind == TN_MODULE_POOLING || d->modules[i].kind == TN_MODULE_SPLADE;
    if (pooled)
        tn_expected(tn_package_refuse(b, object, TN_METADATA_INVALID, "stands beside a module that makes one row of all"),
                    "null, or /modules without a pooling");
    else if (d->head)
        tn_expected(tn_package_refuse(b, object, TN_METADATA_INVALID, "stands beside a head, whose numbers are no vectors"),
                    "null, or /head null");
}

void tn_package_read_multi_vector(struct tn_builder *b, struct tn_json root)
{
    struct tn_json object = tn_json_get(root, "multi_vector"), expansion = tn_json_get(object, "expansion");
    if (!tn_json_is(object, TN_JSON_OBJECT)) return;
    struct tn_multi_vector *m = tn_describe_multi_vector(b);
    if (!m) return;
    m->length[TN_OF_QUERY] = tn_package_size(object, "query_length");
    m->length[TN_OF_DOCUMENT] = tn_package_size(object, "document_length");
    m->expansion = (struct tn_expansion){
        .length = tn_package_size(expansion, "length"),
        .fixed = tn_package_flag(expansion, "fixed"),
        .attended = tn_package_flag(expansion, "attended"),
        .kept = tn_package_flag(expansion, "kept"),
        .token = tn_package_text(b, expansion, "token"),
    };
    m->skip = read_texts(b, tn_json_get(object, "skip"), &m->skip_count);
    m->skips[TN_OF_QUERY] = tn_package_flag(object, "skips_in_queries");
    m->skips[TN_OF_DOCUMENT] = tn_package_flag(object, "skips_in_documents");
    m->markers = read_texts(b, tn_json_get(object, "markers"), &m->marker_count);
    tn_fact_of_json(b, object, TN_PACKAGE_RULE, false, "multi_vector.stated");
    check_role_length(b, tn_json_get(object, "query_length"));
    check_role_length(b, tn_json_get(object, "document_length"));
    check_role_length(b, tn_json_get(expansion, "length"));
    check_cut(b, object, m);
    check_rows(b, root, object);
}

/* Several vectors are compared by their best matches, and one of each is not. */
void tn_package_check_similarity(struct tn_builder *b, struct tn_json root)
{
    struct tn_json v = tn_json_get(root, "similarity");
    struct tn_str name = b->d->similarity;
    bool of_several = tn_str_is(name, "maxsim") || tn_str_is(name, "meanmaxsim");
    if (of_several == (b->d->multi != NULL) || tn_doc_hides(b->marks, root, "multi_vector")) return;
    if (b->d->multi)
        tn_expected(tn_package_refuse(b, v, TN_METADATA_INVALID, "does not compare several vectors per text"),
                    "maxsim or meanmaxsim, beside /multi_vector");
    else
        tn_expected(tn_package_refuse(b, v, TN_METADATA_INVALID, "compares several vectors per text, and there is one"),
                    "cosine, dot, euclidean, manhattan, or \"\"");
}
