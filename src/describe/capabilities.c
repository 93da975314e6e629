/*
 * The table of capabilities, and requirements held against it. The identifiers below the first four are the built-in
 * vocabulary of the inference-metadata proposal, in its order; a row without a version is one that this build refuses,
 * with words for what it would have to do.
 */
#include "describe/capabilities.h"

#include "base/json_write.h"
#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

#define OFFERED(id, version, category, promise) {(id), (version), TN_CAPABILITY_##category, (promise)},
#define KNOWN(id, category, what) {(id), 0, TN_CAPABILITY_##category, (what)},

static const struct tn_capability table[] = {
    OFFERED("tenon.native_family", 1, PACKAGE,
            "a component is given as an architecture with its configuration, and runs by the family of that name")
    OFFERED("tenon.tokenizer", 1, PACKAGE,
            "texts become token ids by the package's own tokenizer, stage by stage, or the tokenizer is refused by name")
    OFFERED("tenon.module_chain", 1, PACKAGE,
            "pooling, dense, layer norm and normalisation behind a component run in the order of the package's list")
    OFFERED("tenon.prompts", 1, PACKAGE,
            "named prompts are put in front of texts, and left out of pooling where the package says so")
    KNOWN("kv_cache", STATE, "keeping keys and values of earlier positions for the package, with its cache's layout")
    KNOWN("grouped_query_attention", IMPLEMENTATION, "attention in which several query heads share one key and value head")
    OFFERED("multi_head_attention", 1, IMPLEMENTATION,
            "attention in which each query head has its own key and value head is computed as the component defines it; a "
            "mask or cache that no kernel has is refused when the component is assessed")
    KNOWN("prefix_cache", STATE, "reusing the state of a common beginning when everything that it depends on is equal")
    KNOWN("continuous_batching", STATE,
          "letting requests enter and leave a running batch, with all of their rows moved alike")
    KNOWN("control_flow_loop", SYNTAX, "running the generation loop that an older kind of package leaves to its reader")
    KNOWN("image_preprocessing_program", MEDIA, "running the package's list of image transforms exactly")
    KNOWN("packed_image_outputs", MEDIA, "image transforms that yield several packed tensors with their offsets")
    KNOWN("position_program", MEDIA, "making position ids by the package's program")
    KNOWN("multi_axis_positions", MEDIA, "positions of more than one coordinate")
    KNOWN("loop_carried_state", STATE, "handing a state tensor of fixed shape from one step to the next")
    KNOWN("dual_sequence_inputs", MEDIA, "feeding token ids and routed embeddings to one decoder at the same time")
    OFFERED("workflow_ssa", 1, SYNTAX,
            "a workflow of typed values, each assigned once, runs when it invokes the package's own component once; what is "
            "beyond that is refused at its step")
    KNOWN("linear_effects", SYNTAX, "keeping the declared order of effects on the outside world")
    OFFERED("serving_service_contract", 1, STATE,
            "state groups of a graph that a workflow calls once are kept or handed on as the request says; one request is one "
            "row of work, so that active rows and accepted lengths have nothing to choose; what is beyond that is refused at "
            "its step")
    KNOWN("parameter_adapters", ADAPTERS, "applying adapters such as LoRA to the parameters that the package lists")
    KNOWN("heterogeneous_adapter_batching", ADAPTERS, "different adapters for different rows of one batch")
    OFFERED("session_state_lease", 1, STATE,
            "state cells of session scope live in a sequence, which one call at a time may use, until it is closed")
    KNOWN("bounded_state_recurrence", STATE, "state that grows with each step up to a declared bound")
    KNOWN("advisory_state", STATE, "state that may be dropped at any time because no answer depends on it")
    KNOWN("adaptive_proposal_budget", SPECULATIVE, "choosing at run time how far a draft runs ahead")
    KNOWN("grammar_guidance_adapter", ADAPTERS, "a grammar that is cloned, looked ahead in and advanced with the text")
    KNOWN("telemetry_adapter", ADAPTERS, "time stamps and elapsed times as values of a workflow")
    KNOWN("nested_control_flow", SYNTAX, "loops and branches inside one another")
    KNOWN("loop_induction_values", SYNTAX, "the number of the current iteration as a value")
    OFFERED("typed_emit", 1, SYNTAX, "a value of a workflow is published under the declared output that it is bound to")
    KNOWN("streaming_emit", SYNTAX, "publishing outputs while the workflow still runs")
    KNOWN("emit_valid_length", SYNTAX, "publishing only the valid beginning of each row of a fixed-size tensor")
    KNOWN("input_presence", SYNTAX, "telling a workflow whether an optional input was given")
    KNOWN("explicit_transfer", SYNTAX, "moving values between devices at a stated point of a lowered plan")
};

enum { ROWS = sizeof(table) / sizeof(table[0]) };

const struct tn_capability *tn_capability_at(size_t index)
{
    return index < ROWS ? &table[index] : NULL;
}

const struct tn_capability *tn_capability_find(struct tn_str id)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (tn_str_is(id, table[i].id)) return &table[i];
    }
    return NULL;
}

const char *tn_capability_category_name(enum tn_capability_category category)
{
    static const char *const names[TN_CAPABILITY_CATEGORIES] = {
#define X(name, text) text,
        TN_CAPABILITY_CATEGORY_LIST(X)
#undef X
    };
    return (unsigned)category < TN_CAPABILITY_CATEGORIES ? names[category] : "unknown";
}

/* ---- requirements against the table ----------------------------------------------------------------------------- */

static bool required_before(const struct tn_capability_need *needs, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (tn_str_eq(needs[k].id, needs[i].id)) return true;
    }
    return false;
}

/* "stated at FILE#POINTER; follows from a loop at FILE#POINTER": cut by the finding's own bound. */
static void say_who(struct tn_finding *f, const struct tn_capability_need *needs, size_t count, size_t first)
{
    char text[512];
    size_t used = 0;
    for (size_t i = first; i < count && used < sizeof(text) - 1; i++) {
        if (!tn_str_eq(needs[i].id, needs[first].id)) continue;
        int n = snprintf(text + used, sizeof(text) - used, "%s%s%s at %.*s#%.*s", used ? "; " : "",
                         needs[i].derived ? "follows from " : "stated", needs[i].derived ? needs[i].derived : "",
                         TN_FMT_ARG(needs[i].file), TN_FMT_ARG(needs[i].pointer));
        if (n > 0) used += (size_t)n;
    }
    tn_found(f, "%.*s: %s", TN_FMT_ARG(needs[first].id), text);
}

static void refuse(const struct tn_capability_need *needs, size_t count, size_t first, enum tn_phase phase,
                   struct tn_findings *findings)
{
    const struct tn_capability *known = tn_capability_find(needs[first].id);
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_MISSING_CAPABILITY, phase,
                                           known ? "the package requires the capability %.*s, which is not offered"
                                                 : "the package requires the capability %.*s, which is not known here",
                                           TN_FMT_ARG(needs[first].id));
    tn_at_pointer(f, needs[first].file, needs[first].pointer);
    say_who(f, needs, count, first);
    if (known) {
        tn_expected(f, "a runtime that offers it: %s", known->means);
        tn_remedy(f, "`tenon doctor --capabilities` lists what is offered here; use a package without this requirement");
        return;
    }
    struct tn_nearest nearest = {0};
    for (size_t i = 0; i < ROWS; i++) tn_nearest_offer(&nearest, needs[first].id, table[i].id);
    if (nearest.name) {
        tn_expected(f, "an identifier of the list, perhaps %s", nearest.name);
    } else {
        tn_expected(f, "an identifier of the list that `tenon doctor --capabilities` prints");
    }
    tn_remedy(f, "whoever defines this identifier says what it demands; a build that offers it is needed");
}

void tn_capabilities_check(const struct tn_capability_need *needs, size_t count, enum tn_phase phase,
                           struct tn_findings *findings)
{
    for (size_t i = 0; i < count; i++) {
        const struct tn_capability *c = tn_capability_find(needs[i].id);
        if ((c && c->version > 0) || required_before(needs, i)) continue;
        if (needs[i].id.n == 0) continue; /* names nothing; whoever read the document has refused it */
        refuse(needs, count, i, phase, findings);
    }
}

/* ---- documents --------------------------------------------------------------------------------------------------- */

void tn_capabilities_write(struct tn_json_writer *w)
{
    tn_jw_begin_array(w);
    for (size_t i = 0; i < ROWS; i++) {
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "id", table[i].id);
        tn_jw_member_cstr(w, "category", tn_capability_category_name(table[i].category));
        tn_jw_member_bool(w, "offered", table[i].version > 0);
        tn_jw_key(w, "version");
        if (table[i].version > 0) {
            tn_jw_u64(w, table[i].version);
        } else {
            tn_jw_null(w);
        }
        tn_jw_member_cstr(w, "means", table[i].means);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

void tn_capability_needs_write(struct tn_json_writer *w, const struct tn_capability_need *needs, size_t count)
{
    tn_jw_begin_array(w);
    for (size_t i = 0; i < count; i++) {
        const struct tn_capability *c = tn_capability_find(needs[i].id);
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "id", needs[i].id);
        tn_jw_member_bool(w, "offered", c && c->version > 0);
        tn_jw_member_cstr(w, "derived_from", needs[i].derived);
        tn_jw_member_str(w, "file", needs[i].file);
        tn_jw_member_str(w, "pointer", needs[i].pointer);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}
