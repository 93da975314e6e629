/* What is missing for a task, said once and with all evidence; see the header. Pure. */
#include "task/needs.h"

#include "describe/package_document.h"
#include "family/family.h"

#include <stdio.h>
#include <string.h>

/* ---- common needs --------------------------------------------------------------------------------------------------- */

void tn_need_tokenizer(const struct tn_description *d, struct tn_findings *findings)
{
    if (d->tokenizer.present) return;
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_UNSUPPORTED_TASK, TN_PHASE_ASSESS,
                                           "the package holds no tokenizer: texts cannot become token ids");
    tn_expected(f, "tokenizer.json, or vocab.txt with tokenizer_config.json");
    tn_remedy(f, "add the tokenizer files that belong to the weights");
}

void tn_need_length(const struct tn_description *d, struct tn_findings *findings)
{
    if (d->max_seq_length > 0) return;
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_UNSUPPORTED_TASK, TN_PHASE_ASSESS,
                                           "nothing in the package states how long an input may be");
    if (tn_str_ends(d->chain_document, TN_PACKAGE_FILE)) {
        tn_at_pointer(f, d->chain_document, TN_STR("/max_seq_length"));
        tn_found(f, "0");
        tn_expected(f, "a number of tokens, with the special ones");
        tn_remedy(f, "state max_seq_length in %.*s", TN_FMT_ARG(d->chain_document));
        return;
    }
    bool modules = d->chain_document.n > 0;
    tn_expected(f, "%smodel_max_length in tokenizer_config.json or the model's number of positions",
                modules ? "max_seq_length in sentence_bert_config.json, " : "");
    tn_remedy(f, modules ? "state max_seq_length in sentence_bert_config.json"
                         : "state model_max_length in tokenizer_config.json");
}

/* ---- evidence --------------------------------------------------------------------------------------------------------- */

struct line {
    char *out;
    size_t n, cap;
};

static void add(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct line *l, const char *format, ...)
{
    va_list args;
    if (l->n + 3 >= l->cap) return;
    if (l->n > 0) l->n += (size_t)snprintf(l->out + l->n, l->cap - l->n, "; ");
    va_start(args, format);
    int n = vsnprintf(l->out + l->n, l->cap - l->n, format, args);
    va_end(args);
    if (n < 0) n = 0;
    l->n += (size_t)n < l->cap - l->n ? (size_t)n : l->cap - l->n - 1;
}

static const struct tn_fact *fact_of(const struct tn_description *d, const char *name)
{
    for (uint32_t i = 0; i < d->fact_count; i++)
        if (tn_str_is(d->facts[i].name, name)) return &d->facts[i];
    return NULL;
}

static void add_place(struct line *l, const struct tn_fact *f)
{
    if (!f || f->origin != TN_FROM_FILE || l->n + 4 >= l->cap) return;
    int n = snprintf(l->out + l->n, l->cap - l->n, " (%.*s %.*s)", TN_FMT_ARG(f->file), TN_FMT_ARG(f->pointer));
    if (n > 0) l->n += (size_t)n < l->cap - l->n ? (size_t)n : l->cap - l->n - 1;
}

static void add_labels(struct line *l, const struct tn_description *d)
{
    const struct tn_head *h = d->head;
    if (!h || !h->labels) return;
    add(l, "%llu label%s", (unsigned long long)h->outputs, h->outputs == 1 ? "" : "s");
    add_place(l, fact_of(d, "head.outputs") ? fact_of(d, "head.outputs") : fact_of(d, "head.labels"));
}

static void add_scorer(struct line *l, const struct tn_description *d)
{
    if (!d->head || !d->head->cross_encoder) return;
    add(l, "saved as a CrossEncoder");
    add_place(l, fact_of(d, "head.cross_encoder"));
}

static void add_chain(struct line *l, const struct tn_description *d)
{
    if (d->module_count == 0) {
        add(l, "no module list");
        return;
    }
    add(l, "%.*s lists %s", TN_FMT_ARG(d->chain_document), tn_module_kind_name(d->modules[0].kind));
    for (uint32_t i = 1; i < d->module_count && l->n + 1 < l->cap; i++) {
        int n = snprintf(l->out + l->n, l->cap - l->n, ", %s", tn_module_kind_name(d->modules[i].kind));
        if (n > 0) l->n += (size_t)n < l->cap - l->n ? (size_t)n : l->cap - l->n - 1;
    }
}

/* Tensors under names that the family's heads have: what the weights themselves say. */
static void add_tensors(struct line *l, const struct tn_description *d, const struct tn_component *c)
{
    const struct tn_family *family = tn_family_of(c);
    const struct tn_variant *v = c->variant ? c->variant : d->variant;
    const char *told = NULL;
    bool any = false;
    for (size_t k = 0; family && v && k < family->head_count; k++) {
        const struct tn_family_head *h = &family->heads[k];
        for (size_t r = 0; r < h->tensor_count; r++) {
            const char *name = h->tensors[r].name;
            if (!(h->tensors[r].flags & TN_TENSOR_BARE) || strchr(name, '%')) continue;
            if (!tn_variant_tensor(d->inv, v, tn_str_of(name))) continue;
            if (!told || strcmp(told, name) != 0) add(l, "tensor %s", name);
            any = true;
            told = name;
            break; /* one of each head says it */
        }
    }
    if (family && v && family->head_count && !any) add(l, "no tensor of a head");
}

void tn_head_evidence(const struct tn_description *d, char *out, size_t cap)
{
    struct line l = {out, 0, cap};
    out[0] = 0;
    if (d->component_count == 0) return;
    const struct tn_component *c = &d->components[0];
    add(&l, "class %.*s", TN_FMT_ARG(c->architecture));
    add_place(&l, fact_of(d, "encoder.architecture"));
    add_labels(&l, d);
    add_scorer(&l, d);
    add_chain(&l, d);
    add_tensors(&l, d, c);
}

void tn_at_class(struct tn_finding *f, const struct tn_description *d)
{
    const struct tn_fact *fact = fact_of(d, "encoder.architecture");
    if (fact && fact->origin == TN_FROM_FILE) tn_at_pointer(f, fact->file, fact->pointer);
}

/* ---- a head --------------------------------------------------------------------------------------------------------------- */

static bool among(const enum tn_head_kind *kinds, size_t count, enum tn_head_kind kind)
{
    for (size_t i = 0; i < count; i++)
        if (kinds[i] == kind) return true;
    return false;
}

static void list_kinds(const enum tn_head_kind *kinds, size_t count, char *out, size_t cap)
{
    size_t n = 0;
    out[0] = 0;
    for (size_t i = 0; i < count && n < cap; i++) {
        int added = snprintf(out + n, cap - n, "%s%s", i ? " or " : "", tn_head_kind_name(kinds[i]));
        n += added > 0 ? (size_t)added : 0;
    }
}

static void refuse_head(const struct tn_description *d, const enum tn_head_kind *kinds, size_t count, const char *what,
                        struct tn_findings *findings)
{
    char evidence[256], expected[160];
    const struct tn_head *h = d->head;
    tn_head_evidence(d, evidence, sizeof(evidence));
    list_kinds(kinds, count, expected, sizeof(expected));
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_TASK_HEAD_MISMATCH, TN_PHASE_ASSESS,
                                           "the package has no head for %s: it was saved as %s", what,
                                           h ? tn_head_kind_what(h->kind) : "an encoder without a head");
    tn_at_class(f, d);
    tn_found(f, "%s", evidence);
    tn_expected(f, "a head of kind %s, by the class that the weights were saved with", expected);
    tn_remedy(f, "use a package that was trained for the task; `tenon check` lists the tasks that this one serves");
}

void tn_need_head(const struct tn_description *d, const enum tn_head_kind *kinds, size_t count, const char *what,
                  struct tn_findings *findings, struct tn_task_route *out)
{
    /* Earlier stages have said why something is not there: a consequence is not another fault. */
    bool explained = findings->blockers > 0 || d->findings.blockers > 0;
    *out = (struct tn_task_route){.max_tokens = d->max_seq_length};
    if (d->component_count == 0) {
        if (!explained) tn_findings_add(findings, TN_BLOCKER, TN_UNSUPPORTED_TASK, TN_PHASE_ASSESS,
                                        "the package holds no encoder that this build knows");
        return;
    }
    out->component = &d->components[0];
    out->first_module = out->module_end = d->module_count;
    if (d->head && among(kinds, count, d->head->kind)) out->head = d->head;
    else refuse_head(d, kinds, count, what, findings);
    tn_need_tokenizer(d, findings);
    tn_need_length(d, findings);
}
