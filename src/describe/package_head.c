/*
 * The head of tenon_package.json. The document is untrusted; its closed shape was checked before. What is checked here is
 * that its members say one thing: with the class that wrote the weights, with the modules, and among themselves. How many
 * outputs there really are is the binding's business, which sees the tensors.
 */
#include "describe/package_parts.h"

/* The class that wrote the weights says which head they have; the document says it in two places. */
static void check_class(struct tn_builder *b, struct tn_json object, const struct tn_head *head)
{
    enum tn_head_kind kind;
    struct tn_json component = tn_json_find(tn_json_root(object.doc), "/components/0");
    if (b->d->component_count == 0 || tn_doc_hides(b->marks, component, "architecture")) return;
    struct tn_str class = b->d->components[0].architecture;
    if (tn_head_of_class(class, &kind) && kind == head->kind) return;
    tn_expected(tn_package_refuse(b, tn_json_get(object, "kind"), TN_METADATA_INVALID,
                                  "is not the head of the component's class"),
                "the head of %.*s", TN_FMT_ARG(class));
}

/* Behind a head stands nothing: a module would work on its numbers. One kind does, on those over the vocabulary. */
static void check_modules(struct tn_builder *b, struct tn_json object, const struct tn_head *head)
{
    for (uint32_t i = 0; i < b->d->module_count; i++) {
        enum tn_module_kind kind = b->d->modules[i].kind;
        if (kind == TN_MODULE_TRANSFORMER || (kind == TN_MODULE_SPLADE && tn_head_kind_is_vocabulary(head->kind))) continue;
        struct tn_finding *f = tn_package_refuse(b, object, TN_METADATA_INVALID,
                                                 "stands beside modules that follow the encoder");
        tn_expected(f, "null, or /modules with the encoder alone");
        return;
    }
}

enum { COMPARED_LABELS = 4096 };

/* Two outputs of one name are told apart by nothing but their ids: likely a slip, and legal. */
static void warn_twice(struct tn_builder *b, struct tn_json list, const struct tn_head *head)
{
    for (uint64_t i = 1; head->labels && i < head->outputs && i < COMPARED_LABELS; i++) {
        uint64_t k = 0;
        while (k < i && !tn_str_eq(head->labels[k], head->labels[i])) k++;
        if (k == i) continue;
        struct tn_finding *f = tn_warning(b, TN_METADATA_INVALID, "/head/labels gives one name to several outputs");
        tn_at_json(f, tn_json_at(list, (size_t)i));
        tn_found(f, "\"%.*s\" for %llu and %llu", TN_FMT_ARG(head->labels[i]), (unsigned long long)k, (unsigned long long)i);
        tn_expected(f, "a name of its own for each output");
        return;
    }
}

static void read_labels(struct tn_builder *b, struct tn_json list, struct tn_head *head)
{
    size_t count = tn_json_count(list);
    bool labelled = tn_head_kind_is_labelled(head->kind);
    if (tn_doc_is_touched(b->marks, list)) return;
    if (labelled != (count > 0)) {
        tn_expected(tn_package_refuse(b, list, TN_METADATA_INVALID, "does not go with the kind of the head"),
                    labelled ? "a label for each output" : "null: outputs of this kind have no labels");
        return;
    }
    if (!labelled) return;
    head->labels = tn_builder_array(b, count, sizeof(*head->labels));
    for (struct tn_json v = tn_json_first(list); head->labels && tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str name = TN_STR("");
        (void)tn_json_str(v, &name);
        head->labels[head->outputs++] = tn_builder_str(b, name);
    }
    if (b->failed == TN_OK) warn_twice(b, list, head);
}

/* Names are the package's own, or those that the class makes up; a single output is compared otherwise. */
static void check_origin(struct tn_builder *b, struct tn_json object, const struct tn_head *head)
{
    if (tn_doc_hides(b->marks, object, "labels")) return;
    bool stated = head->labels && b->failed == TN_OK && !tn_head_labels_are_made_up(head);
    if (head->labels_stated == stated || b->failed != TN_OK) return;
    struct tn_finding *f = tn_package_refuse(b, tn_json_get(object, "labels_stated"), TN_METADATA_INVALID,
                                             "contradicts the labels");
    tn_expected(f, stated ? "true: the names are not LABEL_0, LABEL_1 and so on"
                          : "false: there are no names but those that the class makes up");
}

static void check_problem(struct tn_builder *b, struct tn_json v, const struct tn_head *head)
{
    if (head->problem == TN_PROBLEM_UNSTATED) return;
    if (head->kind != TN_HEAD_SEQUENCE_CLASSIFICATION) {
        tn_expected(tn_package_refuse(b, v, TN_METADATA_INVALID, "does not go with the kind of the head"),
                    "\"\": the numbers of this kind are read in one way");
    } else if (head->labels && !tn_head_problem_fits(head)) {
        tn_expected(tn_package_refuse(b, v, TN_METADATA_INVALID, "asks for one of several labels and there is only one"),
                    "at least 2 labels, or regression");
    }
}

/* Only a scorer of pairs puts a function on its numbers, and only a classifier of whole texts is one. */
static void check_scorer(struct tn_builder *b, struct tn_json object, const struct tn_head *head)
{
    if (head->cross_encoder && head->kind != TN_HEAD_SEQUENCE_CLASSIFICATION)
        tn_expected(tn_package_refuse(b, tn_json_get(object, "cross_encoder"), TN_METADATA_INVALID,
                                      "does not go with the kind of the head"), "false");
    if (head->activation.n > 0 && !head->cross_encoder && !tn_doc_hides(b->marks, object, "cross_encoder"))
        tn_expected(tn_package_refuse(b, tn_json_get(object, "activation"), TN_METADATA_INVALID,
                                      "belongs to a scorer of pairs, and cross_encoder is false"), "null");
}

static void keep_facts(struct tn_builder *b, struct tn_json object, const struct tn_head *head)
{
    const struct {
        const char *key, *name;
        bool stated;
    } rows[] = {
        {"kind", "head.kind", true},
        {"labels", "head.labels", head->labels != NULL},
        {"no_answer", "head.no_answer", head->no_answer},
        {"problem", "head.problem", head->problem != TN_PROBLEM_UNSTATED},
        {"cross_encoder", "head.cross_encoder", head->cross_encoder},
        {"activation", "head.activation", head->activation.n > 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tn_json v = tn_json_get(object, rows[i].key);
        if (rows[i].stated && tn_json_present(v)) tn_fact_of_json(b, v, TN_PACKAGE_RULE, false, "%s", rows[i].name);
    }
}

void tn_package_read_head(struct tn_builder *b, struct tn_json object)
{
    struct tn_head *head = tn_builder_array(b, 1, sizeof(*head));
    if (!head || !tn_head_kind_of(tn_package_text(b, object, "kind"), &head->kind)) return;
    struct tn_str problem = tn_package_text(b, object, "problem");
    for (unsigned p = 0; p < TN_PROBLEMS; p++)
        if (tn_str_is(problem, tn_problem_name((enum tn_problem)p))) head->problem = (enum tn_problem)p;
    head->outputs = tn_head_kind_outputs(head->kind);
    head->labels_stated = tn_package_flag(object, "labels_stated");
    head->cross_encoder = tn_package_flag(object, "cross_encoder");
    head->activation = tn_package_text(b, object, "activation");
    head->no_answer = tn_package_flag(object, "no_answer");
    read_labels(b, tn_json_get(object, "labels"), head);
    if (head->no_answer && head->kind != TN_HEAD_QUESTION_ANSWERING)
        tn_expected(tn_package_refuse(b, tn_json_get(object, "no_answer"), TN_METADATA_INVALID,
                                      "does not go with the kind of the head"),
                    "false");
    check_class(b, object, head);
    check_modules(b, object, head);
    check_origin(b, object, head);
    check_problem(b, tn_json_get(object, "problem"), head);
    check_scorer(b, object, head);
    keep_facts(b, object, head);
    b->d->head = head;
}

/* Behind an encoder alone its head is what comes out, and a class with a head promises one. */
void tn_package_read_headless(struct tn_builder *b, struct tn_json root)
{
    const struct tn_description *d = b->d;
    enum tn_head_kind kind;
    struct tn_json head = tn_json_get(root, "head");
    if (d->component_count == 0 || d->module_count > 0 || d->multi || tn_json_type(head) != TN_JSON_NULL) return;
    if (!tn_json_present(head) || tn_doc_hides(b->marks, root, "head") || tn_doc_hides(b->marks, root, "modules")) return;
    if (!tn_json_is(tn_json_get(root, "modules"), TN_JSON_ARRAY) || tn_json_count(tn_json_get(root, "modules")) > 0) return;
    if (!tn_head_of_class(d->components[0].architecture, &kind)) return;
    struct tn_finding *f = tn_package_refuse(b, head, TN_METADATA_INVALID, "leaves out the head that the component's class promises");
    tn_expected(f, "a head of kind %s, by %.*s", tn_head_kind_name(kind), TN_FMT_ARG(d->components[0].architecture));
    tn_remedy(f, "correct the class of the component, or state the head");
}
