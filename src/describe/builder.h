/*
 * What a dialect works with while it fills a description: the description itself, a growing list of facts, the caller's
 * assertions and one sticky failure. Internal to src/describe.
 *
 * Problems of the package are findings. Only lost memory or a cancelled read is a failure: it is remembered here, every
 * later call does nothing, and tn_describe returns it.
 */
#ifndef TN_DESCRIBE_BUILDER_H
#define TN_DESCRIBE_BUILDER_H

#include "base/doctype.h"
#include "base/json.h"
#include "base/nearest.h"
#include "describe/describe.h"

enum tn_assertion { TN_ASSERTION_UNUSED, TN_ASSERTION_REFUSED, TN_ASSERTION_USED };

/* The tokenizer.json that was read last: several readers look at it, and it is the largest document of a package. */
struct tn_tokenizer_file {
    const struct tn_package_file *file; /* NULL: none */
    struct tn_json_doc doc;
};

struct tn_builder {
    const struct tn_inventory *inv;
    const struct tn_describe_options *options;
    struct tn_description *d;
    struct tn_alloc *alloc;
    struct tn_fact *facts; /* moves into the description's arena at the end */
    size_t fact_count, fact_cap;
    enum tn_assertion *assertions; /* one per options->descriptive */
    struct tn_error *scratch;      /* of reads whose failure becomes a finding */
    const struct tn_doc_marks *marks; /* of tenon_package.json while it is read: what its table refused; else NULL */
    struct tn_error *err;          /* the caller's */
    bool over_graph; /* a component's weights may be a graph (dialect/graph_texts.c): dialects of bare weights are not asked */
    bool alone; /* a document without its package: nothing is said of files */
    struct tn_tokenizer_file own_tokenizer;
    struct tn_tokenizer_file *tokenizer; /* the own one, or that of the builder that this one is compared with */
    enum tn_status failed;
};

/* ---- builder.c -------------------------------------------------------------------------------------------------- */

enum tn_status tn_builder_init(struct tn_builder *b, const struct tn_inventory *inv,
                               const struct tn_describe_options *options, struct tn_error *err);
/* Facts and assertions into the description; afterwards b->failed tells whether all of it is there. */
void tn_builder_finish(struct tn_builder *b);
void tn_builder_release(struct tn_builder *b);

/* Lost memory: remembers it. */
void tn_builder_no_memory(struct tn_builder *b);
/* Copies into the description; an empty string after a failure. */
struct tn_str tn_builder_str(struct tn_builder *b, struct tn_str s);
struct tn_str tn_builder_join(struct tn_builder *b, struct tn_str folder, const char *name);
/* Zeroed array in the description's arena, NULL after a failure. */
void *tn_builder_array(struct tn_builder *b, size_t count, size_t size);

/* A finding of phase "describe". The result may be NULL; all tn_at_* take that. */
#define tn_blocker(b, code, ...)                                                                   \
    tn_findings_add(&(b)->d->findings, TN_BLOCKER, (code), TN_PHASE_DESCRIBE, __VA_ARGS__)
#define tn_warning(b, code, ...)                                                                   \
    tn_findings_add(&(b)->d->findings, TN_WARNING, (code), TN_PHASE_DESCRIBE, __VA_ARGS__)
#define tn_note(b, code, ...)                                                                      \
    tn_findings_add(&(b)->d->findings, TN_NOTE, (code), TN_PHASE_DESCRIBE, __VA_ARGS__)

/* Turns the failure in b->scratch into a blocker, or into the description's failure when it is none of the package's. */
void tn_builder_report(struct tn_builder *b, enum tn_status status);
bool tn_builder_has(const struct tn_builder *b, struct tn_str path);
/*
 * Parses a document whose root must be of the given type. False when it is not listed (no finding: absence means
 * something else at each place) or does not read (a finding, or a failure). Release the document after true.
 */
bool tn_builder_json(struct tn_builder *b, struct tn_str path, enum tn_json_type root, struct tn_json_doc *doc);
/* The same for a tokenizer.json, which stays with the builder: parsed once however many look at it, and not released. */
bool tn_builder_tokenizer(struct tn_builder *b, struct tn_str path, struct tn_json *root);
/* The same for a document that may be YAML: by its name, .yaml or .yml, everything else is JSON. */
bool tn_builder_document(struct tn_builder *b, struct tn_str path, enum tn_json_type root, struct tn_json_doc *doc);

/* ---- facts.c ---------------------------------------------------------------------------------------------------- */

/* Name made by printf. Values longer than a line are replaced by their kind and size. */
void tn_fact_of_json(struct tn_builder *b, struct tn_json value, const char *rule, bool descriptive,
                     const char *name, ...) __attribute__((format(printf, 5, 6)));
/* `value` is JSON text; file and pointer say where it comes from. */
void tn_fact_of_text(struct tn_builder *b, enum tn_origin origin, struct tn_str file, struct tn_str pointer,
                     struct tn_str value, const char *rule, bool descriptive, const char *name, ...)
    __attribute__((format(printf, 8, 9)));
/* A published default; `schema` is the id of the table, e.g. "NAME/1". */
void tn_fact_of_default(struct tn_builder *b, const char *schema, const char *value, const char *rule,
                        const char *name, ...) __attribute__((format(printf, 5, 6)));
/* The same with a value that is plain text and becomes a JSON string. */
struct tn_str tn_json_quoted(struct tn_builder *b, struct tn_str plain);

/* ---- config_reader.c -------------------------------------------------------------------------------------------- */

struct tn_config_source {
    struct tn_json root; /* an object; absent: everything takes its default */
    const struct tn_schema *schema;
    const struct tn_schema_field *common; /* rows behind the schema's own, or NULL */
    size_t common_count;
    const char *prefix; /* of fact names: "encoder", "module.1" */
    const char *rule;
};

/*
 * Matches every member of the document against the tables and fills values[schema->field_count]; problems become
 * findings, all of them. Understood rows of type TN_TYPE_ANY are only recognised: their reader is elsewhere.
 */
void tn_config_read(struct tn_builder *b, const struct tn_config_source *source, struct tn_value *values);
/* Type, range and accepted values of an understood field; false after a finding at v. */
bool tn_config_check(struct tn_builder *b, const struct tn_schema_field *row, struct tn_json v, struct tn_value *out);
/* Value by normalised name among schema rows; NULL when the schema has no such name. */
const struct tn_value *tn_schema_value(const struct tn_schema *schema, const struct tn_value *values, const char *name);
/* Whether a row of the table, or one that all configurations share, has this pointer. */
bool tn_config_knows(const struct tn_schema *schema, struct tn_str pointer);
/* Whether the caller asserted this pointer of this file as descriptive; remembers the answer that was given. */
bool tn_asserted(struct tn_builder *b, struct tn_str file, struct tn_str pointer, bool allowed);
/* One finding for each assertion that was not used. */
void tn_assertions_check(struct tn_builder *b);
/* "field /x is not known": finding with place, value, remedy and, where one is near, the field that was meant. */
struct tn_finding *tn_unknown_field(struct tn_builder *b, struct tn_json value, struct tn_str pointer, const char *nearest);

/* ---- component.c ------------------------------------------------------------------------------------------------ */

/*
 * The one component of an encoder package: config.json of a folder by the family's schema, with the head that its class
 * names where the convention runs it (`headed`). NULL after a finding. *tokenizer_class is what the document says, or "".
 */
struct tn_component *tn_describe_encoder(struct tn_builder *b, struct tn_str folder, const struct tn_variant *variant,
                                         bool headed, struct tn_str *tokenizer_class);
/*
 * The variant to use, by the caller's id or because nothing else executable is in the folder; NULL after a finding. One
 * that no provider reads comes back all the same, with a blocker; so does one of another folder when `strict`.
 */
const struct tn_variant *tn_describe_variant(struct tn_builder *b, struct tn_str folder, bool strict);
/* What a package is judged by before its convention is known: the caller's variant, else an executable one, else the
 * first. No finding; NULL when there is none. */
const struct tn_variant *tn_describe_candidate(const struct tn_builder *b);

/* ---- component_check.c ------------------------------------------------------------------------------------------ */

/* What no single value can say, whichever document states them; problems become findings. */
void tn_component_check(struct tn_builder *b, const struct tn_component *c);
/* The place of a value: by its pointer in a convention's document, by its name in ours. */
void tn_at_value(struct tn_finding *f, const struct tn_component *c, const char *pointer, const char *name);
/* "NAME in DOCUMENT what": a blocker at that place. */
struct tn_finding *tn_refuse_value(struct tn_builder *b, const struct tn_component *c, const char *pointer,
                                   const char *name, const char *what);

/* ---- head_config.c ---------------------------------------------------------------------------------------------- */

/* The head that the component's class names, with its labels; into the description. NULL: there is none, or no memory. */
struct tn_head *tn_describe_head(struct tn_builder *b, struct tn_json root, const struct tn_component *c);
/* The head scores pairs; `activation` is the class of torch.nn that is put on its numbers, or absent. */
void tn_describe_scorer(struct tn_builder *b, struct tn_head *head, struct tn_json activation);

/* ---- architecture.c --------------------------------------------------------------------------------------------- */

/* Which registered schema a configuration asks for; NULL after a finding. Fills model_type and architecture. */
const struct tn_schema *tn_choose_schema(struct tn_builder *b, struct tn_json root, struct tn_component *c);

/* ---- tokenizer_check.c ---------------------------------------------------------------------------------------------- */

/* What a description states about its tokenizer, to be held against the files; both roads have it. */
struct tn_tokenizer_check {
    struct tn_builder *b;
    const struct tn_component *component; /* NULL: not known */
    struct tn_tokenizer_facts *facts;
    struct tn_json file;   /* root of tokenizer.json; absent: the vocabulary is vocab.txt */
    struct tn_json stated; /* the object of our own document that states the values; absent: a convention's documents do */
    bool as_it_stands;     /* the stages are those of tokenizer.json, whatever they are */
};

struct tn_tokenizer_vocabulary {
    uint64_t largest;
    struct tn_json place; /* of the largest id; absent: no ids */
    bool have_cls, have_sep;
    uint64_t cls_id, sep_id;
};
/* Ids of tokenizer.json against the embedding table. */
struct tn_tokenizer_vocabulary tn_tokenizer_scan_vocabulary(const struct tn_tokenizer_check *k);
/* The type of the model in tokenizer.json: "WordPiece", "BPE", "Unigram", or what else it says. */
struct tn_str tn_tokenizer_model_type(struct tn_json file);
/* Whether some stage of tokenizer.json turns a text into bytes. */
bool tn_tokenizer_has_bytes(struct tn_json root);
/* Special tokens of tokenizer.json: in its vocabulary, and where they are said to be. */
void tn_tokenizer_check_specials(const struct tn_tokenizer_check *k);
/* vocab.txt, with the special tokens that it lacks, against the embedding table. */
void tn_tokenizer_check_lines(const struct tn_tokenizer_check *k);
/* Where the stages are built: the tokens that they are built with are there. */
void tn_tokenizer_check_built(const struct tn_tokenizer_check *k);

/* tokenizer_judge.c: the finished description against its tokenizer as it is built; problems become findings. */
void tn_judge_description(struct tn_builder *b);

/* Token types of texts and pairs, by the post-processor of the file or by the class's template. */
void tn_tokenizer_count_types(const struct tn_tokenizer_check *k);

/* The well-formed added tokens of tokenizer.json, by id and by content. */
struct tn_added {
    uint64_t id;
    struct tn_str content;
    struct tn_json token;
};
struct tn_added_list {
    struct tn_added *items; /* by id */
    const struct tn_added **by_content;
    size_t count;
};
/* False without memory, which is remembered. */
bool tn_added_list_init(struct tn_added_list *list, struct tn_builder *b, struct tn_json root);
void tn_added_list_release(struct tn_added_list *list, struct tn_builder *b);
const struct tn_added *tn_added_by_id(const struct tn_added_list *list, uint64_t id);
const struct tn_added *tn_added_by_content(const struct tn_added_list *list, struct tn_str content);
/* "KEY is no added token" unless it is one, or "". */
void tn_tokenizer_need_added(const struct tn_tokenizer_check *k, const struct tn_added_list *list, struct tn_str token,
                             const char *key);

/* ---- tokenizer_facts.c, tokenizer_stages.c, tokenizer_vocabulary.c ------------------------------------------------ */

/* What else the tokenizer depends on. */
struct tn_tokenizer_hints {
    struct tn_str folder;
    const struct tn_component *component;
    struct tn_str config_class; /* tokenizer_class of config.json, or "" */
    bool module_lower_case;     /* do_lower_case of the Transformer module */
};
void tn_describe_tokenizer(struct tn_builder *b, const struct tn_tokenizer_hints *hints);

/* A tokenizer class of transformers whose stages this build knows. */
/* What a class builds where it does not take the stages of tokenizer.json. Only BERT's are written by this build. */
enum tn_tokenizer_stages { TN_STAGES_BERT, TN_STAGES_ROBERTA, TN_STAGES_XLM_ROBERTA, TN_STAGES_DEBERTA_V2 };

struct tn_tokenizer_class {
    const char *name;
    bool from_file; /* the class takes every stage from tokenizer.json */
    enum tn_tokenizer_stages stages;
    enum tn_tokenizer_template pair_template;
    bool type_ids;
    const char *unk, *cls, *sep, *pad, *mask; /* published defaults; NULL: none */
};
/* By name, "Fast" at its end being a spelling of the same class; NULL: not one of these. */
const struct tn_tokenizer_class *tn_tokenizer_class_of(struct tn_str name);
#define TN_TOKENIZER_CLASS_NAMES                                                                   \
    "BertTokenizer, DistilBertTokenizer, MPNetTokenizer, RobertaTokenizer, XLMRobertaTokenizer, "  \
    "DebertaV2Tokenizer or PreTrainedTokenizerFast"

/* Options in tokenizer_config.json of the classes that tokenizer_rebuilt.c knows. */
struct tn_tokenizer_options {
    bool add_prefix_space, trim_offsets, do_lower_case, split_by_punct;
    uint64_t unk_id;
};

/* The documents of one tokenizer while they are read; those that are absent are zeroed. */
struct tn_tokenizer_reader {
    struct tn_builder *b;
    const struct tn_tokenizer_hints *hints;
    const struct tn_tokenizer_class *class;
    struct tn_tokenizer_options options;
    struct tn_json file; /* root of tokenizer.json, which is the builder's */
    struct tn_json_doc config, map; /* tokenizer_config.json, special_tokens_map.json */
    struct tn_tokenizer_facts *facts;
};
/* Whether special_tokens_map.json overrides tokenizer_config.json: the older way of saving. */
bool tn_tokenizer_map_counts(const struct tn_tokenizer_reader *r);
/* Compares tokenizer.json with what the class would build and with the other documents; decides the source. */
void tn_tokenizer_compare(struct tn_tokenizer_reader *r);

/* The reader's documents for the checks that our own document goes through too. */
struct tn_tokenizer_check tn_tokenizer_check_of(struct tn_tokenizer_reader *r);

/* tokenizer_vocabulary.c */
void tn_tokenizer_compare_added(struct tn_tokenizer_reader *r);

/* tokenizer_stages.c: whether the post-processor of tokenizer.json is the class's, with the ids of the vocabulary. */
bool tn_tokenizer_same_template(struct tn_tokenizer_reader *r, struct tn_json root,
                                const struct tn_tokenizer_vocabulary *vocabulary);
/* tokenizer_rebuilt.c: refuses each stage that is not the one its class builds; true when all are. */
bool tn_tokenizer_compare_rebuilt(struct tn_tokenizer_reader *r, const struct tn_tokenizer_vocabulary *vocabulary);
void tn_tokenizer_refuse_lines(struct tn_tokenizer_reader *r);

/* Whether the model of tokenizer.json is one that the stages of BERT's classes go with; false after a finding. */
bool tn_tokenizer_is_word_pieces(const struct tn_tokenizer_check *k, const char *class);
/* Says that padding on the left is not done; nothing where it is not asked for. */
void tn_tokenizer_note_left_padding(struct tn_builder *b, const struct tn_tokenizer_facts *t, struct tn_str file,
                                    struct tn_str pointer);

/* The package has vocab.txt and no tokenizer.json. */
void tn_tokenizer_read_vocab_txt(struct tn_tokenizer_reader *r);
/* vocabulary_lines.c: vocab.txt, where there is one, against the vocabulary of tokenizer.json. */
void tn_tokenizer_compare_vocab_txt(struct tn_tokenizer_reader *r);

/* ---- length.c --------------------------------------------------------------------------------------------------- */

/* Statements about the longest input, in the order of the rule. */
struct tn_length_sources {
    bool module_set; /* max_seq_length of the Transformer module */
    uint64_t module;
    struct tn_str module_file;
    const struct tn_component *component;
};
void tn_describe_length(struct tn_builder *b, const struct tn_length_sources *sources);

/* ---- dialect/recognised.c --------------------------------------------------------------------------------------- */

/* "the weights are GGUF; no provider executes them". */
void tn_refuse_container(struct tn_builder *b, const struct tn_variant *variant);

/* ---- modules.c, sentence_config.c ------------------------------------------------------------------------------- */

/* What the package was saved as. OLDER: in a form whose list of modules leaves out what its code applies. */
enum tn_sentence_kind { TN_SENTENCE_DENSE, TN_SENTENCE_SCORER, TN_SENTENCE_SPARSE, TN_SENTENCE_MULTI, TN_SENTENCE_MULTI_OLDER };

enum tn_sentence_kind tn_describe_sentence_config(struct tn_builder *b);
void tn_describe_modules(struct tn_builder *b, struct tn_json list, enum tn_sentence_kind kind);
/* Then, behind the modules: what the same document says about the scores. */
void tn_describe_sentence_scorer(struct tn_builder *b, enum tn_sentence_kind kind);

/* ---- multi_vector.c -------------------------------------------------------------------------------------------- */

/* The class that Stanford's code saves: a bare encoder with a projection among its weights. */
#define TN_CLASS_STANFORD "HF_ColBERT"

/* The description's, zeroed when it is new; NULL without memory. */
struct tn_multi_vector *tn_describe_multi_vector(struct tn_builder *b);
/* Whether config_sentence_transformers.json has fields that only packages of several vectors have. */
bool tn_has_multi_vector_marks(struct tn_json root);
/* A finding about the first of them. */
void tn_refuse_multi_vector_marks(struct tn_builder *b, struct tn_json root);
/* Behind the prompts. */
void tn_read_multi_vector_config(struct tn_builder *b, struct tn_json root);
/* Lengths and expansion in the Transformer module's own file; refused where the package gives one vector. */
void tn_read_transformer_roles(struct tn_builder *b, struct tn_json root);
/* artifact.metadata and the projection, behind an encoder of that class and its tokenizer. */
void tn_describe_stanford(struct tn_builder *b, const struct tn_component *c);

#endif
