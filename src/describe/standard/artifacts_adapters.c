/*
 * Adapters against the package: the targets in the graphs, A and B of every binding in the weight files, and what
 * adapter_config.json says beside them. Shapes: delta = B A with A [rank, in] and B [out, rank] (Hu et al. 2021, section
 * 4.1), which is how PEFT stores lora_A and lora_B. Headers only; nothing is multiplied here.
 */
#include "describe/standard/artifacts_internal.h"

#include "base/checked.h"
#include "base/sort.h"

#include <stdio.h>
#include <string.h>

/* ---- targets in graphs ------------------------------------------------------------------------------------------- */

static int by_node_name(const void *a, const void *b, void *context)
{
    const struct tn_onnx_view *v = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = tn_str_order(v->nodes[x].name, v->nodes[y].name);
    return order ? order : (x > y) - (x < y);
}

static bool sort_nodes(struct tn_std_package_check *c, struct tn_std_graph *graph)
{
    uint32_t count = graph->view->node_count;
    if (graph->nodes) return true;
    graph->nodes = tn_arena_array(&c->arena, (size_t)count + 1, sizeof(*graph->nodes));
    if (!graph->nodes) {
        tn_std_lost_memory(c);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) graph->nodes[i] = i;
    if (count) tn_sort(graph->nodes, count, sizeof(*graph->nodes), by_node_name, graph->view);
    return true;
}

/* The first of the nodes with this name; *count says how many there are. */
static const struct tn_onnx_node *find_node(const struct tn_std_graph *graph, struct tn_str name, uint32_t *count)
{
    const struct tn_onnx_view *v = graph->view;
    uint32_t low = 0, high = v->node_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tn_str_order(v->nodes[graph->nodes[middle]].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool several = low + 1 < v->node_count && tn_str_eq(v->nodes[graph->nodes[low + 1]].name, name);
    bool found = low < v->node_count && tn_str_eq(v->nodes[graph->nodes[low]].name, name);
    *count = found ? several ? 2 : 1 : 0;
    return found ? &v->nodes[graph->nodes[low]] : NULL;
}

static struct tn_finding *absent(struct tn_std_package_check *c, const struct tn_std_ref *ref,
                                 const struct tn_onnx_view *view, const char *what)
{
    struct tn_finding *f = tn_std_refuse(c, TN_METADATA_INVALID, ref->at, "the graph has no such %s", what);
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(ref->name));
    tn_expected(f, "one of the %ss of graph %.*s", what, TN_FMT_ARG(view->file));
    return f;
}

/* float32, float16, float64, bfloat16: stored as multiplied. Packed and quantised ones have shapes of their own. */
static bool is_plain(uint32_t element)
{
    return element == 1 || element == 10 || element == 11 || element == 16;
}

/* [in, out] or [out, in], with room for the slice where the target is one of several. */
static void check_initializer(struct tn_std_package_check *c, const struct tn_std_target *t,
                              const struct tn_onnx_view *view)
{
    const struct tn_onnx_tensor *w = tn_onnx_initializer(view, t->initializer.name);
    if (!w) {
        absent(c, &t->initializer, view, "initializer");
        return;
    }
    if (w->rank != 2 || !is_plain(w->element) || !t->input_features.present || !t->output_features.present) return;
    int64_t in = (int64_t)t->input_features.value, out = (int64_t)t->output_features.value;
    if (t->slice_offset.present && t->slice_width.present) {
        uint64_t end;
        bool fits = tn_add64(t->slice_offset.value, t->slice_width.value, &end) && end <= INT64_MAX;
        for (unsigned i = 0; fits && i < 2; i++) {
            if (w->dims[i] == in && w->dims[1 - i] >= (int64_t)end) return;
        }
    } else if ((w->dims[0] == in && w->dims[1] == out) || (w->dims[0] == out && w->dims[1] == in)) {
        return;
    }
    struct tn_finding *f = tn_std_refuse(c, TN_TENSOR_MISMATCH, t->initializer.at,
                                         "an adapter's target does not have the shape of its initializer");
    tn_found(f, "initializer %.*s of graph %.*s is [%lld, %lld]", TN_FMT_ARG(w->name), TN_FMT_ARG(view->file),
             (long long)w->dims[0], (long long)w->dims[1]);
    tn_expected(f, "%lld input and %lld output features%s", (long long)in, (long long)out,
                t->slice_width.present ? ", the slice inside" : "");
}

static void check_output(struct tn_std_package_check *c, const struct tn_std_target *t,
                         const struct tn_std_graph *graph)
{
    uint32_t count;
    const struct tn_onnx_node *node = find_node(graph, t->node_name.name, &count);
    if (!node) {
        absent(c, &t->node_name, graph->view, "node");
        return;
    }
    if (count > 1) {
        struct tn_finding *f = tn_std_refuse(c, TN_METADATA_INVALID, t->node_name.at, "several nodes have this name");
        tn_found(f, "\"%.*s\" in graph %.*s", TN_FMT_ARG(t->node_name.name), TN_FMT_ARG(graph->view->file));
        tn_expected(f, "the name of one node");
        return;
    }
    if (!tn_str_eq(node->output, t->output_name.name)) {
        struct tn_finding *f = tn_std_refuse(c, TN_METADATA_INVALID, t->output_name.at,
                                             "the target's node does not make this value");
        tn_found(f, "node %.*s of graph %.*s makes \"%.*s\"", TN_FMT_ARG(node->name), TN_FMT_ARG(graph->view->file),
                 TN_FMT_ARG(node->output));
        tn_expected(f, "\"%.*s\"", TN_FMT_ARG(t->output_name.name));
    }
}

/* The graph takes A and B itself, or it knows nothing of adapters: half of it is neither. */
static void check_graph_inputs(struct tn_std_package_check *c, const struct tn_std_target *t,
                               const struct tn_onnx_view *view)
{
    const struct tn_std_ref *refs[] = {&t->graph_a, &t->graph_b, &t->graph_scale};
    bool any = false;
    for (size_t i = 0; i < 3; i++) any = any || tn_onnx_input(view, refs[i]->name);
    for (size_t i = 0; any && i < 3; i++) {
        const struct tn_onnx_port *port = tn_onnx_input(view, refs[i]->name);
        if (refs[i]->name.n == 0) continue;
        if (!port) {
            absent(c, refs[i], view, "input");
        } else if (port->element && t->activation_dtype != TN_STD_DTYPE_OTHER &&
                   strcmp(tn_onnx_element_name(port->element), tn_std_dtype_name(t->activation_dtype)) != 0) {
            struct tn_finding *f = tn_std_refuse(c, TN_METADATA_INVALID, refs[i]->at,
                                                 "an adapter's input of another element type");
            tn_found(f, "%s in graph %.*s", tn_onnx_element_name(port->element), TN_FMT_ARG(view->file));
            tn_expected(f, "%s, the target's activation_dtype", tn_std_dtype_name(t->activation_dtype));
        }
    }
}

void tn_std_check_targets(struct tn_std_package_check *c)
{
    const struct tn_std_adapters *adapters = &c->doc->adapters;
    for (size_t i = 0; !c->failed && i < adapters->target_count; i++) {
        const struct tn_std_target *t = &adapters->targets[i];
        const struct tn_std_component *component = tn_standard_component(c->doc, t->component.name);
        struct tn_std_graph *graph = component ? &c->graphs[component - c->doc->workflow.components] : NULL;
        if (!graph || !graph->view || !sort_nodes(c, graph)) continue;
        check_initializer(c, t, graph->view);
        check_output(c, t, graph);
        check_graph_inputs(c, t, graph->view);
    }
}

/* ---- weights of adapters ----------------------------------------------------------------------------------------- */

struct weights {
    struct tn_std_package_check *c;
    const struct tn_std_adapter *adapter;
    const struct tn_std_adapter_weight *weight;
    const struct tn_package_file *file;
};

static const struct tn_std_target *target_of(struct tn_std_package_check *c, struct tn_str id)
{
    if (!tn_std_spend(c, c->doc->adapters.target_count)) return NULL;
    for (size_t i = 0; i < c->doc->adapters.target_count; i++) {
        if (tn_str_eq(c->doc->adapters.targets[i].id.name, id)) return &c->doc->adapters.targets[i];
    }
    return NULL;
}

/* What a binding asks of its tensors. False: the document does not say enough, which its own check has told. */
struct factor {
    uint64_t rank, in, out;
};

static bool factor_of(const struct weights *w, const struct tn_std_adapter_binding *b, struct factor *out)
{
    const struct tn_std_target *t = target_of(w->c, b->target.name);
    const struct tn_std_count *rank = b->rank.present ? &b->rank : &w->adapter->rank;
    if (!t || !rank->present || !t->input_features.present || !t->output_features.present) return false;
    bool slice = t->slice_width.present;
    *out =
        (struct factor){rank->value, t->input_features.value, slice ? t->slice_width.value : t->output_features.value};
    return true;
}

/* ---- safetensors as PEFT writes it ------------------------------------------------------------------------------- */

/* Tensors of the file: its variant's range, which is sorted by name and may hold other files' too. */
static const struct tn_variant *variant_of(const struct weights *w)
{
    const struct tn_inventory *inv = w->c->inv;
    uint32_t file = (uint32_t)(w->file - inv->files);
    for (uint32_t i = 0; i < inv->variant_count + inv->part_count; i++) {
        const struct tn_variant *v =
            i < inv->variant_count ? &inv->variants[i] : &inv->parts[i - inv->variant_count];
        for (uint32_t k = 0; k < v->file_count; k++) {
            if (v->files[k] == file && v->tensor_count) return v;
        }
    }
    return NULL;
}

/* "…KEY.lora_A.weight", where the key begins at a point or at the start; KEY.lora_A.default.weight likewise. */
static bool is_factor(struct tn_str name, struct tn_str key, const char *half)
{
    static const char *const ends[] = {".weight", ".default.weight"};
    for (size_t i = 0; i < 2; i++) {
        if (!tn_str_ends(name, ends[i])) continue;
        struct tn_str left = {name.s, name.n - strlen(ends[i])};
        if (!tn_str_ends(left, half)) continue;
        left.n -= strlen(half);
        if (left.n < key.n || memcmp(left.s + left.n - key.n, key.s, key.n) != 0) continue;
        if (left.n == key.n || left.s[left.n - key.n - 1] == '.') return true;
    }
    return false;
}

static void check_shape(const struct weights *w, const struct tn_std_adapter_binding *b, const struct tn_tensor_info *t,
                        uint64_t rows, uint64_t columns)
{
    if (t->rank == 2 && t->shape[0] == rows && t->shape[1] == columns) return;
    struct tn_finding *f = tn_std_refuse(w->c, TN_TENSOR_MISMATCH, b->at, "a factor of an adapter has another shape");
    char shape[160] = "";
    size_t n = 0;
    for (uint32_t i = 0; i < t->rank && n < sizeof(shape); i++)
        n += (size_t)snprintf(shape + n, sizeof(shape) - n, "%s%llu", i ? ", " : "", (unsigned long long)t->shape[i]);
    tn_found(f, "tensor %.*s of %.*s is [%s]", TN_FMT_ARG(t->name), TN_FMT_ARG(w->file->path), shape);
    tn_expected(f, "[%llu, %llu]", (unsigned long long)rows, (unsigned long long)columns);
}

/* The one tensor of this half, or NULL with a finding. Marks it as read. */
static const struct tn_tensor_info *find_half(const struct weights *w, const struct tn_variant *v,
                                              const struct tn_std_adapter_binding *b, const char *half, bool *used)
{
    const struct tn_tensor_info *items = &w->c->inv->tensors[v->first_tensor], *found = NULL;
    uint32_t count = 0, file = (uint32_t)(w->file - w->c->inv->files);
    if (!tn_std_spend(w->c, v->tensor_count)) return NULL;
    for (uint32_t i = 0; i < v->tensor_count; i++) {
        if (items[i].file != file || !is_factor(items[i].name, b->weight_key.name, half)) continue;
        if (!found) found = &items[i];
        used[i] = true;
        count++;
    }
    if (count == 1) return found;
    struct tn_finding *f = tn_std_refuse(w->c, count ? TN_DUPLICATE_TENSOR : TN_MISSING_TENSOR, b->weight_key.at,
                                         count ? "several tensors fit a binding" : "no tensor fits a binding");
    tn_found(f, "%u tensors \"...%.*s%s.weight\" in %.*s", count, TN_FMT_ARG(b->weight_key.name), half,
             TN_FMT_ARG(w->file->path));
    tn_expected(f, "one");
    return NULL;
}

static void check_type(const struct weights *w, const struct tn_std_adapter_binding *b, const struct tn_tensor_info *t)
{
    static const struct {
        enum tn_dtype stored;
        enum tn_std_dtype stated;
    } pairs[] = {{TN_DTYPE_F32, TN_STD_F32},   {TN_DTYPE_F16, TN_STD_F16}, {TN_DTYPE_BF16, TN_STD_BF16},
                 {TN_DTYPE_F8_E4M3, TN_STD_F8_E4M3FN}, {TN_DTYPE_F8_E5M2, TN_STD_F8_E5M2}};
    if (w->adapter->dtype == TN_STD_DTYPE_OTHER) return;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (pairs[i].stored == t->dtype && pairs[i].stated == w->adapter->dtype) return;
    }
    struct tn_finding *f = tn_std_refuse(w->c, TN_TENSOR_MISMATCH, b->at, "a factor of an adapter has another type");
    tn_found(f, "tensor %.*s of %.*s is %s", TN_FMT_ARG(t->name), TN_FMT_ARG(w->file->path), tn_dtype_name(t->dtype));
    tn_expected(f, "%s, as adapter %.*s states", tn_std_dtype_name(w->adapter->dtype), TN_FMT_ARG(w->adapter->name));
}

/* A tensor that nothing reads is a part of the answer that is missing. */
static void check_unread(const struct weights *w, const struct tn_variant *v, const bool *used)
{
    const struct tn_tensor_info *items = &w->c->inv->tensors[v->first_tensor];
    uint32_t count = 0, first = 0, file = (uint32_t)(w->file - w->c->inv->files);
    for (uint32_t i = v->tensor_count; i-- > 0;) {
        if (items[i].file != file || used[i]) continue;
        count++;
        first = i;
    }
    if (count == 0) return;
    struct tn_finding *f = tn_std_refuse(w->c, TN_UNEXPECTED_TENSOR, w->weight->location.at,
                                         "tensors of an adapter that no binding reads");
    tn_found(f, "%u in %.*s, the first is %.*s", count, TN_FMT_ARG(w->file->path), TN_FMT_ARG(items[first].name));
    tn_expected(f, "a binding for each");
}

static void check_peft_tensors(const struct weights *w)
{
    const struct tn_variant *v = variant_of(w);
    if (w->file->malformed) return; /* the inventory has said why */
    if (w->file->role != TN_ROLE_SAFETENSORS || !v) {
        struct tn_finding *f = tn_std_refuse(w->c, TN_ARTIFACT_MALFORMED, w->weight->location.at,
                                             "the weights of an adapter cannot be read");
        tn_found(f, "%.*s: %s", TN_FMT_ARG(w->file->path), tn_file_role_name(w->file->role));
        tn_expected(f, "safetensors with the adapter's tensors");
        return;
    }
    bool *used = tn_arena_array(&w->c->arena, v->tensor_count, sizeof(*used));
    if (!used) {
        tn_std_lost_memory(w->c);
        return;
    }
    for (size_t i = 0; i < w->adapter->binding_count; i++) {
        const struct tn_std_adapter_binding *b = &w->adapter->bindings[i];
        struct factor want;
        const struct tn_tensor_info *a = find_half(w, v, b, ".lora_A", used), *bb = find_half(w, v, b, ".lora_B", used);
        bool known = factor_of(w, b, &want);
        if (a) check_type(w, b, a);
        if (bb) check_type(w, b, bb);
        if (a && known) check_shape(w, b, a, want.rank, want.in);
        if (bb && known) check_shape(w, b, bb, want.out, want.rank);
    }
    check_unread(w, v, used);
}

/* ---- adapter_config.json ----------------------------------------------------------------------------------------- */

static struct tn_finding *config_fault(const struct weights *w, struct tn_json v, const char *what)
{
    char pointer[200];
    struct tn_finding *f = tn_std_refuse(w->c, TN_METADATA_INVALID, w->weight->config_location.at, "%s", what);
    struct tn_str text = tn_json_text(v), at = tn_json_pointer(v, pointer, sizeof(pointer));
    tn_found(f, "%.*s of %.*s is %.*s", TN_FMT_ARG(at), TN_FMT_ARG(v.doc->file), text.n > 80 ? 80 : (int)text.n,
             text.s);
    return f;
}

/* Switches of PEFT that compute something else than B A times alpha over rank. */
static void check_switches(const struct weights *w, struct tn_json root)
{
    static const char *const off[] = {"use_dora", "fan_in_fan_out", "lora_bias", "use_qalora"};
    struct tn_str text;
    bool on = false, baked = tn_str_is(w->weight->scale_encoding.name, "baked");
    struct tn_json type = tn_json_get(root, "peft_type"), bias = tn_json_get(root, "bias");
    for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
        struct tn_json v = tn_json_get(root, off[i]);
        if (tn_json_bool(v, &on) && on)
            tn_expected(config_fault(w, v, "the adapter computes more than its two factors"), "false");
    }
    struct tn_json rs = tn_json_get(root, "use_rslora");
    if (!baked && tn_json_bool(rs, &on) && on)
        tn_expected(config_fault(w, rs, "the adapter scales by another rule"),
                    "false with scale_encoding alpha_over_rank");
    if (tn_json_str(type, &text) && !tn_str_is(text, "LORA"))
        tn_expected(config_fault(w, type, "the adapter is of another kind"), "\"LORA\"");
    if (tn_json_str(bias, &text) && !tn_str_is(text, "none"))
        tn_expected(config_fault(w, bias, "the adapter changes biases as well"), "\"none\"");
    struct tn_json saved = tn_json_get(root, "modules_to_save");
    if (tn_json_count(saved))
        tn_expected(config_fault(w, saved, "the adapter replaces whole modules"), "no modules_to_save");
}

/* Rank and alpha of a module: its entry in a pattern (by its last names), else the default. */
static struct tn_json pattern_or(struct tn_json root, const char *pattern, const char *key, struct tn_str module)
{
    struct tn_json patterns = tn_json_get(root, pattern);
    for (struct tn_json v = tn_json_first(patterns); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str name = tn_json_key(v);
        bool end = name.n && name.n <= module.n && memcmp(module.s + module.n - name.n, name.s, name.n) == 0;
        if (end && (name.n == module.n || module.s[module.n - name.n - 1] == '.')) return v;
    }
    return tn_json_get(root, key);
}

static void check_module(const struct weights *w, struct tn_json root, const struct tn_std_adapter_binding *b)
{
    const struct tn_std_count *rank = b->rank.present ? &b->rank : &w->adapter->rank;
    const struct tn_std_real *alpha = b->alpha.present ? &b->alpha : &w->adapter->alpha;
    struct tn_json r = pattern_or(root, "rank_pattern", "r", b->weight_key.name);
    struct tn_json a = pattern_or(root, "alpha_pattern", "lora_alpha", b->weight_key.name);
    uint64_t stored_rank;
    double stored_alpha;
    bool baked = tn_str_is(w->weight->scale_encoding.name, "baked");
    bool stated = tn_json_present(r) && !tn_json_is(r, TN_JSON_NULL);
    bool number = tn_json_u64(r, &stored_rank) && stored_rank > 0;
    if (stated && !number && !rank->present)
        tn_expected(config_fault(w, r, "the adapter's rank is no rank"), "a whole number above 0");
    if (rank->present && stated && (!number || stored_rank != rank->value))
        tn_expected(config_fault(w, r, "the adapter's rank is another one"), "%llu", (unsigned long long)rank->value);
    stated = tn_json_present(a) && !tn_json_is(a, TN_JSON_NULL);
    if (!baked && alpha->present && stated &&
        (!tn_json_f64(a, &stored_alpha) || stored_alpha < alpha->value || stored_alpha > alpha->value))
        tn_expected(config_fault(w, a, "the adapter's alpha is another one"), "%.*s",
                    TN_FMT_ARG(tn_json_text(alpha->at)));
    struct tn_json modules = tn_json_get(root, "target_modules");
    if (!tn_json_is(modules, TN_JSON_ARRAY)) return; /* a pattern: PEFT's own expressions are not interpreted */
    for (struct tn_json v = tn_json_first(modules); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str name, key = b->weight_key.name;
        if (!tn_json_str(v, &name) || name.n == 0 || name.n > key.n) continue;
        bool end = memcmp(key.s + key.n - name.n, name.s, name.n) == 0;
        if (end && (name.n == key.n || key.s[key.n - name.n - 1] == '.')) return;
    }
    tn_expected(config_fault(w, modules, "the adapter does not target a bound module"), "\"%.*s\" or its last name",
                TN_FMT_ARG(b->weight_key.name));
}

static void check_config(const struct weights *w)
{
    struct tn_std_package_check *c = w->c;
    const struct tn_std_ref *ref = &w->weight->config_location;
    const struct tn_package_file *file = ref->name.n ? tn_std_file(c, ref->name, ref->at, false) : NULL;
    struct tn_json_doc doc;
    if (!file) return;
    tn_error_clear(c->problem);
    enum tn_status status = tn_inventory_json(c->inv, file->path, &doc, c->problem);
    if (status == TN_INSUFFICIENT_MEMORY) {
        tn_std_lost_memory(c);
        return;
    }
    if (status) {
        struct tn_finding *f = tn_std_refuse(c, status, ref->at, "the adapter's configuration cannot be read");
        tn_found(f, "%.*s: %s", TN_FMT_ARG(file->path), c->problem->primary.message);
        tn_expected(f, "a JSON object");
        return;
    }
    struct tn_json root = tn_json_root(&doc);
    check_switches(w, root);
    for (size_t i = 0; i < w->adapter->binding_count; i++) check_module(w, root, &w->adapter->bindings[i]);
    tn_json_release(&doc);
}

/* ---- the portable JSON bundle ------------------------------------------------------------------------------------ */

/* A flat list of numbers, row by row. */
static void check_list(const struct weights *w, const struct tn_std_adapter_binding *b, struct tn_json entry,
                       const char *half, uint64_t rows, uint64_t columns)
{
    struct tn_json v = tn_json_get(entry, half);
    uint64_t want;
    double number;
    bool numbers = tn_json_is(v, TN_JSON_ARRAY);
    for (struct tn_json x = numbers ? tn_json_first(v) : (struct tn_json){NULL, 0}; numbers && tn_json_present(x);
         x = tn_json_next(x))
        numbers = tn_json_f64(x, &number);
    if (numbers && tn_mul64(rows, columns, &want) && tn_json_count(v) == want) return;
    struct tn_finding *f = tn_std_refuse(w->c, TN_TENSOR_MISMATCH, b->at, "a factor of an adapter has another size");
    tn_found(f, "%s of %.*s in %.*s: %zu %s", half, TN_FMT_ARG(b->weight_key.name), TN_FMT_ARG(w->file->path),
             tn_json_count(v), numbers ? "numbers" : "values that are not all numbers");
    tn_expected(f, "%llu times %llu numbers", (unsigned long long)rows, (unsigned long long)columns);
}

static void check_entries(const struct weights *w, struct tn_json targets)
{
    for (size_t i = 0; i < w->adapter->binding_count; i++) {
        const struct tn_std_adapter_binding *b = &w->adapter->bindings[i];
        struct tn_json entry = tn_json_get_str(targets, b->weight_key.name);
        struct factor want;
        if (!tn_json_is(entry, TN_JSON_OBJECT)) {
            struct tn_finding *f = tn_std_refuse(w->c, TN_MISSING_TENSOR, b->weight_key.at, "no tensor fits a binding");
            tn_found(f, "no \"%.*s\" below /targets of %.*s", TN_FMT_ARG(b->weight_key.name),
                     TN_FMT_ARG(w->file->path));
            tn_expected(f, "an object with a and b");
        } else if (factor_of(w, b, &want)) {
            check_list(w, b, entry, "a", want.rank, want.in);
            check_list(w, b, entry, "b", want.out, want.rank);
        }
    }
    for (struct tn_json v = tn_json_first(targets); tn_json_present(v); v = tn_json_next(v)) {
        bool bound = false;
        if (!tn_std_spend(w->c, w->adapter->binding_count)) return;
        for (size_t i = 0; i < w->adapter->binding_count; i++)
            bound = bound || tn_str_eq(w->adapter->bindings[i].weight_key.name, tn_json_key(v));
        if (bound) continue;
        struct tn_finding *f = tn_std_refuse(w->c, TN_UNEXPECTED_TENSOR, w->weight->location.at,
                                             "tensors of an adapter that no binding reads");
        tn_found(f, "\"%.*s\" in %.*s", TN_FMT_ARG(tn_json_key(v)), TN_FMT_ARG(w->file->path));
        tn_expected(f, "a binding for each");
    }
}

static void check_bundle(const struct weights *w)
{
    struct tn_std_package_check *c = w->c;
    struct tn_json_doc doc;
    tn_error_clear(c->problem);
    enum tn_status status = tn_inventory_json(c->inv, w->file->path, &doc, c->problem);
    if (status == TN_INSUFFICIENT_MEMORY) {
        tn_std_lost_memory(c);
        return;
    }
    struct tn_json targets = status ? (struct tn_json){NULL, 0} : tn_json_get(tn_json_root(&doc), "targets");
    if (tn_json_is(targets, TN_JSON_OBJECT)) {
        check_entries(w, targets);
    } else {
        struct tn_finding *f = tn_std_refuse(c, TN_ARTIFACT_MALFORMED, w->weight->location.at,
                                             "the weights of an adapter cannot be read");
        tn_found(f, "%.*s: %s", TN_FMT_ARG(w->file->path), status ? c->problem->primary.message : "no object /targets");
        tn_expected(f, "a JSON object with targets");
    }
    if (!status) tn_json_release(&doc);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void check_weight(const struct weights *w)
{
    struct tn_str format = w->weight->format.name;
    if (tn_str_is(format, "hf_peft")) {
        check_peft_tensors(w);
        check_config(w);
    } else if (format.n == 0 || tn_str_is(format, "json")) {
        check_bundle(w);
    }
    /* "safetensors" and "ort_genai" name their tensors by rules of the loader's: only the file is looked for. */
}

void tn_std_check_weights(struct tn_std_package_check *c)
{
    const struct tn_std_adapters *adapters = &c->doc->adapters;
    for (size_t i = 0; i < adapters->artifact_count; i++) {
        const struct tn_std_adapter *adapter = &adapters->artifacts[i];
        for (size_t k = 0; !c->failed && k < adapter->weight_count; k++) {
            struct weights w = {.c = c, .adapter = adapter, .weight = &adapter->weights[k]};
            w.file = tn_std_file(c, w.weight->location.name, w.weight->location.at, false);
            if (w.file) check_weight(&w);
        }
    }
}
