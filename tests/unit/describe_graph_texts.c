/* A component whose weights are a graph: what its configuration states is held against the graph's tables. */
#include "documents_kit.h"
#include "texts_kit.h"

static void edit_number(const char *folder, const char *key, unsigned long add)
{
    char path[TEXTS_PATH];
    size_t size;
    snprintf(path, sizeof(path), "%.1500s/config.json", folder);
    char *text = test_read_file(path, &size), *at = text ? strstr(text, key) : NULL;
    REQUIRE(at);
    char *number = strchr(at, ':') + 1, *end;
    unsigned long value = strtoul(number, &end, 10);
    char *out = malloc(size + 32);
    REQUIRE(out);
    int n = snprintf(out, size + 32, "%.*s %lu%s", (int)(number - text), text, value + add, end);
    test_write_file(path, out, (size_t)n);
    free(out);
    free(text);
}

static struct tn_description *describe_over_graph(const char *key, unsigned long add)
{
    char folder[TEXTS_PATH];
    if (!texts_over_graph("bert_mean_normalize", test_path("golden/packages/bert_mean_normalize"), folder, sizeof(folder))) return NULL;
    if (key) edit_number(folder, key, add);
    kit_options = (struct tn_describe_options){.schemas = kit_schemas, .schema_count = 3};
    return kit_describe_at(folder);
}

/* Why the documents make no component of the graph: blockers of every task but `tensor`. */
static void expect_reason(const char *key, const char *input)
{
    const struct kit_expected e = {TN_BLOCKER, TN_TENSOR_MISMATCH, "onnx/model.onnx", input, "another size than the configuration", "rows", key};
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "\"%s\"", key);
    struct tn_description *d = describe_over_graph(quoted, 1);
    REQUIRE(d);
    bool met = false;
    for (size_t i = 0; i < d->texts.count; i++) met = met || kit_matches(&d->texts.items[i], &e);
    CHECK(met);
    CHECK(d->graph && !d->graph->texts);
    kit_close(d);
}

TEST(tables_have_the_rows_that_the_configuration_states)
{
    struct tn_description *d = describe_over_graph(NULL, 0);
    REQUIRE(d && d->graph && d->graph->texts);
    KIT_CLEAN(d);
    CHECK_INT(d->texts.count, 0);
    kit_close(d);
    expect_reason("vocab_size", "input_ids");
    expect_reason("type_vocab_size", "token_type_ids");
}
