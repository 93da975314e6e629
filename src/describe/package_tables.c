/*
 * The shape of tenon_package.json. Printed by `tenon schema package`, checked before the document is read. Adding a kind
 * of module is a row here, in package_write.c and in package_read.c; a test holds the writer against this table.
 */
#include "describe/package_document.h"
#include "describe/standard/tables.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* ---- scalars ----------------------------------------------------------------------------------------------------- */

static const struct tn_doctype any_text = {.kind = TN_DOC_STRING};
static const struct tn_doctype some_text = {.kind = TN_DOC_STRING, .min_length = 1};
static const struct tn_doctype flag = {.kind = TN_DOC_BOOL};
static const struct tn_doctype any_value = {.kind = TN_DOC_ANY};
static const struct tn_doctype width = {.kind = TN_DOC_INT, .format = "uint64", .least = 1, .most = 1048576};
static const struct tn_doctype position = {.kind = TN_DOC_INT, .format = "uint32", .least = 0, .most = 65535};
static const struct tn_doctype length = {.kind = TN_DOC_INT, .format = "uint64", .least = 0, .most = 16777216};
static const struct tn_doctype size = {.kind = TN_DOC_INT, .format = "uint64", .least = 1, .most = UINT64_MAX};
static const struct tn_doctype epsilon = {.kind = TN_DOC_NUMBER, .format = "double", .low = 0, .high = 1};
static const struct tn_doctype texts = {.kind = TN_DOC_LIST, .items = &any_text};

static const char *const schema_values[] = {TN_PACKAGE_SCHEMA, NULL};
static const struct tn_doctype schema = {.kind = TN_DOC_ENUM, .values = schema_values};
static const char *const side_values[] = {"left", "right", NULL};
static const struct tn_doctype side = {.kind = TN_DOC_ENUM, .values = side_values};
static const char *const similarity_values[] = {"", "cosine", "dot", "euclidean", "manhattan", "maxsim", "meanmaxsim", NULL};
static const struct tn_doctype similarity = {.kind = TN_DOC_ENUM, .values = similarity_values};

/* ---- components -------------------------------------------------------------------------------------------------- */

static const struct tn_doctype config = {
    .kind = TN_DOC_MAP,
    .items = &any_value,
    .note = "Every value that the family's table understands, by its normalised name.",
};

static const struct tn_docfield component_fields[] = {
    {"name", &some_text, TN_DOC_REQUIRED, NULL, "What the recipe calls it."},
    {"folder", &any_text, TN_DOC_REQUIRED, NULL, "Folder of its weights inside the package; empty for the root."},
    {"model_type", &any_text, TN_DOC_REQUIRED, NULL, "The convention's word for the architecture, as found."},
    {"architecture", &any_text, TN_DOC_REQUIRED, NULL, "The class that wrote the weights; it says which head they have."},
    {"schema", &some_text, TN_DOC_REQUIRED, NULL, "The family's table with its version."},
    {"variant", &some_text, TN_DOC_REQUIRED | TN_DOC_NULLABLE, NULL, "Which of the package's weight sets it takes."},
    {"config", &config, TN_DOC_REQUIRED, NULL, NULL},
};

static const struct tn_doctype component = {
    .kind = TN_DOC_OBJECT,
    .name = "Component",
    .note = "A network that a family of the runtime builds from values and tensors.",
    .fields = component_fields,
    .field_count = COUNT(component_fields),
};
static const struct tn_doctype components = {.kind = TN_DOC_LIST, .items = &component};

/* ---- modules ----------------------------------------------------------------------------------------------------- */

#define MODULE_FIELDS                                                                              \
    {"index", &position, TN_DOC_REQUIRED, NULL,                                                    \
     "Its place in the list that it was read from; each is above the one before."},                \
        {"path", &any_text, TN_DOC_REQUIRED, NULL,                                                 \
         "Folder of its weights; empty for the root, and where it has none."},                     \
        {"on_tokens", &flag, TN_DOC_REQUIRED, NULL, "Works on the row of each token, not on the pooled row."}

#define WIDTH_FIELDS                                                                               \
    {"in_features", &width, TN_DOC_REQUIRED, NULL, "Width of the rows that come in."},             \
        {"out_features", &width, TN_DOC_REQUIRED, NULL, "Width of the rows that go out."}

static const struct tn_docfield transformer_fields[] = {
    MODULE_FIELDS,
    {"out_features", &width, TN_DOC_REQUIRED, NULL, "Width of a token's row."},
};

static const char *const pooling_values[] = {
#define X(name, text) text,
    TN_POOLING_LIST(X)
#undef X
    NULL,
};
static const struct tn_doctype pooling = {.kind = TN_DOC_ENUM, .values = pooling_values};
static const struct tn_doctype poolings = {.kind = TN_DOC_LIST, .items = &pooling, .min_items = 1, .unique = true};

static const struct tn_docfield pooling_fields[] = {
    MODULE_FIELDS,
    WIDTH_FIELDS,
    {"pooling", &poolings, TN_DOC_REQUIRED, NULL, "Modes whose results are laid side by side, in this order."},
    {"include_prompt", &flag, TN_DOC_REQUIRED, NULL, "Whether the tokens of a prompt are pooled too."},
};

static const char *const activation_values[] = {
#define X(name, text) text,
    TN_ACT_LIST(X)
#undef X
    NULL,
};
static const struct tn_doctype activation = {
    .kind = TN_DOC_ENUM,
    .name = "Activation",
    .note = "An element-wise function without parameters of its own.",
    .values = activation_values,
};

static const struct tn_docfield dense_fields[] = {
    MODULE_FIELDS,
    WIDTH_FIELDS,
    {"bias", &flag, TN_DOC_REQUIRED, NULL, "Whether linear.bias is added."},
    {"activation", &activation, TN_DOC_REQUIRED, NULL, NULL},
    {"residual", &flag, TN_DOC_REQUIRED, NULL, "Whether the input is added, through residual.weight when widths differ."},
};

static const struct tn_docfield norm_fields[] = {
    MODULE_FIELDS,
    WIDTH_FIELDS,
    {"eps", &epsilon, TN_DOC_REQUIRED, NULL, "Added to the variance."},
};

static const struct tn_docfield normalize_fields[] = {
    MODULE_FIELDS,
    WIDTH_FIELDS,
};

static const char *const strategy_values[] = {"max", "sum", NULL};
static const struct tn_doctype strategy = {.kind = TN_DOC_ENUM, .values = strategy_values};

static const struct tn_docfield splade_fields[] = {
    MODULE_FIELDS,
    WIDTH_FIELDS,
    {"strategy", &strategy, TN_DOC_REQUIRED, NULL, "Over the tokens."},
    {"log_twice", &flag, TN_DOC_REQUIRED, NULL, "Whether log(1 + x) is taken twice."},
};

static const struct tn_docvariant module_kinds[] = {
    {"transformer", "The encoder: texts to token rows.", transformer_fields, COUNT(transformer_fields)},
    {"pooling", "Token rows to one row.", pooling_fields, COUNT(pooling_fields)},
    {"dense", "A linear map with an activation.", dense_fields, COUNT(dense_fields)},
    {"layer_norm", "Layer normalisation with weight and bias.", norm_fields, COUNT(norm_fields)},
    {"normalize", "Scales a row to length one.", normalize_fields, COUNT(normalize_fields)},
    {"splade_pooling", "Numbers over the vocabulary to one sparse row.", splade_fields, COUNT(splade_fields)},
};

static const struct tn_doctype module = {
    .kind = TN_DOC_UNION,
    .name = "Module",
    .note = "One step of the chain behind the encoder, the encoder included.",
    .tag = "kind",
    .variants = module_kinds,
    .variant_count = COUNT(module_kinds),
};
static const struct tn_doctype modules = {.kind = TN_DOC_LIST, .items = &module};

/* ---- head -------------------------------------------------------------------------------------------------------- */

static const char *const head_values[] = {
#define X(name, text, suffix, what, labelled, outputs) text,
    TN_HEAD_LIST(X)
#undef X
    NULL,
};
static const struct tn_doctype head_kind = {.kind = TN_DOC_ENUM, .values = head_values};
static const char *const problem_values[] = {
#define X(name, text) text,
    TN_PROBLEM_LIST(X)
#undef X
    NULL,
};
static const struct tn_doctype problem = {.kind = TN_DOC_ENUM, .values = problem_values};
static const struct tn_doctype labels = {.kind = TN_DOC_LIST, .items = &any_text, .min_items = 1};

static const struct tn_docfield head_fields[] = {
    {"kind", &head_kind, TN_DOC_REQUIRED, NULL, "What the weights were trained to answer."},
    {"labels", &labels, TN_DOC_REQUIRED | TN_DOC_NULLABLE, NULL, "Names of its outputs by id; null: they have none."},
    {"labels_stated", &flag, TN_DOC_REQUIRED, NULL, "Whether the names are the package's and not made up by the class."},
    {"problem", &problem, TN_DOC_REQUIRED, NULL, "What its numbers mean; empty: not stated."},
    {"cross_encoder", &flag, TN_DOC_REQUIRED, NULL, "Saved as a scorer of pairs."},
    {"no_answer", &flag, 0, "false", "Trained to say that a text holds no answer: that is then among the answers."},
    {"activation", &activation, TN_DOC_REQUIRED | TN_DOC_NULLABLE, NULL,
     "What the scorer puts on its numbers; null: not stated."},
};

static const struct tn_doctype head = {
    .kind = TN_DOC_OBJECT,
    .name = "Head",
    .note = "What stands behind the encoder and answers a question of its own.",
    .fields = head_fields,
    .field_count = COUNT(head_fields),
};

/* ---- several vectors per text -------------------------------------------------------------------------------------- */

static const struct tn_docfield expansion_fields[] = {
    {"length", &size, TN_DOC_REQUIRED, NULL, "Least tokens of a query, special ones included."},
    {"fixed", &flag, TN_DOC_REQUIRED, NULL, "Whether they are also the most."},
    {"attended", &flag, TN_DOC_REQUIRED, NULL, "Whether the tokens that fill it up are seen by the others."},
    {"kept", &flag, TN_DOC_REQUIRED, NULL, "Whether their vectors belong to the result."},
    {"token", &some_text, TN_DOC_REQUIRED, NULL, "The token that fills it up."},
};

static const struct tn_doctype expansion = {
    .kind = TN_DOC_OBJECT,
    .name = "Expansion",
    .note = "How short queries are filled up.",
    .fields = expansion_fields,
    .field_count = COUNT(expansion_fields),
};

static const struct tn_docfield multi_vector_fields[] = {
    {"query_length", &length, TN_DOC_REQUIRED, NULL, "Longest query in tokens; 0: max_seq_length, or the expansion's."},
    {"document_length", &length, TN_DOC_REQUIRED, NULL, "Longest document in tokens; 0: max_seq_length."},
    {"expansion", &expansion, TN_DOC_REQUIRED | TN_DOC_NULLABLE, NULL, "Null: queries stay as they are."},
    {"skip", &texts, TN_DOC_REQUIRED, NULL, "Tokens of which no vector is kept."},
    {"skips_in_queries", &flag, TN_DOC_REQUIRED, NULL, NULL},
    {"skips_in_documents", &flag, TN_DOC_REQUIRED, NULL, NULL},
    {"markers", &texts, TN_DOC_REQUIRED, NULL,
     "Beginnings of prompts that the tokenizer keeps whole where its vocabulary has them."},
};

static const struct tn_doctype multi_vector = {
    .kind = TN_DOC_OBJECT,
    .name = "MultiVector",
    .note = "How texts become several vectors, one for each token.",
    .fields = multi_vector_fields,
    .field_count = COUNT(multi_vector_fields),
};

/* ---- tokenizer --------------------------------------------------------------------------------------------------- */

static const char *const source_values[] = {"file", "class", "vocab", NULL};
static const struct tn_doctype source = {.kind = TN_DOC_ENUM, .values = source_values};
static const char *const template_values[] = {"one_separator", "two_separators", NULL};
static const struct tn_doctype pair_template = {.kind = TN_DOC_ENUM, .values = template_values};

static const struct tn_docfield tokenizer_fields[] = {
    {"source", &source, TN_DOC_REQUIRED, NULL,
     "Where the stages come from: tokenizer.json as it stands, its vocabulary with the stages of a class, or vocab.txt."},
    {"pair_template", &pair_template, TN_DOC_REQUIRED | TN_DOC_NULLABLE, NULL,
     "How the class joins two texts: one separator and type 1 for the second, or two separators and no types. "
     "Null: as tokenizer.json says."},
    {"class", &any_text, TN_DOC_REQUIRED, NULL, "The class that the stages were taken from, for people."},
    {"tokenizer_json", &any_text, TN_DOC_REQUIRED, NULL, "Path of tokenizer.json; empty where the source is vocab."},
    {"vocab_txt", &any_text, TN_DOC_REQUIRED, NULL, "Path of vocab.txt; empty where the source is another."},
    {"do_lower_case", &flag, TN_DOC_REQUIRED | TN_DOC_NULLABLE, NULL, "Option of the class; null: as tokenizer.json says."},
    {"tokenize_chinese_chars", &flag, TN_DOC_REQUIRED | TN_DOC_NULLABLE, NULL,
     "Option of the class; null: as tokenizer.json says."},
    {"lower_case_first", &flag, TN_DOC_REQUIRED, NULL, "Lowers the text before all other stages."},
    {"type_ids", &flag, TN_DOC_REQUIRED, NULL, "Whether the network is given the type ids."},
    {"clean_up_spaces", &flag, 0, "false", "Whether texts made of tokens lose blanks before punctuation."},
    {"unk_token", &any_text, TN_DOC_REQUIRED, NULL, NULL},
    {"cls_token", &any_text, TN_DOC_REQUIRED, NULL, NULL},
    {"sep_token", &any_text, TN_DOC_REQUIRED, NULL, NULL},
    {"pad_token", &any_text, TN_DOC_REQUIRED, NULL, NULL},
    {"mask_token", &any_text, TN_DOC_REQUIRED, NULL, NULL},
    {"padding_side", &side, TN_DOC_REQUIRED, NULL, NULL},
    {"truncation_side", &side, TN_DOC_REQUIRED, NULL, NULL},
    {"strip_accents", &flag, TN_DOC_REQUIRED | TN_DOC_NULLABLE, NULL,
     "Option of the class; null: follows do_lower_case, or as tokenizer.json says."},
    {"model_max_length", &size, TN_DOC_REQUIRED | TN_DOC_NULLABLE, NULL,
     "What the original stated, for people: max_seq_length is what counts. Null: nothing."},
};

static const struct tn_doctype tokenizer = {
    .kind = TN_DOC_OBJECT,
    .name = "Tokenizer",
    .note = "How texts become token ids.",
    .fields = tokenizer_fields,
    .field_count = COUNT(tokenizer_fields),
};

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static const struct tn_doctype prompts = {
    .kind = TN_DOC_MAP, .items = &any_text, .note = "Text that is put before the input, by role."};

static const struct tn_docfield undetermined_fields[] = {
    {"code", &some_text, TN_DOC_REQUIRED, NULL, "The refusal that stands for it."},
    {"reason", &any_text, TN_DOC_REQUIRED, NULL, NULL},
    {"file", &any_text, 0, NULL, NULL},
    {"pointer", &any_text, 0, NULL, "JSON pointer of the place in that file."},
    {"found", &any_text, 0, NULL, NULL},
    {"expected", &any_text, 0, NULL, NULL},
    {"remedy", &any_text, 0, NULL, NULL},
};

static const struct tn_doctype undetermined = {
    .kind = TN_DOC_OBJECT,
    .name = "Undetermined",
    .note = "Something about the package that could not be found out, with the reason. It keeps the package from running. What "
            "a build merely does not execute is none.",
    .fields = undetermined_fields,
    .field_count = COUNT(undetermined_fields),
};
static const struct tn_doctype open_points = {.kind = TN_DOC_LIST, .items = &undetermined};

static const char *const loss_values[] = {"dropped", "unknown", NULL};
static const struct tn_doctype loss_class = {.kind = TN_DOC_ENUM, .values = loss_values};

static const struct tn_docfield loss_fields[] = {
    {"file", &some_text, TN_DOC_REQUIRED, NULL, "The document of the original that stated it; it need not be there any more."},
    {"pointer", &some_text, TN_DOC_REQUIRED, NULL, "JSON pointer of the field."},
    {"class", &loss_class, TN_DOC_REQUIRED, NULL, "Whether it is known and left out, or not known."},
    {"reason", &any_text, TN_DOC_REQUIRED, NULL, "Why it is not carried."},
};

const struct tn_doctype tn_loss_type = {
    .kind = TN_DOC_OBJECT,
    .name = "Loss",
    .note = "A field of the package's original documents that the description does not carry; somebody accepted that.",
    .fields = loss_fields,
    .field_count = COUNT(loss_fields),
};
static const struct tn_doctype losses = {.kind = TN_DOC_LIST, .items = &tn_loss_type};

static const struct tn_doctype needs = {.kind = TN_DOC_LIST, .items = &some_text};

static const struct tn_doctype provenance = {
    .kind = TN_DOC_OBJECT,
    .name = "Provenance",
    .note = "Where the values came from. The only member that a reader may ignore.",
    .items = &any_value,
};

static const struct tn_docfield fields[] = {
    {"schema", &schema, TN_DOC_REQUIRED, NULL, "Name and version of this form."},
    {"components", &components, TN_DOC_REQUIRED, NULL, NULL},
    {"modules", &modules, TN_DOC_REQUIRED, NULL, NULL},
    {"head", &head, TN_DOC_NULLABLE, NULL, "Null: the rows of the encoder are the end."},
    {"multi_vector", &multi_vector, TN_DOC_NULLABLE, NULL, "Null: not several vectors per text."},
    {"max_active_dims", &size, TN_DOC_NULLABLE, NULL, "Most terms of a sparse vector; null: not stated."},
    {"prompts", &prompts, TN_DOC_REQUIRED, NULL, NULL},
    {"default_prompt", &any_text, TN_DOC_REQUIRED, NULL, "Role of the prompt that is used when none is named; empty: none."},
    {"similarity", &similarity, TN_DOC_REQUIRED, NULL, "How vectors are compared; empty: not stated."},
    {"max_seq_length", &length, TN_DOC_REQUIRED, NULL, "Longest input in tokens with the special ones; 0: not stated."},
    {"truncate_dim", &length, TN_DOC_REQUIRED, NULL, "Width to which vectors are cut; 0: not stated."},
    {"tokenizer", &tokenizer, TN_DOC_REQUIRED | TN_DOC_NULLABLE, NULL, NULL},
    {"descriptive", &texts, TN_DOC_REQUIRED, NULL, "Fields of the original that somebody asserted to change no answer."},
    {"undetermined", &open_points, TN_DOC_REQUIRED, NULL, NULL},
    {"losses", &losses, 0, "[]", "What an import left out. It is evidence of how the package came to be, and changes no answer by itself."},
    {"required_capabilities", &needs, 0, "[]", "What a runtime must offer beyond what the content shows by itself."},
    {"execution_hints", &tn_execution_hints_type, 0, NULL, "Wishes about where and how to run; no answer depends on them."},
    {"provenance", &provenance, 0, NULL, NULL},
};

const struct tn_doctype tn_package_document_type = {
    .kind = TN_DOC_OBJECT,
    .name = "Package",
    .note = "What a package does beyond what the inference-metadata form can say.",
    .fields = fields,
    .field_count = COUNT(fields),
};

enum tn_status tn_package_document_check(struct tn_json root, struct tn_findings *findings, struct tn_doc_marks *marks)
{
    return tn_doctype_check_marked(root, &tn_package_document_type, TN_PHASE_DESCRIBE, findings, marks);
}
