/*
 * One pass over both documents of a package and the files that they name: every fault of the table alone, and every two of
 * them together, each told once at its place and nothing else; what `validate` tells is what planning starts from.
 */
#define _GNU_SOURCE
#include "describe_kit.h"

#include "base/json_write.h"
#include "describe/serial.h"
#include "describe/validate.h"

#include <sys/stat.h>
#include <unistd.h>

#define CONTENT "tenon_package.json"
#define METADATA "inference_metadata.json"
#define EMBEDDER "/pipeline/workflow/components/embedder"
#define DENSE "2_Dense/model.safetensors"

enum kind {
    PLAIN,
    OF_FAMILY,     /* read by the table that /components/0/schema names */
    CONTRADICTION, /* of the contract with tenon_package.json: needs the component, and a value that holds */
    LEAVES,        /* the contract no longer leads to tenon_package.json */
    OF_TENSORS     /* told by a tensor of the module */
};

struct fault {
    const char *file, *from, *to; /* `from` NULL: the whole file is `to` */
    enum tn_status code;
    const char *at, *place; /* file and element of the finding */
    enum kind kind;
};

static const struct fault faults[] = {
    /* shape */
    {CONTENT, "\"modules\": [", "\"colour\": 1, \"modules\": [", TN_METADATA_INVALID, CONTENT, "/colour", PLAIN},
    {CONTENT, "\"mean\"", "\"median\"", TN_METADATA_INVALID, CONTENT, "/modules/1/pooling/0", PLAIN},
    {CONTENT, "\"kind\": \"normalize\"", "\"kind\": \"whiten\"", TN_METADATA_INVALID, CONTENT, "/modules/3/kind", PLAIN},
    {CONTENT, "\"similarity\": \"", "\"similarity\": \"x", TN_METADATA_INVALID, CONTENT, "/similarity", PLAIN},
    {CONTENT, "\"padding_side\": \"right\"", "\"padding_side\": \"up\"", TN_METADATA_INVALID, CONTENT,
     "/tokenizer/padding_side", PLAIN},
    {CONTENT, "\"truncate_dim\": 0", "\"truncate_dim\": \"0\"", TN_METADATA_INVALID, CONTENT, "/truncate_dim", PLAIN},
    {METADATA, "\"schema_version\"", "\"colour\": 1, \"schema_version\"", TN_METADATA_INVALID, METADATA, "/colour", PLAIN},
    {METADATA, "\"mode\": \"replace\"", "\"mode\": \"sideways\"", TN_METADATA_INVALID, METADATA,
     "/pipeline/workflow/steps/1/mode", PLAIN},
    /* meaning */
    {CONTENT, "\"bert/1\"", "\"bert/9\"", TN_UNKNOWN_FAMILY, CONTENT, "/components/0/schema", PLAIN},
    {CONTENT, "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"sine\"", TN_UNSUPPORTED_CONFIG, CONTENT,
     "/components/0/config/hidden_act", OF_FAMILY},
    {CONTENT, "\"pad_token_id\": 0", "\"pad_token_id\": 4096", TN_METADATA_INVALID, CONTENT,
     "/components/0/config/pad_token_id", OF_FAMILY},
    {CONTENT, "\"default_prompt\": \"\"", "\"default_prompt\": \"nobody\"", TN_METADATA_INVALID, CONTENT, "/default_prompt",
     PLAIN},
    {CONTENT, "\"undetermined\": []", "\"undetermined\": [{\"code\": \"unsupported_config\", \"reason\": \"nobody knows\"}]",
     TN_UNSUPPORTED_CONFIG, CONTENT, "/undetermined/0", PLAIN},
    {METADATA, "\"value\": \"text.embedding\"", "\"value\": \"text.other\"", TN_METADATA_INVALID, METADATA,
     "/pipeline/workflow/steps/1/value", PLAIN},
    {METADATA, "\"abi\": \"tenon.package\"", "\"abi\": \"other.package\"", TN_METADATA_INVALID, METADATA,
     EMBEDDER "/implementation/abi", LEAVES},
    {METADATA, "\"max_sequence_length\": ", "\"max_sequence_length\": 1", TN_METADATA_INVALID, METADATA,
     "/model/max_sequence_length", CONTRADICTION},
    {METADATA, "\"vocab_size\": ", "\"vocab_size\": 1", TN_METADATA_INVALID, METADATA, "/model/vocab_size", CONTRADICTION},
    /* files */
    {CONTENT, "\"variant\": \"safetensors\"", "\"variant\": \"gguf\"", TN_ARTIFACT_MISSING, CONTENT, "/components/0/variant",
     PLAIN},
    {CONTENT, "\"folder\": \"\"", "\"folder\": \"../other\"", TN_PATH_ESCAPE, CONTENT, "/components/0/folder", PLAIN},
    {CONTENT, "\"pooling\",\n      \"path\": \"\"", "\"pooling\", \"path\": \"/etc\"", TN_PATH_ESCAPE, CONTENT,
     "/modules/1/path", PLAIN},
    {CONTENT, "\"tokenizer_json\": \"tokenizer.json\"", "\"tokenizer_json\": \"other.json\"", TN_ARTIFACT_MISSING, CONTENT,
     "/tokenizer/tokenizer_json", PLAIN},
    {METADATA, "\"artifact\": \"tenon_package.json\"", "\"artifact\": \"../x.json\"", TN_PATH_ESCAPE, METADATA,
     EMBEDDER "/implementation/artifact", LEAVES},
    {METADATA, "\"artifact\": \"tenon_package.json\"", "\"artifact\": \"x.json\"", TN_ARTIFACT_MISSING, METADATA,
     EMBEDDER "/implementation/artifact", LEAVES},
    {CONTENT, "\"tokenizer_json\": \"tokenizer.json\"", "\"tokenizer_json\": \"../tokenizer.json\"", TN_PATH_ESCAPE, CONTENT,
     "/tokenizer/tokenizer_json", PLAIN},
    /* the contract names a file that is something else, whose content is no fault */
    {METADATA, "\"artifact\": \"tenon_package.json\"", "\"artifact\": \"tokenizer.json\"", TN_METADATA_INVALID, METADATA,
     EMBEDDER "/implementation/artifact", LEAVES},
    {METADATA, "\"artifact\": \"tenon_package.json\"", "\"artifact\": \"model.safetensors\"", TN_METADATA_INVALID, METADATA,
     EMBEDDER "/implementation/artifact", LEAVES},
    {METADATA, "\"artifact\": \"tenon_package.json\"", "\"artifact\": \"1_Pooling/config.json\"", TN_METADATA_INVALID, METADATA,
     EMBEDDER "/implementation/artifact", LEAVES},
    {METADATA, "\"artifact\": \"tenon_package.json\"", "\"artifact\": \"" METADATA "\"", TN_METADATA_INVALID, METADATA,
     EMBEDDER "/implementation/artifact", LEAVES},
    /* widths: what goes in and out of each module, whose neighbours are right */
    {CONTENT, "\"kind\": \"transformer\",\n      \"path\": \"\",\n      \"on_tokens\": true,\n      \"out_features\": 8",
     "\"kind\": \"transformer\", \"path\": \"\", \"on_tokens\": true, \"out_features\": 9", TN_METADATA_INVALID, CONTENT,
     "/modules/0/out_features", OF_FAMILY},
    {CONTENT, "\"in_features\": 8,\n      \"out_features\": 8", "\"in_features\": 9, \"out_features\": 8", TN_UNSUPPORTED_CONFIG,
     CONTENT, "/modules/1/in_features", OF_FAMILY},
    {CONTENT, "\"in_features\": 8,\n      \"out_features\": 8", "\"in_features\": 8, \"out_features\": 9", TN_METADATA_INVALID,
     CONTENT, "/modules/1/out_features", OF_FAMILY},
    {CONTENT, "\"in_features\": 8,\n      \"out_features\": 4", "\"in_features\": 9, \"out_features\": 4", TN_UNSUPPORTED_CONFIG,
     CONTENT, "/modules/2/in_features", OF_FAMILY},
    {CONTENT, "\"in_features\": 8,\n      \"out_features\": 4", "\"in_features\": 8, \"out_features\": 5", TN_TENSOR_MISMATCH,
     DENSE, "linear.weight", OF_TENSORS},
    {CONTENT, "\"in_features\": 4,\n      \"out_features\": 4", "\"in_features\": 5, \"out_features\": 4", TN_UNSUPPORTED_CONFIG,
     CONTENT, "/modules/3/in_features", OF_FAMILY},
    {CONTENT, "\"in_features\": 4,\n      \"out_features\": 4", "\"in_features\": 4, \"out_features\": 5", TN_METADATA_INVALID,
     CONTENT, "/modules/3/out_features", OF_FAMILY},
    {DENSE, NULL, "no tensors at all", TN_ARTIFACT_MALFORMED, DENSE, "", PLAIN},
};

enum { FAULTS = sizeof(faults) / sizeof(faults[0]) };

/* ---- the package ---------------------------------------------------------------------------------------------------- */

static struct {
    const char *name;
    char *bytes;
    size_t size;
} originals[] = {{CONTENT, NULL, 0}, {METADATA, NULL, 0}, {DENSE, NULL, 0}, {"config.json", NULL, 0}};

enum { ORIGINALS = sizeof(originals) / sizeof(originals[0]) };

/* A package with both documents beside the files of its convention. */
static bool begin(void)
{
    struct tn_buf metadata, content;
    struct tn_serial_options serial = {.yaml = false};
    kit_new();
    struct tn_description *d = kit_describe();
    if (!d) return false;
    tn_buf_init(&metadata, &alloc, 1 << 22);
    tn_buf_init(&content, &alloc, 1 << 22);
    bool ok = tn_description_documents(d, &serial, &metadata, &content, err) == TN_OK;
    if (ok) {
        kit_put(METADATA, metadata.data);
        kit_put(CONTENT, content.data);
    }
    tn_buf_release(&metadata);
    tn_buf_release(&content);
    kit_close(d);
    for (size_t i = 0; i < ORIGINALS; i++)
        originals[i].bytes = test_read_file(in_folder("%s", kit_name(originals[i].name)), &originals[i].size);
    return ok;
}

static void end(void)
{
    for (size_t i = 0; i < ORIGINALS; i++) free(originals[i].bytes);
}

static void restore(void)
{
    for (size_t i = 0; i < ORIGINALS; i++)
        put_bytes(kit_name(originals[i].name), (const unsigned char *)originals[i].bytes, originals[i].size);
}

static void make(const struct fault *f)
{
    if (f->from) kit_edit(f->file, f->from, f->to);
    else kit_put(f->file, f->to);
}

/* ---- what is told ---------------------------------------------------------------------------------------------------- */

static bool is_at(const struct tn_finding *finding, const struct fault *f)
{
    return finding->severity == TN_BLOCKER && finding->code == f->code && strcmp(finding->file, f->at) == 0 &&
           strcmp(finding->element, f->place) == 0;
}

static size_t times(const struct tn_findings *list, const struct fault *f)
{
    size_t n = 0;
    for (size_t i = 0; i < list->count; i++) n += is_at(&list->items[i], f);
    return n;
}

/* All that stands in the way of planning holds what the validation says. */
static void expect_listed(const struct tn_description *d, const struct tn_findings *verdict)
{
    struct tn_findings all;
    tn_findings_init(&all, &alloc, 200);
    tn_description_findings(d, &all);
    size_t before = all.count;
    for (size_t i = 0; i < verdict->count; i++) {
        struct tn_finding f = verdict->items[i];
        /* what is lacking here stands in the way, and is no fault of the documents */
        if (f.code == TN_MISSING_CAPABILITY && f.severity == TN_WARNING) f.severity = TN_BLOCKER;
        tn_findings_append(&all, &(struct tn_findings){.items = &f, .count = 1});
    }
    CHECK_INT(all.count, before);
    tn_findings_release(&all);
}

/* Validates the package as it stands: exactly these faults. */
static void expect(const struct fault *a, const struct fault *b)
{
    struct tn_validation v;
    struct tn_description *d = kit_describe();
    REQUIRE(d && tn_validate_package(d, &v, err) == TN_OK);
    size_t wanted = (a != NULL) + (b != NULL);
    if ((a && times(&v.findings, a) != 1) || (b && times(&v.findings, b) != 1) || v.findings.blockers != wanted) {
        test_fail(__FILE__, __LINE__, "%s (%s) and %s: %zu blockers", a ? a->place : "-", a ? a->to : "", b ? b->place : "-",
                  v.findings.blockers);
        print_findings(&v.findings);
    }
    expect_listed(d, &v.findings);
    tn_validation_release(&v);
    kit_close(d);
}

/* A width of module n, in a module that is refused as a whole or behind one of which nobody knows what it gives. */
static bool hides_width(const struct fault *a, const struct fault *b)
{
    static const char modules[] = "/modules/";
    size_t n = sizeof(modules) - 1;
    if (strncmp(b->place, modules, n) != 0 || !strstr(b->place, "_features")) return false;
    if (a->kind == OF_TENSORS) return b->place[n] == '3';
    if (strncmp(a->place, modules, n) != 0 || strstr(a->place, "_features")) return false;
    return a->place[n] == b->place[n] || (a->place[n] + 1 == b->place[n] && strstr(b->place, "in_features"));
}

/* Where the one cannot be judged because of the other, which is told. */
static bool hides(const struct fault *a, const struct fault *b)
{
    bool schema = strcmp(a->place, "/components/0/schema") == 0, folder = strcmp(a->place, "/components/0/folder") == 0;
    if (b->kind == OF_FAMILY && schema) return true;
    if (strcmp(b->place, "/components/0/variant") == 0 && folder) return true; /* of that folder */
    if (b->kind == OF_TENSORS && (strcmp(a->file, DENSE) == 0 || schema)) return true; /* nothing to hold it against */
    if (a->kind == LEAVES && b->kind == LEAVES && b->code == TN_METADATA_INVALID) return true; /* another document is meant */
    if (hides_width(a, b)) return true;
    return b->kind == CONTRADICTION && (schema || a->kind == LEAVES);
}

TEST(a_package_without_faults)
{
    REQUIRE(begin());
    expect(NULL, NULL);
    end();
}

TEST(each_fault_is_told_once)
{
    REQUIRE(begin());
    for (size_t i = 0; i < FAULTS; i++) {
        restore();
        make(&faults[i]);
        expect(&faults[i], NULL);
    }
    end();
}

TEST(any_two_faults_are_told_together)
{
    size_t pairs = 0;
    REQUIRE(begin());
    for (size_t i = 0; i < FAULTS; i++) {
        for (size_t k = i + 1; k < FAULTS; k++) {
            bool same = faults[i].from && faults[k].from && strcmp(faults[i].from, faults[k].from) == 0;
            if (same || hides(&faults[i], &faults[k]) || hides(&faults[k], &faults[i])) continue;
            restore();
            make(&faults[i]);
            make(&faults[k]);
            expect(&faults[i], &faults[k]);
            pairs++;
        }
    }
    CHECK(pairs > 250);
    end();
}

/* ---- beside a contract ------------------------------------------------------------------------------------------------ */

/* Faults of the convention's own files: told each at its place, and no reason to refuse what the contract says. */
static const struct {
    const char *file, *from, *to; /* `from` NULL: the whole file is `to` */
    enum tn_status code;
    const char *at, *place;
} beside[] = {
    {"config.json", NULL, "{\"model_type\": ", TN_ARTIFACT_MALFORMED, "config.json", ""},
    {"config.json", NULL, "[]", TN_UNSUPPORTED_CONFIG, "config.json", ""},
    {"config.json", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"sine\"", TN_UNSUPPORTED_CONFIG, "config.json", "/hidden_act"},
    {"config.json", "\"vocab_size\"", "\"vocab\": 1, \"vocab_size\"", TN_UNSUPPORTED_CONFIG, "config.json", "/vocab"},
    {"modules.json", NULL, "[", TN_ARTIFACT_MALFORMED, "modules.json", ""},
    {"modules.json", "\"path\": \"2_Dense\"", "\"path\": \"../2_Dense\"", TN_PATH_ESCAPE, "modules.json", "/2/path"},
    {"modules.json", "models.Dense", "models.Dance", TN_UNSUPPORTED_CONFIG, "modules.json", "/2"},
    {"tokenizer_config.json", NULL, "{", TN_ARTIFACT_MALFORMED, "tokenizer_config.json", ""},
    {"tokenizer_config.json", "BertTokenizer", "BirdTokenizer", TN_UNSUPPORTED_PROCESSOR, "tokenizer_config.json", "/tokenizer_class"},
    {"1_Pooling/config.json", "\"pooling_mode_cls_token\": false", "\"pooling_mode_cls_token\": 7", TN_UNSUPPORTED_CONFIG,
     "1_Pooling/config.json", "/pooling_mode_cls_token"},
};

static size_t warned(const struct tn_findings *list, size_t row)
{
    size_t n = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct tn_finding *f = &list->items[i];
        n += f->severity == TN_WARNING && f->code == beside[row].code && strcmp(f->file, beside[row].at) == 0 &&
             strcmp(f->element, beside[row].place) == 0;
    }
    return n;
}

/* Two of them are told together, and nothing is said of values that nobody could read. */
TEST(faults_of_the_convention_are_warnings)
{
    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
        struct tn_findings all;
        REQUIRE(begin());
        if (beside[i].from) kit_edit(beside[i].file, beside[i].from, beside[i].to);
        else kit_put(beside[i].file, beside[i].to);
        kit_put("sentence_bert_config.json", "{\"max_seq_length\": 16, \"do_lower_case\": 3}");
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        tn_findings_init(&all, &alloc, 200);
        tn_description_findings(d, &all);
        size_t contradictions = 0;
        for (size_t k = 0; k < all.count; k++)
            contradictions += strstr(all.items[k].message, "decides against the convention") != NULL;
        if (all.blockers || warned(&all, i) != 1 || contradictions) {
            test_fail(__FILE__, __LINE__, "%s %s: %zu blockers, %zu contradictions", beside[i].at, beside[i].to, all.blockers,
                      contradictions);
            print_findings(&all);
        }
        CHECK_INT(d->component_count, 1);
        CHECK_INT(d->module_count, 4);
        tn_findings_release(&all);
        kit_close(d);
        end();
    }
}

/* ---- in the place of a document --------------------------------------------------------------------------------------- */

enum thing { PIPE, LINK_OUT, LINK_NOWHERE, FOLDER, THINGS };

static void put_thing(const char *name, enum thing thing)
{
    const char *path = in_folder("%s", kit_name(name));
    kit_remove(name);
    switch (thing) {
    case PIPE: CHECK_INT(mkfifo(path, 0600), 0); break;
    case LINK_OUT: CHECK_INT(symlink("/etc/hostname", path), 0); break;
    case LINK_NOWHERE: CHECK_INT(symlink("nowhere", path), 0); break;
    case FOLDER: CHECK_INT(mkdir(path, 0700), 0); break;
    case THINGS: break;
    }
}

/* It is no document, and no absence of one either: one finding, and nobody follows a convention in its place. */
TEST(what_only_has_the_name_of_a_document)
{
    static const char *const names[] = {METADATA, CONTENT};
    for (unsigned i = 0; i < 2 * 2 * THINGS; i++) {
        struct tn_findings all;
        struct tn_validation v;
        const char *name = names[i & 1];
        bool alone = i & 2;
        REQUIRE(begin());
        if (alone) {
            kit_remove("modules.json");
            kit_remove("config.json");
        }
        put_thing(name, (enum thing)(i / 4));
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        CHECK_TSTR(d->dialect, "inference_metadata");
        tn_findings_init(&all, &alloc, 200);
        tn_description_findings(d, &all);
        REQUIRE(tn_validate_package(d, &v, err) == TN_OK);
        if (all.blockers != 1 || v.findings.blockers != 1) {
            test_fail(__FILE__, __LINE__, "%s as thing %u: %zu blockers, %zu of validation", name, i / 4, all.blockers, v.findings.blockers);
            print_findings(&all);
        }
        tn_validation_release(&v);
        tn_findings_release(&all);
        kit_close(d);
        end();
    }
}

/* ---- what is wholly unknown -------------------------------------------------------------------------------------------- */

/* Of another version nothing is known; the other document is judged all the same. */
TEST(another_version_says_nothing_of_its_neighbour)
{
    static const struct fault versions[] = {
        {CONTENT, "tenon.package/1", "tenon.package/2", TN_METADATA_INVALID, CONTENT, "/schema", PLAIN},
        {METADATA, "\"schema_version\": \"v1\"", "\"schema_version\": \"v2\"", TN_METADATA_INVALID, METADATA, "/schema_version",
         PLAIN},
        {METADATA, NULL, "{\"pipeline\": ", TN_ARTIFACT_MALFORMED, METADATA, "", PLAIN},
        {CONTENT, NULL, "{\"components\": ", TN_ARTIFACT_MALFORMED, CONTENT, "", PLAIN},
    };
    REQUIRE(begin());
    for (size_t i = 0; i < 4; i++) {
        restore();
        make(&versions[i]);
        expect(&versions[i], NULL);
        for (size_t k = 0; k < FAULTS; k++) {
            if (strcmp(faults[k].file, versions[i].file) == 0 || faults[k].kind == CONTRADICTION) continue;
            restore();
            make(&versions[i]);
            make(&faults[k]);
            expect(&versions[i], &faults[k]);
        }
    }
    end();
}

/* Where the contract leads to a list without a component, the list must say why; alone it may be that of a graph. */
TEST(a_document_that_names_nothing)
{
    static const char text[] =
        "{\"schema\": \"tenon.package/1\", \"components\": [], \"modules\": [], \"prompts\": {}, \"default_prompt\": \"\", "
        "\"similarity\": \"\", \"max_seq_length\": 0, \"truncate_dim\": 0, \"tokenizer\": null, \"descriptive\": [], "
        "\"undetermined\": []}";
    static const struct fault fault = {CONTENT, NULL, text, TN_METADATA_INVALID, CONTENT, "/components", PLAIN};
    struct tn_validation v;
    REQUIRE(begin());
    make(&fault);
    struct tn_description *d = kit_describe();
    REQUIRE(d && tn_validate_package(d, &v, err) == TN_OK);
    CHECK_INT(times(&v.findings, &fault), 1);
    tn_validation_release(&v);
    kit_close(d);
    REQUIRE(tn_validate_text(&ctx, &kit_options, TN_STR(CONTENT), tn_str_of(text), &v, err) == TN_OK);
    CHECK_INT(v.findings.count, 0);
    tn_validation_release(&v);
    end();
}

/* ---- what is broken has no description ---------------------------------------------------------------------------------- */

static enum tn_status written(struct tn_description *d, struct tn_buf *content)
{
    struct tn_buf metadata;
    struct tn_serial_options serial = {.yaml = true};
    tn_buf_init(&metadata, &alloc, 1 << 22);
    tn_buf_init(content, &alloc, 1 << 22);
    tn_error_clear(err);
    enum tn_status status = tn_description_documents(d, &serial, &metadata, content, err);
    tn_buf_release(&metadata);
    return status;
}

TEST(broken_files_are_refused_and_open_points_are_listed)
{
    struct tn_buf content;
    kit_new();
    kit_put("config.json", "{\"model_type\": ");
    kit_put(DENSE, "no tensors at all");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_INT(written(d, &content), TN_ARTIFACT_MALFORMED);
    CHECK_INT(err->count, 2);
    tn_buf_release(&content);
    kit_close(d);

    kit_new();
    kit_remove("model.safetensors");
    kit_put("1_Pooling/config.json", "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 40\n");
    d = kit_describe();
    REQUIRE(d);
    CHECK_INT(written(d, &content), TN_OK);
    CHECK_CONTAINS(content.data, "only something in its place");
    CHECK_CONTAINS(content.data, "\"file\": \"1_Pooling/config.json\"");
    CHECK_CONTAINS(content.data, "\"file\": \"\""); /* no weights: said of the package, not of where it stands */
    CHECK(!strstr(content.data, test_folder()));
    tn_buf_release(&content);
    kit_close(d);
}
