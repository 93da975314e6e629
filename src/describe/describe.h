/*
 * Description: what the bytes mean, as one plain struct; filled by a dialect (dialect/ *.c, one file per convention, one
 * row in the table of describe.c). Every value that changes an answer is also a fact with its origin and rule.
 * Nothing after this stage opens a configuration file.
 *
 * Immutable once made. All strings live in its arena. The inventory must outlive it.
 */
#ifndef TN_DESCRIBE_DESCRIBE_H
#define TN_DESCRIBE_DESCRIBE_H

#include "describe/capabilities.h"
#include "describe/generation.h"
#include "describe/hardware.h"
#include "describe/head.h"
#include "describe/hints.h"
#include "describe/multi_vector.h"
#include "describe/pooling.h"
#include "describe/schema.h"
#include "describe/standard/cache_deps.h"
#include "describe/standard/standard.h"
#include "package/onnx.h"
#include "package/package.h"

enum tn_origin { TN_FROM_FILE, TN_FROM_DEFAULT, TN_FROM_USER, TN_FROM_STRUCTURE };

struct tn_fact {
    struct tn_str name;    /* "encoder.hidden_size", "module.1.pooling_mode", "tokenizer.truncation_side" */
    struct tn_str value;   /* JSON text */
    enum tn_origin origin;
    struct tn_str file;    /* origin file; for defaults "default of schema NAME/1" */
    struct tn_str pointer; /* JSON pointer, tensor name or "" */
    struct tn_str rule;    /* "transformers.config/1", "st.pooling.flags/1" ... */
    bool descriptive;      /* kept for people; not part of a fingerprint */
};

enum tn_module_kind {
    TN_MODULE_TRANSFORMER,
    TN_MODULE_POOLING,
    TN_MODULE_DENSE,
    TN_MODULE_LAYER_NORM,
    TN_MODULE_NORMALIZE,
    TN_MODULE_SPLADE /* the numbers of a head over the vocabulary, pooled to one sparse vector */
};

/*
 * One step of the chain, in order. A module that does nothing at inference (Dropout) is a fact and no entry here, so
 * `index` (the position in modules.json) may have gaps.
 */
struct tn_module {
    enum tn_module_kind kind;
    uint32_t index;
    bool on_tokens;       /* works on each token's row: Dense or Normalize before Pooling; the Transformer itself */
    struct tn_str path;   /* folder inside the package, "" for the root */
    uint64_t in_features, out_features;
    /* pooling */
    enum tn_pooling pooling[TN_POOLINGS];
    uint32_t pooling_count;
    bool include_prompt;
    /* dense */
    bool bias;
    struct tn_str activation; /* normalised: "identity", "tanh", "relu", "gelu", "gelu_tanh", "sigmoid", "silu" ... */
    bool residual;            /* y = act(x W^T + b) + x, or + x R^T when residual_weight is given (widths differ) */
    const struct tn_tensor_info *residual_weight; /* [out_features, in_features] */
    /* layer norm */
    double eps;
    /* splade: sum over the tokens, else the largest; log(1 + x) taken twice, else once */
    bool sum, twice;
    /* dense: linear.weight [out, in], linear.bias [out]; layer norm: norm.weight [dim], norm.bias [dim] */
    const struct tn_tensor_info *weight, *bias_tensor;
};

struct tn_prompt {
    struct tn_str name, text;
};

/* A component that a family implements. */
struct tn_component {
    struct tn_str name;          /* "encoder" */
    const struct tn_schema *schema; /* the family's table, matched by model_type and architectures */
    struct tn_str model_type, architecture; /* as found */
    struct tn_value *values;     /* one per schema field, aliases resolved, defaults filled */
    struct tn_str document;      /* that states the values */
    struct tn_str values_at;     /* pointer of the object that holds them by their names; "": they stand at their own pointers */
    const struct tn_variant *variant; /* tensors */
    struct tn_str folder;
};

/* A value that a graph hands from one call to the next: what comes out of `output` is what the next call needs at `input`. */
struct tn_graph_state {
    struct tn_str name, input, output; /* no output: the graph only reads it, and every call gets what the first one got */
    uint32_t in, out;                  /* indices of inputs and of the view's outputs; TN_NO_PORT: none */
};

enum { TN_NO_PORT = UINT32_MAX };

/* What a declared contract says of an input of a graph. Inputs of one name are fed by one value. */
struct tn_graph_input {
    const struct tn_std_contract *contract; /* NULL: nothing */
    struct tn_json value; /* a scalar or a list of scalars, for whoever gives none; absent: somebody must */
    struct tn_str name;   /* in the workflow, of what feeds it; "": nothing does */
    bool closed;          /* no caller may give it */
    bool has_minimum, has_maximum;
    double minimum, maximum; /* of every element, inclusive */
    uint64_t most_tokens;    /* most of the last axis; 0: not stated */
};

/* What a declared contract publishes: a value of the graph under the workflow's name. */
struct tn_graph_result {
    struct tn_str name;
    uint32_t out; /* of the view's outputs */
    const struct tn_std_contract *contract;
};

/*
 * How a graph takes texts: indices of its inputs and of the view's outputs by the role that was settled for them
 * (roles.h), TN_NO_PORT where it has none.
 */
struct tn_graph_texts {
    uint32_t ids, mask, types, positions; /* [batch, sequence] each */
    uint32_t hidden, logits;              /* [batch, sequence, width]; logits of a whole text [batch, width] */
};

/* The computation that a package carries itself. */
struct tn_graph_facts {
    const struct tn_package_file *file;
    struct tn_onnx_view *view; /* owned by the description; of the file, headers alone */
    const struct tn_onnx_port **inputs; /* [input_count] what a caller may feed, in the order of the file */
    uint32_t input_count;
    struct tn_graph_state *states; /* that the package declares; a graph alone says nothing of them */
    uint32_t state_count;
    /* Of a declared contract; NULL, both of them: there is none, and whoever names a port may give and have it. */
    struct tn_graph_input *said_in; /* [input_count] */
    struct tn_graph_result *results; /* what comes out when nobody names anything */
    uint32_t result_count;
    const struct tn_graph_texts *texts; /* NULL: the package says nothing of texts, or the description has no component */
};

/* Where the stages of the tokenizer come from; the rule of the reference, see docs/DIALECTS.md, "Tokenizer". */
enum tn_tokenizer_source {
    TN_TOKENIZER_FILE,  /* tokenizer.json as it stands */
    TN_TOKENIZER_CLASS, /* vocabulary and added tokens of tokenizer.json, every other stage from the fields below */
    TN_TOKENIZER_VOCAB  /* vocab.txt, every other stage from the fields below */
};

/* The post-processor of TN_TOKENIZER_CLASS and TN_TOKENIZER_VOCAB. */
enum tn_tokenizer_template {
    TN_TEMPLATE_ONE_SEPARATOR,   /* cls A sep, cls A sep B sep; type 1 for B and the sep after it */
    TN_TEMPLATE_TWO_SEPARATORS, /* cls A sep, cls A sep sep B sep; type 0 everywhere */
};

/*
 * Tokenizer facts; the pipeline itself is built by src/text from the files named here. For TN_TOKENIZER_CLASS and
 * TN_TOKENIZER_VOCAB the stages are those of the class: BertNormalizer(clean_text, tokenize_chinese_chars,
 * strip_accents, do_lower_case), BertPreTokenizer, WordPiece("##", unk_token, 100 characters), the template.
 */
struct tn_tokenizer_facts {
    bool present;
    bool refused; /* some blocker of the description concerns the tokenizer: it must not be built */
    enum tn_tokenizer_source source;
    enum tn_tokenizer_template pair_template;
    bool lower_case_first; /* a Lowercase stage stands before the whole normaliser (do_lower_case of the module) */
    bool type_ids;         /* the model is given the type ids; false: it sees type 0 everywhere */
    uint64_t types[2];     /* one more than the largest type id of a text, of a pair; 0: not known */
    bool clean_up_spaces;  /* texts made of tokens lose blanks before punctuation (clean_up_tokenization_spaces) */
    struct tn_str tokenizer_json;   /* path, or "" */
    struct tn_str vocab_txt;        /* path, or "": the fallback rule */
    struct tn_str tokenizer_config; /* path, or "" */
    struct tn_str special_tokens_map;
    struct tn_str tokenizer_class;
    /* Resolved from tokenizer_config.json with the class's published defaults. "" when there is no such token. */
    bool do_lower_case, tokenize_chinese_chars;
    bool strip_accents_set, strip_accents; /* unset: follows do_lower_case */
    struct tn_str unk_token, cls_token, sep_token, pad_token, mask_token;
    struct tn_str padding_side, truncation_side; /* "right" / "left" */
    bool model_max_length_set;      /* false: absent or "not a size" (1e30 and the like) */
    uint64_t model_max_length;
    bool truncation_set;            /* tokenizer.json states a truncation, which the reference replaces on every call */
    uint64_t truncation_max_length;
};

/*
 * Something that the package's own documents state and the contract does not: what somebody accepted to lose, now (of an
 * import) or when the package was described.
 */
enum tn_loss_kind { TN_LOSS_DROPPED, TN_LOSS_UNKNOWN };

struct tn_loss {
    enum tn_loss_kind kind;
    struct tn_str file, pointer;
    struct tn_str reason;
};

struct tn_description {
    const struct tn_inventory *inv;
    struct tn_arena arena;
    struct tn_str dialect, dialect_version; /* "sentence_transformers", "1" */
    const struct tn_variant *variant;
    struct tn_component *components;
    uint32_t component_count;
    /*
     * The package's weights are a graph; NULL: they are not. A component beside it is computed by the graph, whose inputs
     * and outputs are texts' (graph->texts); without one the graph is called with tensors and with nothing else.
     */
    struct tn_graph_facts *graph;
    /*
     * Why documents of a convention beside the graph do not make it a component, or make it one that generates, which nobody
     * does: blockers of every task but `tensor`.
     */
    struct tn_findings texts;
    struct tn_head *head; /* behind the component, when the convention runs it; NULL: the encoder's rows are the end */
    uint64_t max_active_dims; /* most terms of a sparse vector that are kept; 0: not stated */
    struct tn_multi_vector *multi; /* NULL: the package does not give several vectors per text */
    struct tn_tokenizer_facts tokenizer;
    struct tn_module *modules;
    uint32_t module_count;
    struct tn_str chain_document; /* the document that lists the modules, or "" */
    struct tn_prompt *prompts;
    uint32_t prompt_count;
    struct tn_str default_prompt; /* name, or "" */
    /* "cosine", "dot", "euclidean", "manhattan", of several vectors "maxsim", "meanmaxsim"; "" when not stated */
    struct tn_str similarity;
    /* Longest input in tokens, special tokens included; the smallest of what the package states. 0: not stated. */
    uint64_t max_seq_length;
    uint64_t truncate_dim; /* 0: not stated */
    struct tn_json_doc contract; /* the package's own inference_metadata; zeroed when it has none */
    struct tn_json_doc content;  /* its own tenon_package.json, of this version; zeroed without one */
    struct tn_standard standard; /* the contract, typed; zeroed without one, or when its shape does not hold */
    struct tn_str contract_identity; /* of a declared contract without a fault of its own, else "" */
    struct tn_std_dependency *dependencies; /* what a cached result of its workflow depends on */
    size_t dependency_count;
    struct tn_capability_need *capabilities; /* required: stated by the package, or derived from its structure */
    uint32_t capability_count;
    struct tn_hint_list hints; /* of the package's documents and of its model files */
    struct tn_hint_layers hint_layers;
    struct tn_hardware hardware;
    struct tn_generation generation;
    struct tn_fact *facts;
    uint32_t fact_count;
    struct tn_findings findings; /* all problems of the description; blockers mean it must not run */
    struct tn_str *descriptive;  /* pointers that the caller asserted and that were used */
    uint32_t descriptive_count;
    struct tn_loss *losses; /* first what is dropped or unknown, in the order of the document, then what the form cannot say */
    uint32_t loss_count;
};

/*
 * What building a tokenizer shows. The builder belongs to a layer above and comes in by the options: whatever would make
 * a load fail, or every request, is found when the package is described.
 */
struct tn_tokenizer_judgement {
    const struct tn_str *words; /* to be looked for in the vocabulary */
    size_t word_count;
    bool *known;                /* [word_count] the answers */
    uint64_t special[2];        /* tokens around one text, and around a pair */
};

/*
 * Builds the description's tokenizer and lets it go again. `file`: its tokenizer.json, parsed; absent: the vocabulary is
 * vocab.txt. What is wrong becomes findings, all of it. Fails only without memory or on a cancelled read.
 */
typedef enum tn_status tn_judge_tokenizer(const struct tn_description *d, struct tn_json file, struct tn_tokenizer_judgement *j,
                                          struct tn_findings *findings, struct tn_error *err);

struct tn_describe_options {
    const char *variant; /* NULL: the only one */
    const char *const *descriptive;
    size_t descriptive_count;
    bool accept_loss; /* of fields that an import cannot carry; without it each of them refuses the package */
    const struct tn_schema *const *schemas; /* of the registered families */
    size_t schema_count;
    tn_judge_tokenizer *judge; /* NULL: nobody builds tokenizers */
};

/*
 * Chooses the dialect by evidence and runs it. Problems become findings of the description, a file over a limit among them:
 * the call itself fails only without memory or on a cancelled read. A package whose container no provider reads still gets a
 * description with a blocker that says so.
 */
enum tn_status tn_describe(const struct tn_inventory *inv, const struct tn_describe_options *options,
                           struct tn_description **out, struct tn_error *err);
void tn_description_free(struct tn_description *d);

/* Value of a component by normalised name; an absent optional value has .present false. Never NULL for a schema name. */
const struct tn_value *tn_component_value(const struct tn_component *c, const char *name);
/* Tokens for which the configuration has positions; 0: it does not say. *hard: more would be read past a table's end. */
uint64_t tn_component_positions(const struct tn_component *c, bool *hard);
/*
 * Token types that the network tells apart: type_vocab_size, or 1 of a graph that takes none although the configuration has
 * several; 0: it has none, or the configuration says nothing.
 */
uint64_t tn_token_types(const struct tn_description *d);
/* Prompt by name, or NULL. */
const struct tn_prompt *tn_description_prompt(const struct tn_description *d, struct tn_str name);
const char *tn_module_kind_name(enum tn_module_kind kind);
/* Whether a module of this kind brings tensors: then its path is their folder. */
bool tn_module_has_weights(enum tn_module_kind kind);

/*
 * All that was noticed about the package for this description: of the inventory what concerns its weights, unless the
 * description tells the same of a field that names the file, then the description's own. `validate`, `check`, `plan` and
 * `describe` start from this one list. What is wrong with a convention's document beside a declared contract is a warning.
 */
void tn_description_findings(const struct tn_description *d, struct tn_findings *out);
/*
 * The list of `inspect`: the same with what concerns the weights of other variants, and a broken file as what it is,
 * whoever reads it.
 */
void tn_description_all_findings(const struct tn_description *d, struct tn_findings *out);

/* Members dialect, components, modules, prompts, tokenizer, facts of the inspect document, in the caller's object. */
void tn_description_write(struct tn_json_writer *w, const struct tn_description *d);
/* Of these, what the package does (no dialect, no facts), and the member "facts" alone. */
void tn_description_write_content(struct tn_json_writer *w, const struct tn_description *d);
void tn_description_write_facts(struct tn_json_writer *w, const struct tn_description *d);
/* The member "losses": [{"file", "pointer", "class", "reason"}], "class" being "dropped" or "unknown". */
void tn_description_write_losses(struct tn_json_writer *w, const struct tn_description *d);
/* Feeds what changes answers (no dialect, no origins, no descriptive facts) into a fingerprint. */
void tn_description_fingerprint(const struct tn_description *d, struct tn_sha256 *h);
/* The tokenizer's part of it; the digests of tokenizer.json and vocab.txt go in beside. */
void tn_tokenizer_fingerprint(const struct tn_tokenizer_facts *t, struct tn_sha256 *h);

#endif
