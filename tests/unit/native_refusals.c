/*
 * Refusals of binding and loading: by code, place and number. One fault is one finding, whatever follows from it.
 */
#include "native_fixture.h"

/* A copy of a tiny package with one file changed. */
static const char *copy_package(const char *name)
{
    static char folder[512];
    char command[2048];
    snprintf(folder, sizeof(folder), "%s/%s", test_folder(), name);
    snprintf(command, sizeof(command), "rm -rf '%s' && cp -r '%s/%s' '%s'", folder, test_path("golden/packages"), name, folder);
    if (system(command) != 0) test_skip("cp does not work here");
    return folder;
}

static void replace(const char *folder, const char *file, const char *old, const char *new)
{
    char path[1024];
    size_t n;
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    char *text = test_read_file(path, &n), *at = NULL;
    for (size_t i = 0; text && !at && i + strlen(old) <= n; i++) {
        if (memcmp(text + i, old, strlen(old)) == 0) at = text + i;
    }
    if (!at) {
        test_fail(__FILE__, __LINE__, "%s does not hold %s", path, old);
        return;
    }
    char *copy = malloc(n + strlen(new) + 1);
    size_t head = (size_t)(at - text), tail = n - head - strlen(old);
    memcpy(copy, text, head);
    memcpy(copy + head, new, strlen(new));
    memcpy(copy + head + strlen(new), at + strlen(old), tail);
    test_write_file(path, copy, head + strlen(new) + tail);
    free(copy);
    free(text);
}

/* Description blockers plus those of the provider; the first one of the provider goes to *first. */
static size_t blockers(const char *folder, struct tn_finding *first)
{
    struct fixture x;
    fixture_assess(&x, folder, "f32", 1);
    if (x.d && x.d->component_count && !x.assessment.provider) { /* the fixture stops at a refused description */
        x.request = (struct tn_component_request){.ctx = &x.ctx, .d = x.d, .component = &x.d->components[0], .first_module = 1,
                                                  .module_end = x.d->module_count, .numeric = "f32", .threads = 1,
                                                  .max_rows = 16, .batch_rows = 64, .batch_sequences = 16};
        CHECK_INT(tn_native_provider.assess(&tn_native_provider, &x.request, &x.assessment, x.err), TN_OK);
    }
    size_t count = x.assessment.findings.blockers;
    memset(first, 0, sizeof(*first));
    if (count) *first = *tn_findings_first_blocker(&x.assessment.findings);
    CHECK(x.assessment.decision != TN_ELIGIBLE);
    fixture_close(&x);
    return count;
}

TEST(no_heads_is_refused_by_the_description_and_divides_nothing)
{
    struct tn_finding f;
    const char *folder = copy_package("bert_mean_normalize");
    replace(folder, "config.json", "\"num_attention_heads\": 4", "\"num_attention_heads\": 0");
    CHECK_INT(blockers(folder, &f), 0); /* the description's blocker is the only one */
}

TEST(layers_that_are_not_there_are_one_finding)
{
    struct tn_finding f;
    const char *folder = copy_package("bert_mean_normalize");
    replace(folder, "config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 7");
    CHECK_INT(blockers(folder, &f), 1);
    CHECK_INT(f.code, TN_MISSING_TENSOR);
    CHECK_CONTAINS(f.message, "layers 2 to 6");
    CHECK_CONTAINS(f.remedy, "num_hidden_layers");
}

TEST(layers_that_are_too_many_are_one_finding)
{
    struct tn_finding f;
    const char *folder = copy_package("bert_mean_normalize");
    replace(folder, "config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1");
    CHECK_INT(blockers(folder, &f), 1);
    CHECK_INT(f.code, TN_UNEXPECTED_TENSOR);
    CHECK_CONTAINS(f.found, "16 such tensors");
}

TEST(one_renamed_tensor_is_missing_and_unexpected)
{
    struct tn_finding f;
    const char *folder = copy_package("bert_mean_normalize");
    replace(folder, "model.safetensors", "encoder.layer.0.output.dense.bias", "encoder.layer.0.output.dense.bIas");
    CHECK_INT(blockers(folder, &f), 2);
    CHECK_INT(f.code, TN_MISSING_TENSOR);
    CHECK_STR(f.element, "encoder.layer.0.output.dense.bias");
    CHECK_CONTAINS(f.message, "layer.0.output.bias");
}

TEST(cut_weights_have_no_consequences)
{
    struct tn_finding f;
    char path[1024];
    size_t n;
    const char *folder = copy_package("bert_mean_normalize");
    snprintf(path, sizeof(path), "%s/model.safetensors", folder);
    char *bytes = test_read_file(path, &n);
    test_write_file(path, bytes, n - 3);
    free(bytes);
    CHECK_INT(blockers(folder, &f), 0); /* inventory has said it */
}

TEST(a_wrong_shape_names_role_and_sizes)
{
    struct tn_finding f;
    const char *folder = copy_package("bert_mean_normalize");
    replace(folder, "config.json", "\"intermediate_size\": 64", "\"intermediate_size\": 63");
    CHECK_INT(blockers(folder, &f), 1); /* one number is wrong */
    CHECK_INT(f.code, TN_TENSOR_MISMATCH);
    CHECK_CONTAINS(f.message, "6 tensors whose shape does not fit intermediate_size");
    CHECK_CONTAINS(f.element, "layer.0.intermediate.dense.weight");
    CHECK_CONTAINS(f.expected, "63 (intermediate_size of config.json)");
}
