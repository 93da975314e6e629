/* What is missing for a task, said once and with all evidence; see the header. Pure. */
#include "task/needs.h"

#include "describe/package_document.h"
#include "family/family.h"

#include <stdio.h>
#include <string.h>

/* ---- common needs --------------------------------------------------------------------------------------------------- */

bool tn_need_encoder(const struct tn_description *d, struct tn_findings *findings, struct tn_task_route *out)
{
    bool explained = findings->blockers > 0 || d->findings.blockers > 0;
    *out = (struct tn_task_route){.max_tokens = d->max_seq_length};
    if (d->component_count > 0) {
        out->component = &d->components[0];
    } else if (!explained && d->texts.blockers) {
        tn_findings_append(findings, &d->texts);
        return true;
    } else if (!explained) {
        tn_findings_add(findings, TN_BLOCKER, TN_UNSUPPORTED_TASK, TN_PHASE_ASSESS,
                        "the package holds no encoder that this build knows");
    }
    return explained;
}

bool tn_types_fit(const struct tn_description *d, bool pair)
{
    uint64_t rows = tn_token_types(d);
    return !d->tokenizer.type_ids || rows == 0 || d->tokenizer.types[pair] <= rows;
}

/* The reference ends with an index that is out of range. */
static void need_types(const struct tn_description *d, bool pair, struct tn_findings *findings)
{
    const struct tn_tokenizer_facts *t = &d->tokenizer;
    if (tn_types_fit(d, pair)) return;
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, TN_PHASE_ASSESS,
                                           "the tokenizer gives %s token types that the network has no row for", pair ? "pairs of texts" : "texts");
    char name[64];
    snprintf(name, sizeof(name), "%.*s.type_vocab_size", TN_FMT_ARG(d->components[0].name));
    const struct tn_fact *fact = tn_fact_named(d, name);
    if (fact && fact->origin == TN_FROM_FILE) tn_at_pointer(f, fact->file, fact->pointer);
    tn_found(f, "type ids up to %llu by %.*s", (unsigned long long)t->types[pair] - 1,
             TN_FMT_ARG(t->tokenizer_json.n ? t->tokenizer_json : t->vocab_txt));
    uint64_t stated = tn_component_value(&d->components[0], "type_vocab_size")->u;
    if (tn_token_types(d) < stated) {
        tn_at_file(f, d->graph->file->path);
        tn_expected(f, "a graph with an input token_type_ids: type_vocab_size is %llu", (unsigned long long)stated);
        tn_remedy(f, "export the graph with token_type_ids among its inputs");
        return;
    }
    tn_expected(f, "type ids below type_vocab_size %llu", (unsigned long long)stated);
    tn_remedy(f, "tokenizer and weights belong to different models; or leave token_type_ids out of model_input_names");
}

void tn_need_pair_types(const struct tn_description *d, struct tn_findings *findings)
{
    need_types(d, true, findings);
}

void tn_need_tokenizer(const struct tn_description *d, struct tn_findings *findings)
{
    need_types(d, false, findings);
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

/* ---- a head --------------------------------------------------------------------------------------------------------------- */

const char *const tn_head_facts[] = {"encoder.architecture", "head.", NULL};

void tn_at_class(struct tn_finding *f, const struct tn_description *d)
{
    const struct tn_fact *fact = tn_fact_named(d, "encoder.architecture");
    if (fact && fact->origin == TN_FROM_FILE) tn_at_pointer(f, fact->file, fact->pointer);
}

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

/* What the weights were saved as, by the class alone: a module list may leave the head out that the class names. */
static void name_saved(const struct tn_description *d, char *out, size_t cap)
{
    enum tn_head_kind kind;
    if (d->head) {
        snprintf(out, cap, "it was saved as %s", tn_head_kind_what(d->head->kind));
    } else if (tn_head_of_class(d->components[0].architecture, &kind)) {
        snprintf(out, cap, "it was saved with %s, which %.*s leaves out", tn_head_kind_what(kind),
                 TN_FMT_ARG(d->chain_document.n ? d->chain_document : TN_STR("its description")));
    } else {
        snprintf(out, cap, tn_class_is_stated(d) ? "its class is that of an encoder without a head"
                                                 : "it names no class, which means an encoder without a head");
    }
}

/* The wanted head is there and nothing runs it. */
static bool is_left_out(const struct tn_description *d, const enum tn_head_kind *kinds, size_t count)
{
    enum tn_head_kind kind;
    return !d->head && tn_head_of_class(d->components[0].architecture, &kind) && among(kinds, count, kind);
}

static void refuse_head(const struct tn_description *d, const enum tn_head_kind *kinds, size_t count, const char *what,
                        struct tn_findings *findings)
{
    char evidence[TN_HEAD_EVIDENCE_BYTES], expected[160], saved[160];
    bool left_out = is_left_out(d, kinds, count);
    tn_head_evidence(d, evidence, sizeof(evidence));
    list_kinds(kinds, count, expected, sizeof(expected));
    name_saved(d, saved, sizeof(saved));
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_TASK_HEAD_MISMATCH, TN_PHASE_ASSESS,
                                           left_out ? "the package runs no head for %s: %s" : "the package has no head for %s: %s", what, saved);
    tn_at_class(f, d);
    tn_found(f, "%s", evidence);
    if (left_out) {
        tn_expected(f, "no module list, or one whose Transformer runs the head (transformer_task)");
        tn_remedy(f, "use the weights without the module list, or a package that was trained for the task");
        return;
    }
    tn_expected(f, "a head of kind %s, by the class that the weights were saved with", expected);
    tn_remedy(f, tn_class_is_stated(d) ? "use a package that was trained for the task; `tenon check` lists the tasks that this one serves"
                                       : "name the class that the weights were saved from: architectures in config.json");
}

void tn_need_head(const struct tn_description *d, const enum tn_head_kind *kinds, size_t count, const char *what,
                  struct tn_findings *findings, struct tn_task_route *out)
{
    bool explained = tn_need_encoder(d, findings, out);
    if (!out->component) return;
    out->first_module = out->module_end = d->module_count;
    if (d->head && among(kinds, count, d->head->kind)) out->head = d->head;
    else if (out->component->architecture.n || !explained) refuse_head(d, kinds, count, what, findings);
    tn_need_tokenizer(d, findings);
    tn_need_length(d, findings);
}
