/*
 * Two identities of a graph. Its structure: nodes, attributes, types and the values of small constants, hashed in the
 * order of the file; names of values do not matter, only which value is meant. Its weights: the constants by graph and
 * name, hashed from their values and so independent of how they are stored; remembered under the stamps of the files.
 */
#include "provider/native/native.h"

#include <string.h>

/* ---- structure ---------------------------------------------------------------------------------------------------- */

static void hash_net(struct tn_sha256 *h, const struct tn_net *net);

static void hash_type(struct tn_sha256 *h, const struct tn_model *model, const struct tn_type *type)
{
    char text[512];
    tn_sha256_update_str(h, tn_str_of(tn_type_text(model, type, text, sizeof(text))));
}

static void hash_constant(struct tn_sha256 *h, const struct tn_constant *c)
{
    tn_sha256_update_u64(h, c->element);
    tn_sha256_update_u64(h, c->rank);
    for (uint32_t i = 0; i < c->rank; i++) tn_sha256_update_u64(h, (uint64_t)c->dims[i]);
    tn_sha256_update_u64(h, c->data != NULL);
    if (!c->data) return;
    if (c->element != TN_EL_STRING) {
        tn_sha256_update(h, c->data, c->bytes);
        return;
    }
    for (size_t i = 0; i < c->bytes / sizeof(struct tn_str); i++) tn_sha256_update_str(h, ((const struct tn_str *)c->data)[i]);
}

/* The bytes of many small updates, some thousand at once. */
struct gathered {
    struct tn_sha256 *h;
    size_t n;
    unsigned char bytes[4096];
};

static inline void gather(struct gathered *g, const void *p, size_t n)
{
    if (n > sizeof(g->bytes) - g->n) {
        tn_sha256_update(g->h, g->bytes, g->n);
        g->n = 0;
    }
    if (n > sizeof(g->bytes)) tn_sha256_update(g->h, p, n);
    else if (n) memcpy(g->bytes + g->n, p, n);
    g->n += n > sizeof(g->bytes) ? 0 : n;
}

static void gather_u64(struct gathered *g, uint64_t v)
{
    const unsigned char bytes[8] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16), (unsigned char)(v >> 24),
                                    (unsigned char)(v >> 32), (unsigned char)(v >> 40), (unsigned char)(v >> 48), (unsigned char)(v >> 56)};
    gather(g, bytes, sizeof(bytes));
}

static void hash_list(struct tn_sha256 *h, const struct tn_attr *a)
{
    struct gathered g;
    g.h = h;
    g.n = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (a->type == TN_ATTR_INTS) {
            gather_u64(&g, (uint64_t)a->as.ints[i]);
        } else {
            gather_u64(&g, a->as.strings[i].n);
            gather(&g, a->as.strings[i].s, a->as.strings[i].n);
        }
    }
    tn_sha256_update(h, g.bytes, g.n);
}

static void hash_attr(struct tn_sha256 *h, const struct tn_model *model, const struct tn_attr *a)
{
    tn_sha256_update_str(h, a->name);
    tn_sha256_update_u64(h, a->type);
    tn_sha256_update_u64(h, a->count);
    switch (a->type) {
    case TN_ATTR_FLOAT: tn_sha256_update(h, &a->as.f, sizeof(a->as.f)); break;
    case TN_ATTR_INT: tn_sha256_update_u64(h, (uint64_t)a->as.i); break;
    case TN_ATTR_STRING: tn_sha256_update_str(h, a->as.s); break;
    case TN_ATTR_FLOATS: tn_sha256_update(h, a->as.floats, a->count * sizeof(*a->as.floats)); break;
    case TN_ATTR_INTS:
    case TN_ATTR_STRINGS: hash_list(h, a); break;
    case TN_ATTR_TENSOR:
    case TN_ATTR_TENSORS:
    case TN_ATTR_SPARSE_TENSOR:
    case TN_ATTR_SPARSE_TENSORS:
        for (size_t i = 0; i < a->count; i++) hash_constant(h, &a->as.tensors[i]);
        break;
    case TN_ATTR_GRAPH:
    case TN_ATTR_GRAPHS:
        for (size_t i = 0; i < a->count; i++) hash_net(h, a->as.graphs[i]);
        break;
    case TN_ATTR_TYPE:
    case TN_ATTR_TYPES:
        for (size_t i = 0; i < a->count; i++) hash_type(h, model, &a->as.types[i]);
        break;
    case TN_ATTR_UNDEFINED:
    case TN_ATTR_COUNT: break;
    }
}

static void hash_node(struct tn_sha256 *h, const struct tn_model *model, const struct tn_node *n)
{
    tn_sha256_update_str(h, n->domain);
    tn_sha256_update_str(h, n->type);
    tn_sha256_update_u64(h, (uint64_t)n->version);
    tn_sha256_update_u64(h, n->in_count);
    for (uint32_t i = 0; i < n->in_count; i++) {
        tn_sha256_update_u64(h, n->in[i].value);
        tn_sha256_update_u64(h, n->in[i].level);
    }
    tn_sha256_update_u64(h, n->out_count);
    for (uint32_t i = 0; i < n->out_count; i++) tn_sha256_update_u64(h, n->out[i]);
    tn_sha256_update_u64(h, n->attr_count);
    for (uint32_t i = 0; i < n->attr_count; i++) hash_attr(h, model, &n->attrs[i]);
}

static void hash_net(struct tn_sha256 *h, const struct tn_net *net)
{
    tn_sha256_update_u64(h, net->value_count);
    for (uint32_t i = 0; i < net->value_count; i++) {
        const struct tn_constant *c = net->values[i].constant;
        tn_sha256_update_u64(h, c != NULL);
        if (c) hash_constant(h, c);
    }
    tn_sha256_update_u64(h, net->input_count);
    for (uint32_t i = 0; i < net->input_count; i++) {
        tn_sha256_update_u64(h, net->inputs[i]);
        hash_type(h, net->model, &net->values[net->inputs[i]].type);
    }
    tn_sha256_update_u64(h, net->node_count);
    for (uint32_t i = 0; i < net->node_count; i++) hash_node(h, net->model, &net->nodes[i]);
    tn_sha256_update_u64(h, net->output_count);
    for (uint32_t i = 0; i < net->output_count; i++) {
        tn_sha256_update_u64(h, net->results[i].value);
        tn_sha256_update_u64(h, net->results[i].level);
    }
}

struct tn_digest tn_native_net_structure(const struct tn_model *model)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_sha256_update_str(&h, TN_STR("tenon.graph/1"));
    hash_net(&h, model->main);
    return tn_sha256_finish(&h);
}

/* ---- weights ------------------------------------------------------------------------------------------------------ */

struct weights {
    struct tn_model *model;
    const struct tn_context *ctx;
    const struct tn_cancel *cancel;
    struct tn_sha256 h;
    struct tn_error *err;
    enum tn_status failed;
};

/* The values, wherever they are. Chunks are digests of their own, as with other weights. */
static bool hash_values(struct weights *w, const struct tn_constant *c)
{
    struct tn_constant there = *c;
    void *own = NULL;
    if (w->failed || (w->failed = tn_cancel_fail(w->cancel, TN_PHASE_LOAD, w->err))) return false;
    if (!c->data) {
        own = tn_malloc(w->ctx->alloc, c->bytes ? c->bytes : 1);
        if (!own) {
            w->failed = tn_error_memory(w->err, TN_PHASE_LOAD, "hashing weights");
            return false;
        }
        there.data = own;
        w->failed = tn_constant_read(w->model, c, own, w->err);
    }
    if (!w->failed) hash_constant(&w->h, &there);
    tn_free(w->ctx->alloc, own);
    return !w->failed;
}

static bool weigh_net(struct weights *w, const struct tn_net *net)
{
    for (uint32_t i = 0; i < net->value_count; i++) {
        const struct tn_net_value *v = &net->values[i];
        if (!v->constant) continue;
        tn_sha256_update_str(&w->h, v->name);
        if (!hash_values(w, v->constant)) return false;
    }
    for (uint32_t i = 0; i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        for (uint32_t k = 0; k < n->attr_count; k++) {
            const struct tn_attr *a = &n->attrs[k];
            bool graphs = a->type == TN_ATTR_GRAPH || a->type == TN_ATTR_GRAPHS;
            bool tensors = a->type == TN_ATTR_TENSOR || a->type == TN_ATTR_TENSORS;
            for (size_t j = 0; j < a->count && (graphs || tensors); j++) {
                tn_sha256_update_u64(&w->h, i);
                tn_sha256_update_str(&w->h, a->name);
                if (graphs ? !weigh_net(w, a->as.graphs[j]) : !hash_values(w, &a->as.tensors[j])) return false;
            }
        }
    }
    return true;
}

static struct tn_digest cache_key(const struct tn_model *model, const struct tn_digest *structure, const struct tn_variant *variant)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_sha256_update_str(&h, TN_STR("graph weights/1"));
    tn_sha256_update(&h, structure->bytes, sizeof(structure->bytes));
    for (uint32_t i = 0; i < variant->file_count; i++) {
        const struct tn_package_file *file = &model->inv->files[variant->files[i]];
        tn_sha256_update_str(&h, file->path);
        tn_sha256_update_u64(&h, file->stamp.device);
        tn_sha256_update_u64(&h, file->stamp.inode);
        tn_sha256_update_u64(&h, file->stamp.size);
        tn_sha256_update_u64(&h, (uint64_t)file->stamp.mtime_ns);
        tn_sha256_update_u64(&h, (uint64_t)file->stamp.ctime_ns);
    }
    return tn_sha256_finish(&h);
}

enum tn_status tn_native_net_weights(struct tn_model *model, const struct tn_digest *structure, const struct tn_variant *variant,
                                     const struct tn_context *ctx, const struct tn_cancel *cancel, struct tn_digest *out, struct tn_error *err)
{
    struct tn_digest key = cache_key(model, structure, variant);
    struct weights w = {.model = model, .ctx = ctx, .cancel = cancel, .err = err};
    if (tn_digest_recall(ctx, &key, out)) return TN_OK;
    tn_sha256_init(&w.h);
    tn_sha256_update_str(&w.h, TN_STR("tenon.graph weights/1"));
    if (!weigh_net(&w, model->main)) return w.failed;
    *out = tn_sha256_finish(&w.h);
    tn_digest_remember(ctx, &key, out);
    return TN_OK;
}
