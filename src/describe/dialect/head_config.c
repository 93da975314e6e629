/*
 * The head of a transformers package: which one its class names, its labels, and how its numbers are to be read. Members
 * of config.json as PretrainedConfig understands them (transformers 4.6 to 5.24), and what CrossEncoder of
 * sentence-transformers adds (releases 0.4 to 6.2). Inputs are untrusted.
 *
 * The surprising decision: label2id must say the same as id2label although no reference compares them. Both are shown
 * to people, and where they differ nobody can tell which name belongs to a number.
 */
#include "describe/dialect/modules.h"

#include <stdio.h>
#include <string.h>

#define RULE_HEAD "transformers.head/1"
#define RULE_LABELS "transformers.labels/1"
#define RULE_SCORER "st.cross_encoder/1"

/* More would be a vocabulary; the largest published label sets have some 20,000. */
enum { MOST_LABELS = 1048576, DEFAULT_LABELS = 2 };

struct reader {
    struct tn_builder *b;
    struct tn_json root; /* config.json */
    struct tn_head *head;
};

static struct tn_finding *refuse(const struct reader *r, struct tn_json v, const char *what)
{
    char pointer[256];
    struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_CONFIG, "%.*s in %.*s %s", TN_FMT_ARG(at),
                                      TN_FMT_ARG(v.doc->file), what);
    tn_at_json(f, v);
    return f;
}

/* ---- number of labels --------------------------------------------------------------------------------------------- */

/* num_labels, where it stands; 0 after a finding. */
static uint64_t stated_count(const struct reader *r, struct tn_json v)
{
    uint64_t n = 0;
    if (tn_json_u64(v, &n) && n >= 1 && n <= MOST_LABELS) return n;
    struct tn_finding *f = refuse(r, v, "is no number of labels");
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "1 to %d", MOST_LABELS);
    return 0;
}

static void fact_of_count(const struct reader *r, struct tn_json v, uint64_t n)
{
    char text[32];
    int length = snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
    struct tn_str value = {text, length > 0 ? (size_t)length : 0};
    char buf[256];
    if (!tn_json_present(v)) tn_fact_of_default(r->b, "PretrainedConfig", text, RULE_LABELS, "head.outputs");
    else tn_fact_of_text(r->b, TN_FROM_FILE, v.doc->file, tn_json_pointer(v, buf, sizeof(buf)), value, RULE_LABELS, false,
                         "head.outputs");
}

/* ---- id2label ------------------------------------------------------------------------------------------------------- */

/* An id as JSON must write it, a string of digits; UINT64_MAX: it is none. */
static uint64_t id_of(struct tn_str key)
{
    uint64_t id = 0;
    if (key.n == 0 || key.n > 9 || (key.n > 1 && key.s[0] == '0')) return UINT64_MAX;
    for (size_t i = 0; i < key.n; i++) {
        if (key.s[i] < '0' || key.s[i] > '9') return UINT64_MAX;
        id = id * 10 + (uint64_t)(key.s[i] - '0');
    }
    return id;
}

static void refuse_id(const struct reader *r, struct tn_json entry, const char *what, uint64_t count)
{
    struct tn_finding *f = refuse(r, entry, what);
    tn_found(f, "id \"%.*s\"", TN_FMT_ARG(tn_json_key(entry)));
    tn_expected(f, "each id from 0 to %llu once", (unsigned long long)count - 1);
}

/* The names in the order of their ids, whatever the order in the file. False after a finding. */
static bool read_names(const struct reader *r, struct tn_json map)
{
    struct tn_head *h = r->head;
    size_t before = r->b->d->findings.blockers;
    for (struct tn_json v = tn_json_first(map); tn_json_present(v); v = tn_json_next(v)) {
        uint64_t id = id_of(tn_json_key(v));
        struct tn_str name;
        if (id >= h->outputs) {
            refuse_id(r, v, id == UINT64_MAX ? "is no label id" : "leaves ids without a label", h->outputs);
        } else if (!tn_json_str(v, &name)) {
            tn_expected(refuse(r, v, "is no label"), "a string");
        } else {
            h->labels[id] = tn_builder_str(r->b, name);
        }
    }
    return r->b->failed == TN_OK && r->b->d->findings.blockers == before;
}

enum { COMPARED_LABELS = 4096 };

/* Two outputs of one name are told apart by nothing but their ids: likely a slip, and legal in the reference. */
static void warn_twice(const struct reader *r, struct tn_json map)
{
    const struct tn_head *h = r->head;
    for (uint64_t i = 1; i < h->outputs && i < COMPARED_LABELS; i++) {
        uint64_t k = 0;
        while (k < i && !tn_str_eq(h->labels[k], h->labels[i])) k++;
        if (k == i) continue;
        struct tn_finding *f = tn_warning(r->b, TN_UNSUPPORTED_CONFIG, "id2label gives one name to several ids");
        tn_at_json(f, map);
        tn_found(f, "\"%.*s\" for %llu and %llu", TN_FMT_ARG(h->labels[i]), (unsigned long long)k, (unsigned long long)i);
        tn_expected(f, "a name of its own for each id");
        return;
    }
}

/* LABEL_0, LABEL_1 ...: what the class makes up. */
static void make_names(const struct reader *r)
{
    for (uint64_t i = 0; r->b->failed == TN_OK && i < r->head->outputs; i++) {
        char text[32];
        int n = snprintf(text, sizeof(text), "LABEL_%llu", (unsigned long long)i);
        r->head->labels[i] = tn_builder_str(r->b, (struct tn_str){text, (size_t)n});
    }
}

/* ---- label2id ------------------------------------------------------------------------------------------------------- */

static bool id_value(struct tn_json v, uint64_t *id)
{
    struct tn_str text;
    if (tn_json_u64(v, id)) return true;
    if (!tn_json_str(v, &text)) return false;
    *id = id_of(text);
    return *id != UINT64_MAX;
}

/* One name may stand for several ids; then label2id can only say one of them. */
static bool is_name_of(const struct tn_head *h, struct tn_str name, uint64_t id)
{
    return id < h->outputs && tn_str_eq(h->labels[id], name);
}

static void check_names(const struct reader *r, struct tn_json back)
{
    const struct tn_head *h = r->head;
    if (tn_json_type(back) == TN_JSON_NULL) return;
    if (!tn_json_is(back, TN_JSON_OBJECT)) {
        tn_expected(refuse(r, back, "has the wrong type"), "an object of ids by label");
        return;
    }
    for (struct tn_json v = tn_json_first(back); tn_json_present(v); v = tn_json_next(v)) {
        uint64_t id = UINT64_MAX;
        if (id_value(v, &id) && is_name_of(h, tn_json_key(v), id)) continue;
        struct tn_finding *f = refuse(r, v, "contradicts id2label");
        tn_found(f, "\"%.*s\": %.*s", TN_FMT_ARG(tn_json_key(v)), TN_FMT_ARG(tn_json_text(v)));
        if (id < h->outputs) tn_expected(f, "\"%.*s\" for id %llu", TN_FMT_ARG(h->labels[id]), (unsigned long long)id);
        else tn_expected(f, "a label of id2label with its id");
        return;
    }
    for (uint64_t i = 0; i < h->outputs; i++) {
        if (tn_json_present(tn_json_get_str(back, h->labels[i]))) continue;
        struct tn_finding *f = refuse(r, back, "lacks a label of id2label");
        tn_found(f, "%zu labels", tn_json_count(back));
        tn_expected(f, "\"%.*s\": %llu", TN_FMT_ARG(h->labels[i]), (unsigned long long)i);
        return;
    }
}

/* ---- labels and problem --------------------------------------------------------------------------------------------- */

/* The rule of PretrainedConfig: id2label gives the number; without it num_labels does, and without both there are two. */
static bool count_labels(const struct reader *r, struct tn_json map, struct tn_json number)
{
    uint64_t stated = tn_json_type(number) == TN_JSON_NULL ? 0 : stated_count(r, number);
    bool have_map = tn_json_type(map) != TN_JSON_NULL, have_number = tn_json_type(number) != TN_JSON_NULL;
    if (have_number && stated == 0) return false;
    if (have_map && (!tn_json_is(map, TN_JSON_OBJECT) || tn_json_count(map) == 0 || tn_json_count(map) > MOST_LABELS)) {
        tn_expected(refuse(r, map, "states no labels"), "an object of labels by id");
        return false;
    }
    r->head->outputs = have_map ? tn_json_count(map) : have_number ? stated : DEFAULT_LABELS;
    fact_of_count(r, have_map ? map : have_number ? number : (struct tn_json){NULL, 0}, r->head->outputs);
    if (!have_map || !have_number || stated == r->head->outputs) return true;
    struct tn_finding *f = refuse(r, number, "contradicts id2label");
    tn_found(f, "%llu", (unsigned long long)stated);
    tn_expected(f, "%llu, as many as there are labels", (unsigned long long)r->head->outputs);
    return false;
}

/* A head whose kind fixes its outputs is made with as many as the configuration counts labels: the class reads no more. */
static void check_outputs(const struct reader *r)
{
    struct tn_json map = tn_json_get(r->root, "id2label"), number = tn_json_get(r->root, "num_labels");
    uint64_t fixed = r->head->outputs;
    if (fixed == 0 || !count_labels(r, map, number) || r->head->outputs == fixed) return;
    struct tn_finding *f = refuse(r, tn_json_type(map) == TN_JSON_NULL ? number : map, "does not go with the head");
    tn_found(f, "%llu labels", (unsigned long long)r->head->outputs);
    tn_expected(f, "%llu: %s has as many outputs per token", (unsigned long long)fixed, tn_head_kind_what(r->head->kind));
    r->head->outputs = fixed;
}

static void read_labels(const struct reader *r)
{
    struct tn_json map = tn_json_get(r->root, "id2label"), back = tn_json_get(r->root, "label2id");
    struct tn_head *h = r->head;
    if (!count_labels(r, map, tn_json_get(r->root, "num_labels"))) return;
    h->labels = tn_builder_array(r->b, (size_t)h->outputs, sizeof(*h->labels));
    if (!h->labels) return;
    if (tn_json_type(map) == TN_JSON_NULL) {
        make_names(r);
        return;
    }
    if (!read_names(r, map)) return;
    h->labels_stated = !tn_head_labels_are_made_up(h);
    tn_fact_of_json(r->b, map, RULE_LABELS, false, "head.labels");
    warn_twice(r, map);
    check_names(r, back);
}

static void read_problem(const struct reader *r)
{
    struct tn_json v = tn_json_get(r->root, "problem_type");
    struct tn_str text;
    if (tn_json_type(v) == TN_JSON_NULL) return;
    for (unsigned p = TN_PROBLEM_REGRESSION; p < TN_PROBLEMS; p++) {
        if (tn_json_str(v, &text) && tn_str_is(text, tn_problem_name((enum tn_problem)p)))
            r->head->problem = (enum tn_problem)p;
    }
    if (r->head->problem == TN_PROBLEM_UNSTATED) {
        struct tn_finding *f = refuse(r, v, "is no kind of problem");
        tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
        tn_expected(f, "regression, single_label_classification or multi_label_classification");
        return;
    }
    tn_fact_of_json(r->b, v, RULE_LABELS, false, "head.problem");
    if (tn_head_problem_fits(r->head)) return;
    struct tn_finding *f = refuse(r, v, "asks for one of several labels and there is only one");
    tn_found(f, "1 label");
    tn_expected(f, "at least 2 labels, or regression");
}

/* ---- what a scorer of pairs adds ------------------------------------------------------------------------------------ */

void tn_describe_scorer(struct tn_builder *b, struct tn_head *head, struct tn_json activation)
{
    struct tn_str path;
    head->cross_encoder = true;
    if (tn_json_type(activation) == TN_JSON_NULL) return;
    const char *name = tn_json_str(activation, &path) ? tn_torch_activation(path) : NULL;
    if (name) {
        head->activation = tn_str_of(name);
        tn_fact_of_json(b, activation, RULE_SCORER, false, "head.activation");
        return;
    }
    struct reader r = {.b = b};
    struct tn_finding *f = refuse(&r, activation, "names an activation of the scores that this build does not have");
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(activation)));
    tn_expected(f, "torch.nn.modules.activation.Sigmoid, torch.nn.modules.linear.Identity or another class of torch.nn");
}

/* Nobody reads the other members of the object: a misspelt activation would silently be the default one. */
static bool check_own(const struct reader *r, struct tn_json own)
{
    static const char *const known[] = {"activation_fn", "version"};
    if (tn_json_type(own) == TN_JSON_NULL) return true;
    if (!tn_json_is(own, TN_JSON_OBJECT)) {
        struct tn_finding *f = refuse(r, own, "has the wrong type");
        tn_found(f, "%s", tn_json_type_name(tn_json_type(own)));
        tn_expected(f, "an object");
        return false;
    }
    for (struct tn_json v = tn_json_first(own); tn_json_present(v); v = tn_json_next(v)) {
        bool good = tn_str_is(tn_json_key(v), known[0]) || tn_str_is(tn_json_key(v), known[1]);
        if (good) continue;
        struct tn_finding *f = refuse(r, v, "is no member that this build knows");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(tn_json_key(v)));
        tn_expected(f, "activation_fn, version");
        return false;
    }
    return true;
}

/* Before release 6 the scorer kept its activation in config.json; since 4.0 in an object of its own. */
static void read_scorer(const struct reader *r)
{
    struct tn_json own = tn_json_get(r->root, "sentence_transformers"), older;
    older = tn_json_get(r->root, "sbert_ce_default_activation_function");
    if (!check_own(r, own)) return;
    if (tn_json_is(own, TN_JSON_OBJECT)) {
        tn_fact_of_json(r->b, own, RULE_SCORER, false, "head.cross_encoder");
        tn_describe_scorer(r->b, r->head, tn_json_get(own, "activation_fn"));
        if (r->head->activation.n) return;
    }
    if (tn_json_type(older) != TN_JSON_NULL) tn_describe_scorer(r->b, r->head, older);
}

/* ---- the head ------------------------------------------------------------------------------------------------------- */

struct tn_head *tn_describe_head(struct tn_builder *b, struct tn_json root, const struct tn_component *c)
{
    enum tn_head_kind kind;
    if (b->failed != TN_OK || !tn_head_of_class(c->architecture, &kind)) return NULL;
    struct tn_head *head = tn_builder_array(b, 1, sizeof(*head));
    if (!head) return NULL;
    *head = (struct tn_head){.kind = kind, .outputs = tn_head_kind_outputs(kind), .activation = TN_STR("")};
    struct tn_json class = tn_json_first(tn_json_get(root, "architectures"));
    char pointer[256];
    struct tn_str name = tn_json_quoted(b, tn_str_of(tn_head_kind_name(kind)));
    if (tn_json_present(class))
        tn_fact_of_text(b, TN_FROM_FILE, root.doc->file, tn_json_pointer(class, pointer, sizeof(pointer)), name, RULE_HEAD,
                        false, "head.kind");
    struct reader r = {b, root, head};
    if (tn_head_kind_is_labelled(kind)) {
        read_labels(&r);
        if (kind == TN_HEAD_SEQUENCE_CLASSIFICATION) read_problem(&r);
    } else {
        check_outputs(&r);
    }
    if (kind == TN_HEAD_SEQUENCE_CLASSIFICATION) read_scorer(&r);
    b->d->head = head;
    return head;
}
