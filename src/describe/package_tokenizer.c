/*
 * The tokenizer of tenon_package.json. The document is untrusted; its closed shape was checked before. What is checked
 * here is what a shape cannot say: that the files it names are there and of the source's kind, that each member is one
 * which the source reads, and that what it states agrees with the files and with the embedding table.
 *
 * The surprising decision: a member that the source does not read must hold nothing. It would be taken for the truth by
 * whoever reads the document, and contradict the file unseen.
 */
#include "describe/package_parts.h"

struct reader {
    struct tn_builder *b;
    struct tn_json object;
    struct tn_tokenizer_facts *facts;
    const struct tn_tokenizer_class *class; /* NULL: none is named */
};

static struct tn_finding *refuse(struct reader *r, const char *key, enum tn_status code, const char *what)
{
    return tn_package_refuse(r->b, tn_json_get(r->object, key), code, what);
}

/* ---- members -------------------------------------------------------------------------------------------------------- */

static bool read_source(struct reader *r)
{
    struct tn_str source = tn_package_text(r->b, r->object, "source");
    for (unsigned i = TN_TOKENIZER_FILE; i <= TN_TOKENIZER_VOCAB; i++) {
        if (!tn_str_is(source, tn_tokenizer_source_name((enum tn_tokenizer_source)i))) continue;
        r->facts->source = (enum tn_tokenizer_source)i;
        return true;
    }
    return false; /* the shape does not hold, and says so */
}

static void read_members(struct reader *r)
{
    struct tn_tokenizer_facts *t = r->facts;
    struct tn_str template = tn_package_text(r->b, r->object, "pair_template");
    if (tn_str_is(template, tn_tokenizer_template_name(TN_TEMPLATE_TWO_SEPARATORS)))
        t->pair_template = TN_TEMPLATE_TWO_SEPARATORS;
    for (size_t i = 0; i < tn_tokenizer_member_count; i++) {
        const struct tn_tokenizer_member *m = &tn_tokenizer_members[i];
        void *field = (char *)t + m->offset;
        bool good;
        if (m->kind == TN_TOKENIZER_BOOL || m->kind == TN_TOKENIZER_STAGE) *(bool *)field = tn_package_flag(r->object, m->name);
        else if (m->kind == TN_TOKENIZER_PATH) *(struct tn_str *)field = tn_package_path(r->b, r->object, m->name, &good);
        else *(struct tn_str *)field = tn_package_text(r->b, r->object, m->name);
    }
    t->strip_accents_set = tn_json_bool(tn_json_get(r->object, "strip_accents"), &t->strip_accents);
    t->model_max_length_set = tn_json_u64(tn_json_get(r->object, "model_max_length"), &t->model_max_length);
}

/* ---- what the source reads -------------------------------------------------------------------------------------------- */

/* The options of a class: each with a value where the class builds the stages, and with none where the file has them. */
static void check_stages(struct reader *r)
{
    static const char *const keys[] = {"pair_template", "do_lower_case", "tokenize_chinese_chars", "strip_accents"};
    bool of_file = r->facts->source == TN_TOKENIZER_FILE;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct tn_json v = tn_json_get(r->object, keys[i]);
        bool nothing = tn_json_type(v) == TN_JSON_NULL, may_be_null = i == 3;
        if (!tn_json_present(v) || (of_file ? nothing : !nothing || may_be_null)) continue;
        struct tn_finding *f = refuse(r, keys[i], TN_METADATA_INVALID,
                                      of_file ? "is an option of a class, and the stages are those of tokenizer.json"
                                              : "has no value, and the stages are built from it");
        tn_expected(f, of_file ? "null, with the source file" : "a value, or the source file");
        if (of_file) tn_remedy(f, "set it to null, or the source to class, which builds the stages from the options");
    }
}

static void check_file(struct reader *r, const char *key, struct tn_str path, bool wanted)
{
    struct tn_str stated;
    if (r->b->failed != TN_OK || !tn_json_str(tn_json_get(r->object, key), &stated)) return;
    if (stated.n > 0 && path.n == 0) return; /* refused as a path */
    if (path.n > 0 && !wanted) {
        tn_expected(refuse(r, key, TN_METADATA_INVALID, "names a file that its source does not read"), "\"\"");
    } else if (path.n > 0 && !r->b->alone && !tn_builder_has(r->b, path)) {
        tn_expected(refuse(r, key, TN_ARTIFACT_MISSING, "names a file that the package does not hold"), "the path of a file");
    } else if (path.n == 0 && wanted) {
        tn_expected(refuse(r, key, TN_METADATA_INVALID, "names no file, which its source needs"), "a path");
    }
}

/* The class is for people, but it must be one that goes with what the other members say. */
static void check_class(struct reader *r)
{
    const struct tn_tokenizer_facts *t = r->facts;
    if (t->tokenizer_class.n == 0) return;
    r->class = tn_tokenizer_class_of(t->tokenizer_class);
    bool of_class = t->source != TN_TOKENIZER_FILE;
    if (!r->class) {
        tn_expected(refuse(r, "class", TN_UNSUPPORTED_PROCESSOR, "is no class of this build"), "%s, or \"\"",
                    TN_TOKENIZER_CLASS_NAMES);
    } else if (of_class && (r->class->from_file || r->class->stages != TN_STAGES_BERT)) {
        tn_expected(refuse(r, "class", TN_METADATA_INVALID, "has no stages that are built from options"),
                    "a class whose stages are built, or the source file");
    } else if (of_class && r->class->pair_template != t->pair_template &&
               tn_json_is(tn_json_get(r->object, "pair_template"), TN_JSON_STRING)) {
        tn_expected(refuse(r, "pair_template", TN_METADATA_INVALID, "is not the template of the class"), "%s, by %s",
                    tn_tokenizer_template_name(r->class->pair_template), r->class->name);
    }
}

/* Where the stages are the file's, the class is that of its model all the same, or one that takes any file. */
static void check_model(struct reader *r, struct tn_json root)
{
    static const char *const models[] = {[TN_STAGES_BERT] = "WordPiece", [TN_STAGES_ROBERTA] = "BPE",
                                         [TN_STAGES_XLM_ROBERTA] = "Unigram", [TN_STAGES_DEBERTA_V2] = "Unigram"};
    if (r->facts->source != TN_TOKENIZER_FILE || !r->class || r->class->from_file) return;
    struct tn_str type = tn_tokenizer_model_type(root);
    const char *wanted = models[r->class->stages];
    if (tn_str_is(type, wanted)) return;
    struct tn_finding *f = refuse(r, "class", TN_METADATA_INVALID, "is not a class of the model in tokenizer.json");
    tn_expected(f, "a class of %.*s, or PreTrainedTokenizerFast; %s has a model of type %s", TN_FMT_ARG(type), r->class->name, wanted);
    tn_remedy(f, "set it to PreTrainedTokenizerFast, which takes every stage of the file");
}

/* ---- what the files say ----------------------------------------------------------------------------------------------- */

static void check_document(struct reader *r)
{
    struct tn_json root;
    struct tn_tokenizer_facts *t = r->facts;
    if (!tn_builder_tokenizer(r->b, t->tokenizer_json, &root)) return;
    struct tn_json vocabulary = tn_json_find(root, "/model/vocab");
    if (!tn_json_is(vocabulary, TN_JSON_OBJECT) && !tn_json_is(vocabulary, TN_JSON_ARRAY)) {
        tn_expected(refuse(r, "tokenizer_json", TN_METADATA_INVALID, "names a document without a vocabulary"),
                    "a tokenizer.json, which has /model/vocab");
    } else {
        struct tn_tokenizer_check check = {.b = r->b,
                                           .component = r->b->d->component_count ? r->b->d->components : NULL,
                                           .facts = t,
                                           .file = root,
                                           .stated = r->object,
                                           .as_it_stands = t->source == TN_TOKENIZER_FILE};
        if (t->source == TN_TOKENIZER_CLASS)
            (void)tn_tokenizer_is_word_pieces(&check, r->class ? r->class->name : "the source class");
        check_model(r, root);
        (void)tn_tokenizer_scan_vocabulary(&check);
        tn_tokenizer_check_specials(&check);
        tn_tokenizer_check_built(&check);
        tn_tokenizer_count_types(&check);
    }
}

static void check_lines(struct reader *r)
{
    struct tn_tokenizer_check check = {.b = r->b,
                                       .component = r->b->d->component_count ? r->b->d->components : NULL,
                                       .facts = r->facts,
                                       .stated = r->object};
    tn_tokenizer_check_lines(&check);
    tn_tokenizer_check_built(&check);
    tn_tokenizer_count_types(&check);
}

void tn_package_read_tokenizer(struct tn_builder *b, struct tn_json object)
{
    struct tn_tokenizer_facts *t = &b->d->tokenizer;
    struct reader r = {.b = b, .object = object, .facts = t};
    size_t before = b->d->findings.blockers;
    t->present = true;
    bool known = read_source(&r);
    read_members(&r);
    if (known) {
        bool lines = t->source == TN_TOKENIZER_VOCAB;
        check_stages(&r);
        check_file(&r, "tokenizer_json", t->tokenizer_json, !lines);
        check_file(&r, "vocab_txt", t->vocab_txt, lines);
        check_class(&r);
        if (b->failed == TN_OK && tn_builder_has(b, lines ? t->vocab_txt : t->tokenizer_json)) {
            if (lines) check_lines(&r);
            else check_document(&r);
        }
        struct tn_json side = tn_json_get(object, "padding_side");
        if (tn_json_present(side)) tn_tokenizer_note_left_padding(b, t, side.doc->file, TN_STR("/tokenizer/padding_side"));
    }
    t->refused = !known || b->d->findings.blockers > before;
}
