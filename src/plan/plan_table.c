/*
 * The table of a plan. Constants. A plan holds parts that a task, a provider and a family write: they are listed here,
 * where all of them are known, and a test holds real plans against this.
 */
#include "plan/plan_table.h"

#include "base/doctype_rows.h"
#include "base/error_table.h"
#include "describe/package_document.h"
#include "family/family.h"
#include "graph/graph.h"
#include "plan/plan.h"

const struct tn_doctype_title tn_plan_document_title = {"urn:tenon:schema:plan", "tenon: a plan"};

#define NAME(name, text, ...) text,
static const char *const origin_names[] = {TN_CHOICE_ORIGIN_LIST(NAME) NULL};
static const char *const decision_names[] = {"eligible", "unsupported", "unqualified", "unknown", NULL};
static const char *const level_names[] = {TN_LEVEL_LIST(NAME) "unqualified", NULL};
#undef NAME

static const struct tn_doctype origin_type = {
    .kind = TN_DOC_ENUM, .name = "Origin", .note = "Who decided a value.", .values = origin_names};
static const struct tn_doctype decision_type = {
    .kind = TN_DOC_ENUM, .name = "Decision", .note = "Whether a provider can do it.", .values = decision_names};
static const struct tn_doctype level_type = {
    .kind = TN_DOC_ENUM, .name = "EvidenceLevel", .note = "How much is known about the answers.", .values = level_names};

/* ---- package, versions ------------------------------------------------------------------------------------------------ */

TN_DOC_OBJECT_TYPE(tn_plan_package_type, "Package", "The package that the plan is for.",
    TN_DOC_MUST("manifest", TN_DOC_TEXT, "Identity by small files and headers."),
    TN_DOC_MUST_NULL("closure", TN_DOC_TEXT, "Identity of all files, once every byte was read."),
    TN_DOC_MUST("dialect", TN_DOC_TEXT, "Packaging convention."),
    TN_DOC_MUST_NULL("variant", TN_DOC_TEXT, "Which of its alternatives."),
    TN_DOC_MUST("descriptive", TN_DOC_LIST_OF(TN_DOC_TEXT), "Unknown fields that the caller says change nothing."),
    TN_DOC_MAY("losses", TN_DOC_LIST_OF(&tn_loss_type), NULL, "What the caller accepted to lose; absent: nothing."));

TN_DOC_OBJECT_TYPE(tn_plan_provider_type, "Provider", "What will execute.",
    TN_DOC_MUST("name", TN_DOC_TEXT, "Name of the provider."),
    TN_DOC_MUST("version", TN_DOC_TEXT, "Its version."),
    TN_DOC_MUST("scope", TN_DOC_ONE_OF("component", "task"), "Whether it runs components or the whole task."));

TN_DOC_OBJECT_TYPE(tn_plan_build_type, "Build", "The build that made the plan.",
    TN_DOC_MUST("version", TN_DOC_TEXT, "Version of tenon."));

TN_DOC_OBJECT_TYPE(tn_plan_machine_type, "Machine", "What the plan asks of a machine.",
    TN_DOC_MUST("isa_class", TN_DOC_TEXT, "Instruction set of the kernels."));

/* ---- task ------------------------------------------------------------------------------------------------------------- */

TN_DOC_OBJECT_TYPE(tn_plan_module_type, "Module", "One module of the package's chain.",
    TN_DOC_MUST("index", TN_DOC_UINT64, "Position in the chain."),
    TN_DOC_MUST("kind", TN_DOC_TEXT, "What it does."),
    TN_DOC_MUST("runs_in", TN_DOC_ONE_OF("provider", "recipe"), "Who does it."));

TN_DOC_OBJECT_TYPE(tn_plan_state_type, "State", "A value that one call of a graph hands to the next.",
    TN_DOC_MUST("name", TN_DOC_TEXT, "What the package calls it."),
    TN_DOC_MUST("input", TN_DOC_TEXT, "Input that takes it."),
    TN_DOC_MUST("output", TN_DOC_TEXT, "Output that gives it."));

TN_DOC_OBJECT_TYPE(tn_plan_role_type, "RoleOfTexts", "How texts of a role become several vectors.",
    TN_DOC_MUST("max_tokens", TN_DOC_UINT64, "Most tokens of a text."),
    TN_DOC_MUST("filled_to", TN_DOC_UINT64, "Least tokens; shorter texts are filled up. 0: they are not."),
    TN_DOC_MAY("filled_with", TN_DOC_TEXT, NULL, "The token that fills them up."),
    TN_DOC_MAY("filling_is_seen", TN_DOC_BOOLEAN, NULL, "Whether the other tokens see it."),
    TN_DOC_MAY("filling_is_kept", TN_DOC_BOOLEAN, NULL, "Whether its vectors belong to the result."),
    TN_DOC_MUST("skips", TN_DOC_LIST_OF(TN_DOC_TEXT), "Tokens of which no vector is kept."));

TN_DOC_OBJECT_TYPE(tn_plan_roles_type, "RolesOfTexts", "The roles that a package of several vectors tells apart.",
    TN_DOC_MUST("query", &tn_plan_role_type, NULL),
    TN_DOC_MUST("document", &tn_plan_role_type, NULL));

/* Beside name and version: what a task's recipe takes from the package. */
TN_DOC_OBJECT_TYPE(tn_plan_recipe_type, "Recipe", "The procedure of the task, and what it takes from the package.",
    TN_DOC_MUST("name", TN_DOC_TEXT, "Name of the recipe."),
    TN_DOC_MUST("version", TN_DOC_TEXT, "Its version."),
    TN_DOC_MAY("modules", TN_DOC_LIST_OF(&tn_plan_module_type), NULL, "The chain of modules."),
    TN_DOC_MAY("prompts", TN_DOC_MAP_OF(TN_DOC_TEXT), NULL, "Text in front of inputs, by role."),
    TN_DOC_NULL("default_prompt", TN_DOC_TEXT, "Role that holds when none is asked for."),
    TN_DOC_MAY("prompt_in_pooling", TN_DOC_BOOLEAN, NULL, "Whether the prompt's tokens count in pooling."),
    TN_DOC_MAY("max_tokens", TN_DOC_UINT64, NULL, "Most tokens of an input."),
    TN_DOC_MAY("truncation_side", TN_DOC_TEXT, NULL, "Side that is cut off longer inputs."),
    TN_DOC_MAY("normalizes", TN_DOC_BOOLEAN, NULL, "Whether vectors get length 1."),
    TN_DOC_NULL("truncate_dimensions", TN_DOC_UINT64, "Components that are kept, when fewer than all."),
    TN_DOC_MAY("probe", TN_DOC_TEXT, NULL, "What is run once before the session is there; absent: one letter."),
    TN_DOC_MAY("states", TN_DOC_LIST_OF(&tn_plan_state_type), NULL, "Values that go from one call of a graph to the next."),
    TN_DOC_MAY("roles", &tn_plan_roles_type, NULL, "What depends on the role."),
    TN_DOC_MAY("strategy", TN_DOC_TEXT, NULL, "How sparse vectors are pooled over the tokens."),
    TN_DOC_MAY("log_twice", TN_DOC_BOOLEAN, NULL, "Whether their logarithm is taken twice."),
    TN_DOC_MAY("labels", TN_DOC_LIST_OF(TN_DOC_TEXT), NULL, "Labels of the head by id."),
    TN_DOC_NULL("problem", TN_DOC_TEXT, "What the head's numbers mean, where the package says so."),
    TN_DOC_MAY("function", TN_DOC_TEXT, NULL, "What turns the head's numbers into scores."),
    TN_DOC_MAY("mask_token", TN_DOC_TEXT, NULL, "What stands in a text for a word that is to be filled in."),
    TN_DOC_MAY("first", TN_DOC_ONE_OF("question", "context"), NULL, "Which of the two a window begins with."),
    TN_DOC_MAY("windows_from", TN_DOC_ONE_OF("left", "right"), NULL, "The end of a long context at which the first window stands."),
    TN_DOC_NULL("relevant_label", TN_DOC_TEXT, "Of two labels, the one that a document is ranked by."));

/* ---- options and policy ------------------------------------------------------------------------------------------------ */

#define PLACE                                                                                      \
    TN_DOC_MAY("by", TN_DOC_TEXT, NULL, "Whose hint it is."),                                      \
        TN_DOC_MAY("file", TN_DOC_TEXT, NULL, "Where it stands."),                                 \
        TN_DOC_MAY("pointer", TN_DOC_TEXT, NULL, "Where in it.")

TN_DOC_OBJECT_TYPE(tn_plan_statement_type, "Statement", "A value that somebody stated and that a stronger word replaced.",
    TN_DOC_MUST("origin", &origin_type, "Who stated it."),
    TN_DOC_MUST_NULL("value", TN_DOC_ANYTHING, "What was stated."), PLACE);

#define OVERRIDES TN_DOC_MUST("overrides", TN_DOC_LIST_OF(&tn_plan_statement_type), "What it was stated against, strongest first.")

TN_DOC_OBJECT_TYPE(tn_plan_text_option_type, "TextOption", "An option and who decided it.",
    TN_DOC_MUST("origin", &origin_type, "Who decided."),
    TN_DOC_MUST_NULL("value", TN_DOC_TEXT, "The decision."), PLACE, OVERRIDES);

TN_DOC_OBJECT_TYPE(tn_plan_number_option_type, "NumberOption", "An option and who decided it.",
    TN_DOC_MUST("origin", &origin_type, "Who decided."),
    TN_DOC_MUST("value", TN_DOC_UINT64, "The decision."), PLACE, OVERRIDES);

TN_DOC_OBJECT_TYPE(tn_plan_task_option_type, "TaskOption", "What a request means where it says nothing.",
    TN_DOC_MUST("origin", &origin_type, "Who decided."),
    TN_DOC_MUST_NULL("value", TN_DOC_ANYTHING, "The decision."), PLACE, OVERRIDES);

static const char *const outcome_names[] = {
#define X(name, text) text,
    TN_HINT_OUTCOME_LIST(X)
#undef X
    NULL};
static const char *const hint_origin_names[] = {
#define X(name, text, people) text,
    TN_HINT_ORIGIN_LIST(X)
#undef X
    NULL};
static const char *const hint_kind_names[] = {
#define X(name, text, topic) text,
    TN_HINT_KIND_LIST(X)
#undef X
    NULL};
static const struct tn_doctype outcome_type = {
    .kind = TN_DOC_ENUM, .name = "HintOutcome", .note = "What became of a hint.", .values = outcome_names};
static const struct tn_doctype hint_origin_type = {
    .kind = TN_DOC_ENUM, .name = "HintOrigin", .note = "Whose hint it is, strongest first.", .values = hint_origin_names};
static const struct tn_doctype hint_kind_type = {
    .kind = TN_DOC_ENUM, .name = "HintKind", .note = "What is wished for.", .values = hint_kind_names};

#define HINT_PLACE                                                                                 \
    TN_DOC_MUST("hint", &hint_kind_type, "What is wished for."),                                   \
        TN_DOC_MUST("origin", &hint_origin_type, "By whom."),                                      \
        TN_DOC_MUST("strength", TN_DOC_ONE_OF("prefer", "force"), "How much."),                    \
        TN_DOC_MUST("file", TN_DOC_TEXT, "Where it stands."),                                      \
        TN_DOC_MUST("pointer", TN_DOC_TEXT, "Where in it.")

TN_DOC_OBJECT_TYPE(tn_plan_hint_place_type, "Hint", "A hint by its place.", HINT_PLACE);

TN_DOC_OBJECT_TYPE(tn_plan_hint_result_type, "HintResult", "A hint and what became of it.", HINT_PLACE,
    TN_DOC_MUST("outcome", &outcome_type, "What became of it."),
    TN_DOC_MUST("selected", TN_DOC_UINT64, "Operators and tensors that it selects."),
    TN_DOC_MUST("lost", TN_DOC_UINT64, "Of these, where another hint counts."),
    TN_DOC_MUST_NULL("by", &tn_plan_hint_place_type, "The hint that counts there."),
    TN_DOC_MUST_NULL("why", TN_DOC_TEXT, "The reason."));

TN_DOC_OBJECT_TYPE(tn_plan_hints_type, "Hints", "Execution hints, none of which changes an answer.",
    TN_DOC_MUST_NULL("caller", TN_DOC_TEXT, "Text of the request's own hints."),
    TN_DOC_MUST_NULL("user", TN_DOC_TEXT, "Text of the user's file of hints."),
    TN_DOC_MUST_NULL("user_name", TN_DOC_TEXT, "Name of that file."),
    TN_DOC_MUST("outcomes", TN_DOC_LIST_OF(&tn_plan_hint_result_type), "All hints, the package's too."));

TN_DOC_OBJECT_TYPE(tn_plan_options_type, "Options", "Everything that a caller may choose, as it was chosen.",
    TN_DOC_MUST("task", &tn_plan_text_option_type, "Task."),
    TN_DOC_MUST("provider", &tn_plan_text_option_type, "Providers, best first."),
    TN_DOC_MUST("device", &tn_plan_text_option_type, "Device."),
    TN_DOC_MUST("placement", &tn_plan_text_option_type, "Whether work may leave the device."),
    TN_DOC_MUST("numeric", &tn_plan_text_option_type, "Numeric policy."),
    TN_DOC_MUST("require_level", &tn_plan_text_option_type, "Evidence that must be there."),
    TN_DOC_MUST("threads", &tn_plan_number_option_type, "Threads."),
    TN_DOC_MUST("memory_limit", &tn_plan_number_option_type, "Bytes that may be taken; 0 for no limit."),
    TN_DOC_MUST("without", &tn_plan_text_option_type, "Rewritings of a graph that are left out."),
    TN_DOC_MUST("fallback", &tn_plan_text_option_type, "Until when another provider may stand in for one that cannot."),
    TN_DOC_MUST("precision", &tn_plan_text_option_type, "Whether another numeric policy may stand in."),
    TN_DOC_MUST("allow_code", &tn_plan_text_option_type, "Digests of code that may run."));

TN_DOC_OBJECT_TYPE(tn_plan_numeric_type, "Numeric", "Numeric policy in its four fields.",
    TN_DOC_MUST("stored", TN_DOC_TEXT, "Type of the stored weights."),
    TN_DOC_MUST("compute", TN_DOC_TEXT, "Type of products."),
    TN_DOC_MUST("accumulate", TN_DOC_TEXT, "Type of sums."),
    TN_DOC_MUST("kv", TN_DOC_TEXT, "Type of the attention cache."));

TN_DOC_OBJECT_TYPE(tn_plan_placement_type, "Placement", "Where the work happens.",
    TN_DOC_MUST("device", TN_DOC_TEXT, "Device."),
    TN_DOC_MUST("policy", TN_DOC_TEXT, "Whether work may leave it."));

TN_DOC_OBJECT_TYPE(tn_plan_policy_type, "Policy", "What is allowed.",
    TN_DOC_MUST("trust", TN_DOC_TEXT, "What code of the package may run."),
    TN_DOC_MUST("code", TN_DOC_LIST_OF(TN_DOC_TEXT), "SHA-256 digests of code that may run."),
    TN_DOC_MUST("network", TN_DOC_TEXT, "What may be fetched."),
    TN_DOC_MUST("fallback", TN_DOC_LIST_OF(TN_DOC_TEXT), "Providers in the order in which they are tried."),
    TN_DOC_MUST("falls_back_at", TN_DOC_ONE_OF("plan", "load"), "Until when the next one may stand in for one that cannot."),
    TN_DOC_MUST("precision_may_change", TN_DOC_BOOLEAN, "Whether another numeric policy may stand in for one that a provider lacks."));

TN_DOC_OBJECT_TYPE(tn_plan_batch_type, "Batch", "Largest step.",
    TN_DOC_MUST("rows", TN_DOC_UINT64, "Tokens of all sequences together."),
    TN_DOC_MUST("sequences", TN_DOC_UINT64, "Sequences."),
    TN_DOC_MAY("picks", TN_DOC_UINT64, NULL, "Tokens that are asked about, where results stand for these alone."));

TN_DOC_OBJECT_TYPE(tn_plan_memory_type, "Memory", "Memory in bytes, estimated from headers.",
    TN_DOC_MUST("weights_bytes", TN_DOC_UINT64, "Weights as they are kept."),
    TN_DOC_MUST("workspace_bytes", TN_DOC_UINT64, "Intermediate values."),
    TN_DOC_MUST("tokenizer_bytes", TN_DOC_UINT64, "Tokenizer."),
    TN_DOC_MUST("session_bytes", TN_DOC_UINT64, "The rest of a session."),
    TN_DOC_MUST("resident_bytes", TN_DOC_UINT64, "Together, once loaded."),
    TN_DOC_MUST("peak_bytes", TN_DOC_UINT64, "Most at any moment."),
    TN_DOC_MUST("uncertainty", TN_DOC_DOUBLE, "Part of the peak that the estimate may be off by."),
    TN_DOC_MUST_NULL("limit_bytes", TN_DOC_UINT64, "Limit that it is held against."));

TN_DOC_OBJECT_TYPE(tn_plan_exclusion_type, "Exclusion", "A provider that was preferred and cannot.",
    TN_DOC_MUST("provider", TN_DOC_TEXT, "Name of the provider."),
    TN_DOC_MUST("decision", &decision_type, "What was decided about it."),
    TN_DOC_MUST("at", TN_DOC_ONE_OF("plan", "load"), "When that was found out."),
    TN_DOC_MUST("findings", TN_DOC_LIST_OF(&tn_findings_entry_type), "Why."));

/* ---- binding and graph: written by the native provider ------------------------------------------------------------------ */

TN_DOC_OBJECT_TYPE(tn_plan_audit_row_type, "AuditRow", "One tensor.",
    TN_DOC_MAY("role", TN_DOC_TEXT, NULL, "What it is to the family."),
    TN_DOC_MUST("tensor", TN_DOC_TEXT, "What it is called in the package."),
    TN_DOC_MAY("rule", TN_DOC_TEXT, NULL, "Why it may be so."));

#define AUDIT_ROWS TN_DOC_LIST_OF(&tn_plan_audit_row_type)
TN_DOC_OBJECT_TYPE(tn_plan_audit_type, "Audit", "What became of every tensor.",
    TN_DOC_MUST("prefix", TN_DOC_TEXT, "What all names begin with."),
    TN_DOC_MUST("loaded", TN_DOC_UINT64, "Tensors that are bound by name."),
    TN_DOC_MUST("aliased", AUDIT_ROWS, "Bound under another name."),
    TN_DOC_MUST("tied", AUDIT_ROWS, "Bound to the matrix of a head that is the same one."),
    TN_DOC_MUST("optional_absent", AUDIT_ROWS, "Not there, and allowed not to be."),
    TN_DOC_MUST("accepted_unused", AUDIT_ROWS, "There, and known not to be needed."),
    TN_DOC_MUST("unexpected", AUDIT_ROWS, "There, and not understood."),
    TN_DOC_MUST("missing", AUDIT_ROWS, "Needed, and not there."),
    TN_DOC_MUST("mismatched", AUDIT_ROWS, "Of another shape or type."));

_Static_assert(TN_AUDIT_KINDS == 8, "the audit has a member for each kind but the loaded ones, which are counted");

static const struct tn_doctype attribute = {.kind = TN_DOC_ANY, .name = "Attribute", .note = "A number, a text, or a list of them."};
static const struct tn_doctype nothing = {.kind = TN_DOC_NOTHING};
static const struct tn_doctype operand = {
    .kind = TN_DOC_CHOICE,
    .name = "Operand",
    .note = "A value by the name of the node that makes it, an input, or a weight by its role; null: left out.",
    .choices = (const struct tn_doctype *const[]){TN_DOC_TEXT, &nothing, NULL},
};

TN_DOC_OBJECT_TYPE(tn_plan_node_type, "Node", "One operator of the graph.",
    TN_DOC_MUST("op", TN_DOC_TEXT, "Operator, of the domain \"tenon\": those over packed rows."),
    TN_DOC_MUST("name", TN_DOC_TEXT, "What it is to the family."),
    TN_DOC_MAY("layer", TN_DOC_UINT64, NULL, "Layer that it belongs to."),
    TN_DOC_MUST("inputs", TN_DOC_LIST_OF(&operand), "What goes in."),
    TN_DOC_MUST("types", TN_DOC_LIST_OF(TN_DOC_TEXT), "Types of what comes out: T rows of a step, S of its sequences, P that are picked."),
    TN_DOC_MUST("attributes", TN_DOC_MAP_OF(&attribute), "What belongs to the operator."));

/* ---- a package that is a graph: written by the native provider ----------------------------------------------------------- */

static const struct tn_doctype dimension = {
    .kind = TN_DOC_CHOICE,
    .name = "Dimension",
    .note = "A size, or the name of one that inputs decide.",
    .choices = (const struct tn_doctype *const[]){TN_DOC_INT64, TN_DOC_TEXT, NULL},
};

TN_DOC_OBJECT_TYPE(tn_plan_port_type, "Port", "A value that goes into a graph or comes out of it.",
    TN_DOC_MUST("name", TN_DOC_TEXT, "Its name."),
    TN_DOC_MUST("type", TN_DOC_TEXT, "Its type, for people."),
    TN_DOC_MUST_NULL("element", TN_DOC_TEXT, "Type of the elements of a tensor."),
    TN_DOC_MUST_NULL("dims", TN_DOC_LIST_OF(&dimension), "Dimensions, where their number is known."),
    TN_DOC_MAY("required", TN_DOC_BOOLEAN, NULL, "Of inputs: whether it has to be given."));

TN_DOC_OBJECT_TYPE(tn_plan_operator_count_type, "OperatorCount", "An operator and how often it stands in the graph.",
    TN_DOC_MUST("domain", TN_DOC_TEXT, "Domain."),
    TN_DOC_MUST("operator", TN_DOC_TEXT, "Operator."),
    TN_DOC_MUST("version", TN_DOC_UINT64, "Version of the domain."),
    TN_DOC_MUST("count", TN_DOC_UINT64, "Nodes."));

TN_DOC_OBJECT_TYPE(tn_plan_patch_type, "Patch", "A rewriting of the graph that keeps what it computes.",
    TN_DOC_MUST("patch", TN_DOC_TEXT, "Its name, by which it can be left out."),
    TN_DOC_MUST("what", TN_DOC_TEXT, "What it does."),
    TN_DOC_MUST("count", TN_DOC_UINT64, "How often it was made."),
    TN_DOC_MUST("nodes", TN_DOC_LIST_OF(TN_DOC_TEXT), "The first nodes at which it was made."));

TN_DOC_OBJECT_TYPE(tn_plan_dataflow_type, "Dataflow", "A graph by what can be seen from outside.",
    TN_DOC_MUST("file", TN_DOC_TEXT, "Where it stands."),
    TN_DOC_MUST("nodes", TN_DOC_UINT64, "Nodes, those of graphs inside nodes too."),
    TN_DOC_MUST("structure", TN_DOC_TEXT, "Digest of nodes, attributes and types."),
    TN_DOC_MUST("inputs", TN_DOC_LIST_OF(&tn_plan_port_type), "Inputs, in order."),
    TN_DOC_MUST("outputs", TN_DOC_LIST_OF(&tn_plan_port_type), "Outputs, in order."),
    TN_DOC_MUST("operators", TN_DOC_LIST_OF(&tn_plan_operator_count_type), "Operators, in the order of their first use."),
    TN_DOC_MUST("patches", TN_DOC_LIST_OF(&tn_plan_patch_type), "Rewritings that were made, in order."),
    TN_DOC_MUST("nodes_run", TN_DOC_UINT64, "Nodes that are left after them."),
    TN_DOC_MUST("values_bytes", TN_DOC_UINT64, "Most bytes of values that are there at once, as far as shapes are known."),
    TN_DOC_MUST("open_shapes", TN_DOC_BOOLEAN, "Whether requests decide sizes, so that memory follows from them."),
    TN_DOC_MUST("calls", TN_DOC_TEXT, "How calls of one session follow one another."));

TN_DOC_OBJECT_TYPE(tn_plan_document_type, "Plan", "Exactly how a task will run. Nothing that changes an answer is left open.",
    TN_DOC_MUST("schema", TN_DOC_ONE_OF(TN_PLAN_SCHEMA), "Version of this document."),
    TN_DOC_MUST("id", TN_DOC_TEXT, "Fingerprint of everything that decides answers."),
    TN_DOC_MUST("package", &tn_plan_package_type, "What will run."),
    TN_DOC_MUST("provider", &tn_plan_provider_type, "What will run it."),
    TN_DOC_MUST("build", &tn_plan_build_type, "What made the plan."),
    TN_DOC_MUST("machine", &tn_plan_machine_type, "On what."),
    TN_DOC_MUST("task", TN_DOC_TEXT, "Task."),
    TN_DOC_MUST("contract", TN_DOC_TEXT, "Version of the task's contract."),
    TN_DOC_MUST("recipe", &tn_plan_recipe_type, "Procedure of the task."),
    TN_DOC_MUST("options", &tn_plan_options_type, "Choices."),
    TN_DOC_MUST("numeric", &tn_plan_numeric_type, "Numeric policy."),
    TN_DOC_MUST("placement", &tn_plan_placement_type, "Where."),
    TN_DOC_MUST("policy", &tn_plan_policy_type, "What is allowed."),
    TN_DOC_MUST("batch", &tn_plan_batch_type, "Largest step."),
    TN_DOC_MUST("task_options", TN_DOC_MAP_OF(&tn_plan_task_option_type), "What requests mean where they say nothing."),
    TN_DOC_MUST("hints", &tn_plan_hints_type, "Execution hints."),
    TN_DOC_MUST("memory", &tn_plan_memory_type, "Memory."),
    TN_DOC_MUST("evidence_level", &level_type, "How much is known about the answers."),
    TN_DOC_MUST_NULL("record", TN_DOC_TEXT, "The record that says so."),
    TN_DOC_MUST_NULL("note", TN_DOC_TEXT, "What to know before relying on it."),
    TN_DOC_MUST("exclusions", TN_DOC_LIST_OF(&tn_plan_exclusion_type), "Providers that were preferred and cannot."),
    TN_DOC_MUST("findings", TN_DOC_LIST_OF(&tn_findings_entry_type), "What was noticed and blocks nothing."),
    TN_DOC_MAY("family", TN_DOC_TEXT, NULL, "Architecture, when it runs natively."),
    TN_DOC_MAY("family_version", TN_DOC_TEXT, NULL, "Version of its implementation."),
    TN_DOC_MAY("kernels", TN_DOC_TEXT, NULL, "Set of kernels."),
    TN_DOC_MAY("isa_class", TN_DOC_TEXT, NULL, "Instruction set of the kernels."),
    TN_DOC_MAY("audit", &tn_plan_audit_type, NULL, "What became of every tensor."),
    TN_DOC_MAY("graph", TN_DOC_LIST_OF(&tn_plan_node_type), NULL, "Operators, in order."),
    TN_DOC_MAY("dataflow", &tn_plan_dataflow_type, NULL, "The graph that the package is, when it is one."));
