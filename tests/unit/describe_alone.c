/*
 * tenon_package.json without its package: whatever needs no file is found, and what holds beside its files holds alone.
 * And verdicts of documents that are no objects, of lists that are full, and of encoders whose tensors are not there.
 */
#include "documents_kit.h"

#include "describe/validate.h"
#include "family/family.h"

#include <dirent.h>

#define SEVERAL                                                                                                          \
    "{\"query_length\": 4, \"document_length\": 0, \"expansion\": {\"length\": 8, \"fixed\": false, \"attended\": true, "  \
    "\"kept\": true, \"token\": \"[MASK]\"}, \"skip\": [], \"skips_in_queries\": false, \"skips_in_documents\": false, "  \
    "\"markers\": []}"

static char *read_whole(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (f && text) text[fread(text, 1, (1 << 20) - 1, f)] = 0;
    if (f) fclose(f);
    return text;
}

/* The document of the kit's folder, alone. */
static bool validated(struct tn_validation *v)
{
    char *text = read_whole(in_folder("%s", kit_name(DOCUMENT)));
    tn_error_clear(err);
    bool ok = text && tn_validate_text(&ctx, &kit_options, TN_STR(DOCUMENT), tn_str_of(text), v, err) == TN_OK;
    free(text);
    if (!ok) test_fail(__FILE__, __LINE__, "no verdict: %s", err->primary.message);
    return ok;
}

struct fault {
    const char *from, *to, *pointer, *message;
};

TEST(whatever_needs_no_file_is_found_without_them)
{
    static const struct fault faults[] = {
        {"\"folder\": \"\"", "\"folder\": \"../x\"", "/components/0/folder", "leaves the package"},
        {"\"folder\": \"\"", "\"folder\": \"a//b\"", "/components/0/folder", "is not spelled"},
        {"\"name\": \"encoder\"", "\"name\": \"decoder\"", "/components/0/name", "no component"},
        {"\"schema\": \"bert/1\"", "\"schema\": \"nope/9\"", "/components/0/schema", "no family"},
        {"\"model_type\": \"bert\"", "\"model_type\": \"mpnet\"", "/components/0/model_type", "another family"},
        {"\"BertModel\"", "\"BertModels\"", "/components/0/architecture", "no class"},
        {"\"hidden_size\": 8", "\"hidden_size\": 9", NULL, "multiple of the heads"},
        {"\"hidden_size\": 8", "\"hidden_sizes\": 8", "/components/0/config/hidden_size", "is missing"},
        {"\"hidden_act\": \"gelu\"", "\"hidden_act\": \"sine\"", "/components/0/config/hidden_act", "does not implement"},
        {"\"hidden_act\"", "\"foo\": 1, \"hidden_act\"", "/components/0/config/foo", "unknown field"},
        {"\"pad_token_id\": 0", "\"pad_token_id\": 7", "/components/0/config/pad_token_id", "outside the vocabulary"},
        {"\"default_prompt\": \"\"", "\"default_prompt\": \"nobody\"", "/default_prompt", "names a prompt"},
        {"\"max_seq_length\": 16", "\"max_seq_length\": 99", "/max_seq_length", "position table"},
        {"\"truncate_dim\": 0", "\"truncate_dim\": 99", "/truncate_dim", "more than there is to cut"},
        {"\"max_active_dims\": null", "\"max_active_dims\": 5", "/max_active_dims", "sparse vectors"},
        {"\"similarity\": \"cosine\"", "\"similarity\": \"maxsim\"", "/similarity", "compares several"},
        {"\"multi_vector\": null", "\"multi_vector\": " SEVERAL, "/multi_vector/query_length", "cuts queries below"},
        {"\"index\": 3", "\"index\": 1", "/modules/3/index", "does not follow"},
        {"\"in_features\": 8", "\"in_features\": 9", NULL, "does not fit the module before"},
        {"\"out_features\": 8", "\"out_features\": 9", NULL, "another width than its component"},
        {"\"path\": \"2_Dense\"", "\"path\": \"\"", "/modules/2/path", "has the encoder's folder"},
        {"\"kind\": \"normalize\"", "\"kind\": \"transformer\"", NULL, ""},
        {"\"source\": \"file\"", "\"source\": \"class\"", NULL, "has no value"},
        {"\"source\": \"file\"", "\"source\": \"vocab\"", NULL, "its source does not read"},
        {"\"class\": \"BertTokenizer\"", "\"class\": \"Nobody\"", "/tokenizer/class", "no class of this build"},
        {"\"tokenizer_json\": \"tokenizer.json\"", "\"tokenizer_json\": \"/x\"", "/tokenizer/tokenizer_json", "leaves the package"},
        {"\"tokenizer_json\": \"tokenizer.json\"", "\"tokenizer_json\": \"\"", "/tokenizer/tokenizer_json", "names no file"},
        {"\"descriptive\": []", "\"descriptive\": [\"x\"]", "/descriptive/0", "names no field"},
        {"\"descriptive\": []", "\"descriptive\": [\"/hidden_size\"]", "/descriptive/0", "a field that is known"},
        {"\"undetermined\": []", "\"undetermined\": [{\"code\": \"zzz\", \"reason\": \"x\"}]", "/undetermined/0/code", "no code of a refusal"},
        {"\"head\": null", "\"head\": {\"kind\": \"masked_lm\", \"labels\": null, \"labels_stated\": false, \"problem\": \"\", "
                           "\"cross_encoder\": false, \"activation\": null}", "/head/kind", "not the head of the component's class"},
    };
    struct tn_validation v;
    REQUIRE(documents_alone() && validated(&v));
    if (v.findings.count) test_fail(__FILE__, __LINE__, "the document holds, and does not alone"), print_findings(&v.findings);
    tn_validation_release(&v);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        const struct fault *f = &faults[i];
        bool found = false;
        REQUIRE(documents_alone());
        kit_edit(DOCUMENT, f->from, f->to);
        if (!validated(&v)) continue;
        for (size_t k = 0; k < v.findings.count; k++) {
            const struct tn_finding *x = &v.findings.items[k];
            found |= x->severity == TN_BLOCKER && (!f->pointer || strcmp(x->element, f->pointer) == 0) && strstr(x->message, f->message) &&
                     strcmp(x->file, DOCUMENT) == 0;
        }
        if (!found) {
            test_fail(__FILE__, __LINE__, "%s: no \"%s\" at %s", f->to, f->message, f->pointer ? f->pointer : "-");
            print_findings(&v.findings);
        }
        tn_validation_release(&v);
    }
}

TEST(what_is_left_open_makes_no_document_wrong)
{
    struct tn_validation v;
    static const char nothing[] =
        "{\"schema\": \"tenon.package/1\", \"components\": [], \"modules\": [], \"prompts\": {}, \"default_prompt\": \"\", "
        "\"similarity\": \"\", \"max_seq_length\": 0, \"truncate_dim\": 0, \"tokenizer\": null, \"descriptive\": [], "
        "\"undetermined\": [%s]}";
    char text[512];
    kit_empty();
    snprintf(text, sizeof(text), nothing, "{\"code\": \"unknown_dialect\", \"reason\": \"x\"}");
    kit_put(DOCUMENT, text);
    REQUIRE(validated(&v));
    CHECK_INT(v.findings.count, 0);
    tn_validation_release(&v);
}

/* Of every committed package: what `describe` writes holds without its package. */
TEST(documents_of_all_packages_hold_alone)
{
    DIR *folder = opendir(test_path("golden/packages"));
    size_t count = 0;
    REQUIRE(folder != NULL);
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        struct tn_serial_options serial = {.yaml = true, .provenance = true};
        struct tn_buf metadata, content;
        struct tn_validation v;
        char path[512];
        if (e->d_name[0] == '.') continue;
        kit_empty();
        kit_options.schemas = tn_family_schemas(&kit_options.schema_count);
        snprintf(path, sizeof(path), "golden/packages/%s", e->d_name);
        struct tn_description *d = kit_describe_at(test_path(path));
        if (!d) continue;
        tn_buf_init(&metadata, d->inv->ctx->alloc, 1 << 22);
        tn_buf_init(&content, d->inv->ctx->alloc, 1 << 22);
        tn_error_clear(err);
        if (tn_description_documents(d, &serial, &metadata, &content, err) == TN_OK &&
            tn_validate_text(&ctx, &kit_options, TN_STR(DOCUMENT), tn_buf_str(&content), &v, err) == TN_OK) {
            if (v.findings.blockers) test_fail(__FILE__, __LINE__, "%s does not hold alone", e->d_name), print_findings(&v.findings);
            tn_validation_release(&v);
            count++;
        } else {
            test_fail(__FILE__, __LINE__, "%s: %s", e->d_name, err->primary.message);
        }
        tn_buf_release(&metadata);
        tn_buf_release(&content);
        kit_close(d);
    }
    closedir(folder);
    CHECK(count >= 60);
}

/* ---- the package's verdict -------------------------------------------------------------------------------------------- */

/* Whether the package's verdict is "not valid", with such a finding. */
static void expect_invalid(enum tn_status code, const char *part, const char *file, int line)
{
    struct tn_validation v;
    struct tn_description *d = kit_describe();
    if (!d) return;
    tn_error_clear(err);
    if (tn_validate_package(d, &v, err) != TN_OK) {
        test_fail(__FILE__, line, "no verdict: %s", err->primary.message);
    } else {
        if (v.findings.blockers == 0 || !find_in(&v.findings, code, part, file))
            test_fail(__FILE__, line, "valid, or no \"%s\"", part), print_findings(&v.findings);
        CHECK(!v.have_identity);
        tn_validation_release(&v);
    }
    kit_close(d);
}

TEST(documents_that_are_no_objects_make_no_package_valid)
{
    static const char *const texts[] = {"null", "[]", "\"x\"", "5"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        REQUIRE(documents_alone());
        kit_put(CONTRACT, texts[i]);
        expect_invalid(TN_METADATA_INVALID, "is not a YAML object", CONTRACT, __LINE__);
        /* and what is wrong with the other document is told beside it */
        kit_edit(DOCUMENT, "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"sine\"");
        expect_invalid(TN_UNSUPPORTED_CONFIG, "does not implement", DOCUMENT, __LINE__);
        REQUIRE(documents_alone());
        kit_put(DOCUMENT, texts[i]);
        expect_invalid(TN_METADATA_INVALID, "is not a JSON object", DOCUMENT, __LINE__);
        REQUIRE(documents_alone());
        kit_put("execution_hints.json", texts[i]);
        expect_invalid(TN_METADATA_INVALID, "is not a JSON object", "execution_hints.json", __LINE__);
    }
}

/* A list that is full has lost no memory: there is a verdict, and it says that it does not know all. */
TEST(a_full_list_of_findings_is_no_lack_of_memory)
{
    static const char invoke[] = "    - kind: invoke\n      component: embedder\n      inputs:\n        text: request.text\n"
                                 "      outputs:\n        embedding: more%u.embedding\n";
    char steps[2048] = "    steps:\n";
    REQUIRE(documents_alone());
    for (unsigned i = 0; i < 6; i++) {
        char one[256];
        snprintf(one, sizeof(one), invoke, i);
        strcat(steps, one);
    }
    kit_edit(CONTRACT, "    steps:\n", steps);
    size_t most = (size_t)ctx.limits.findings;
    ctx.limits.findings = 3;
    expect_invalid(TN_RESOURCE_LIMIT, "more findings than are listed", NULL, __LINE__);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_INT(d->findings.count, 3);
    CHECK(d->findings.dropped > 0 && !d->findings.starved);
    kit_close(d);
    ctx.limits.findings = most;
}
