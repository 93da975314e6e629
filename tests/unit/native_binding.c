/*
 * Binding: each way in which tensors and architecture disagree is one refusal with code, file and tensor; and an
 * embedding table that was saved as its tied head alone is the same table, to the bit.
 */
#include "api_util.h"
#include "native_fixture.h"

static const char *copy_package(const char *name)
{
    static char folder[512];
    char command[2048];
    snprintf(folder, sizeof(folder), "%s/%s", test_folder(), name);
    snprintf(command, sizeof(command), "rm -rf '%s' && cp -r '%s/%s' '%s'", folder, test_path("golden/packages"), name, folder);
    if (system(command) != 0) test_skip("cp does not work here");
    return folder;
}

/* The file with the first occurrence of `old` replaced; `header`: the length in front of a safetensors header follows. */
static void replace(const char *folder, const char *file, bool header, const char *old, const char *new)
{
    char path[1024];
    size_t n, a = strlen(old), b = strlen(new);
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    char *text = test_read_file(path, &n), *at = NULL;
    for (size_t i = header ? 8 : 0; text && !at && i + a <= n; i++) {
        if (memcmp(text + i, old, a) == 0) at = text + i;
    }
    if (!at) {
        test_fail(__FILE__, __LINE__, "%s does not hold %s", path, old);
        free(text);
        return;
    }
    char *copy = malloc(n + b + 1);
    size_t head = (size_t)(at - text);
    memcpy(copy, text, head);
    memcpy(copy + head, new, b);
    memcpy(copy + head + b, at + a, n - head - a);
    uint64_t length = 0;
    for (unsigned i = 0; header && i < 8; i++) length |= (uint64_t)(unsigned char)text[i] << (8 * i);
    length = length + b - a;
    for (unsigned i = 0; header && i < 8; i++) copy[i] = (char)(length >> (8 * i));
    test_write_file(path, copy, n + b - a);
    free(copy);
    free(text);
}

static void rename_tensor(const char *folder, const char *old, const char *new)
{
    char from[256], to[256];
    snprintf(from, sizeof(from), "\"%s\":", old);
    snprintf(to, sizeof(to), "\"%s\":", new);
    replace(folder, "model.safetensors", true, from, to);
}

/* Exactly one blocker, with this code, about this tensor of model.safetensors. */
static void expect_one(const char *folder, enum tn_status code, const char *tensor, const char *message, const char *found,
                       int line)
{
    struct fixture x;
    CHECK(!fixture_assess(&x, folder, "f32", 1));
    const struct tn_finding *f = tn_findings_first_blocker(&x.assessment.findings);
    if (!f || x.assessment.findings.blockers != 1 || f->code != code || strcmp(f->element, tensor) != 0 ||
        strcmp(f->file, "model.safetensors") != 0 || f->element_kind != TN_ELEMENT_TENSOR || !strstr(f->message, message) ||
        !strstr(f->found, found)) {
        test_fail(__FILE__, line, "%zu blockers; the first: %s %s %s: %s; found %s", x.assessment.findings.blockers,
                  f ? tn_status_name(f->code) : "-", f ? f->file : "-", f ? f->element : "-", f ? f->message : "-",
                  f ? f->found : "-");
    }
    fixture_close(&x);
}

TEST(a_missing_tensor)
{
    const char *folder = copy_package("bert_options");
    rename_tensor(folder, "pooler.dense.bias", "pooler.dense.other"); /* to have something that is not read, too */
    expect_one(folder, TN_UNEXPECTED_TENSOR, "pooler.dense.other", "a tensor that family bert does not read", "f32 [16]", __LINE__);
    folder = copy_package("bert_options");
    rename_tensor(folder, "pooler.dense.bias", "qa_outputs.weight"); /* the name of a head's tensor; as long */
    expect_one(folder, TN_UNEXPECTED_TENSOR, "qa_outputs.weight", "a tensor of a head of family bert that is not run here", "f32 [16]",
               __LINE__);
    folder = copy_package("bert_options");
    rename_tensor(folder, "encoder.layer.0.attention.self.key.bias", "cls.key.bias");
    expect_one(folder, TN_MISSING_TENSOR, "encoder.layer.0.attention.self.key.bias", "no tensor for role layer.0.attention.key.bias",
               "none with this name", __LINE__);
}

TEST(two_names_of_one_tensor)
{
    const char *folder = copy_package("bert_options");
    rename_tensor(folder, "pooler.dense.bias", "embeddings.LayerNorm.gamma");
    expect_one(folder, TN_DUPLICATE_TENSOR, "embeddings.LayerNorm.weight", "under its name and its older name",
               "embeddings.LayerNorm.weight and embeddings.LayerNorm.gamma", __LINE__);
    folder = copy_package("bert_mlm_head");
    rename_tensor(folder, "cls.predictions.transform.dense.weight", "embeddings.word_embeddings.weight");
    expect_one(folder, TN_DUPLICATE_TENSOR, "bert.embeddings.word_embeddings.weight", "is there under two names",
               "embeddings.word_embeddings.weight and bert.embeddings.word_embeddings.weight", __LINE__);
}

TEST(weights_of_another_architecture)
{
    static const char header[] = "\x45\0\0\0\0\0\0\0{\"model.layers.0.w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}    \0\0\0\0";
    char path[1024];
    const char *folder = copy_package("bert_options");
    snprintf(path, sizeof(path), "%s/model.safetensors", folder);
    test_write_file(path, header, 8 + 0x45 + 4);
    expect_one(folder, TN_MISSING_TENSOR, "model.layers.0.w", "none of the tensors has a name that family bert knows",
               "1 tensors, the first is model.layers.0.w", __LINE__);
}

TEST(element_types_that_are_no_floats)
{
    const char *folder = copy_package("bert_options");
    replace(folder, "model.safetensors", true, "\"embeddings.LayerNorm.bias\":{\"dtype\":\"F32\"",
            "\"embeddings.LayerNorm.bias\":{\"dtype\":\"I32\"");
    expect_one(folder, TN_TENSOR_MISMATCH, "embeddings.LayerNorm.bias", "element type does not fit role embeddings.norm.bias",
               "i32 [16]", __LINE__);
}

/* ---- tied heads --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *package, *table, *head;
} tied[] = {
    {"bert_mlm_head", "bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"},
    {"distilbert_mlm_head", "distilbert.embeddings.word_embeddings.weight", "vocab_projector.weight"},
    {"mpnet_mlm_head", "mpnet.embeddings.word_embeddings.weight", "lm_head.decoder.weight"},
};

static size_t embed(const char *path, float *out, bool *is_tied)
{
    struct api a;
    tn_string text = api_string("the people of the world");
    tn_embed_request r = api_request(&text, 1);
    tn_execution *x;
    tn_event e = {0};
    tn_document *d;
    size_t length;
    if (!api_begin(&a, 2)) return 0;
    tn_package *package = api_open(&a, path);
    tn_plan *plan = package ? api_plan(&a, package) : NULL;
    tn_session *session = plan ? api_load(&a, plan) : NULL;
    if (!session || tn_plan_json(plan, &d, a.err) || tn_embed_start(session, &r, &x, a.err)) return 0;
    *is_tied = strstr(tn_document_text(d, &length), "tied by tie_word_embeddings") != NULL;
    tn_document_free(d);
    CHECK_INT(api_collect(x, &e, 1, a.err), TN_OK);
    memcpy(out, e.embedding, e.dimensions * sizeof(float));
    tn_execution_free(x);
    tn_session_free(session);
    tn_plan_free(plan);
    tn_package_free(package);
    api_end(&a);
    return e.dimensions;
}

TEST(a_table_that_was_saved_as_its_head)
{
    for (size_t i = 0; i < 3; i++) {
        float as_it_was[64] = {0}, from_head[64] = {1};
        bool by_head = false;
        const char *folder = copy_package(tied[i].package);
        size_t n = embed(folder, as_it_was, &by_head);
        CHECK(n > 0 && n <= 64 && !by_head);
        rename_tensor(folder, tied[i].table, tied[i].head);
        CHECK_INT(embed(folder, from_head, &by_head), n);
        CHECK(by_head && memcmp(as_it_was, from_head, n * sizeof(float)) == 0);
        /* not tied: the head's matrix is another one, and nothing takes the table's place */
        replace(folder, "config.json", false, "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
        expect_one(folder, TN_MISSING_TENSOR, tied[i].table, "no tensor for role embeddings.word",
                   "tie_word_embeddings is false", __LINE__);
        /* neither is there */
        folder = copy_package(tied[i].package);
        rename_tensor(folder, tied[i].table, i == 0 ? "cls.other" : i == 1 ? "vocab_transform.other" : "lm_head.other");
        expect_one(folder, TN_MISSING_TENSOR, tied[i].table, "no tensor for role embeddings.word", "none with this name", __LINE__);
    }
}
