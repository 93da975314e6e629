/* What a cached result depends on: derived, complete, and another when an adapter or an encoder's input goes. */
#define _GNU_SOURCE
#include "test.h"

#include "describe/standard/cache_deps.h"
#include "standard_util.h"

static struct tn_error err;

/* "kind name" lines, in order; "?" after what only controls. */
static void dependencies(const struct tn_json_doc *doc, char *out, size_t cap)
{
    struct tn_standard s;
    struct tn_std_dependencies deps;
    size_t n = 0;
    out[0] = 0;
    REQUIRE(tn_standard_read(&s, doc->alloc, tn_json_root(doc), &err) == TN_OK);
    REQUIRE(tn_standard_dependencies(&s, &deps, &err) == TN_OK);
    for (size_t i = 0; i < deps.count; i++)
        n += (size_t)snprintf(out + n, cap - n, "%s %.*s%s\n", tn_std_dependency_kind_name(deps.items[i].kind),
                              TN_FMT_ARG(deps.items[i].name), deps.items[i].control_only ? "?" : "");
    tn_std_dependencies_release(&deps);
    tn_standard_release(&s);
}

static void of_document(const char *name, const struct standard_change *change, char *out, size_t cap)
{
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0}, edited = {0};
    tn_alloc_init(&alloc);
    REQUIRE(standard_open(&doc, &alloc, name));
    if (change) {
        REQUIRE(standard_edit(&edited, &alloc, tn_json_root(&doc), change));
        dependencies(&edited, out, cap);
    } else {
        dependencies(&doc, out, cap);
    }
    tn_json_release(&edited);
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(a_chain_of_components)
{
    char found[4096];
    of_document("samples/04-whisper-encoder-decoder", NULL, found, sizeof(found));
    CHECK_STR(found, "component decoder\ncomponent encoder\ninput request.decoder_input_ids\ninput request.input_features\n");
}

TEST(loops_control_and_carry)
{
    char found[4096];
    of_document("samples/07-stable-diffusion-text-to-image", NULL, found, sizeof(found));
    CHECK_STR(found, "component decoder\ncomponent denoiser\ncomponent text_encoder\ninput request.input_ids\n"
                     "input request.latent\ninput request.max_iterations?\n");
}

TEST(adapters_and_their_selection)
{
    char found[4096], without[4096];
    const struct standard_change one = {"/adapters/artifacts/red", STANDARD_REMOVE, ""};
    const struct standard_change all = {"/adapters", STANDARD_REMOVE, ""};
    of_document("samples/10-lora-adapter-selection", NULL, found, sizeof(found));
    CHECK_STR(found, "component decoder\ncomponent overlay\nadapter blue\nadapter green\nadapter peft\nadapter red\n"
                     "input activations\ninput request.active\ninput request.adapter_counts\n"
                     "input request.adapter_scales\ninput request.adapter_segments\n");
    of_document("samples/10-lora-adapter-selection", &one, without, sizeof(without));
    CHECK(!strstr(without, "red") && strstr(without, "green") && strcmp(found, without) != 0);
    of_document("samples/10-lora-adapter-selection", &all, without, sizeof(without));
    CHECK_STR(without, "component decoder\ncomponent overlay\ninput activations\n");
}

TEST(an_encoders_input)
{
    char found[8192], without[8192];
    const struct standard_change gone = {"/pipeline/workflow/steps/5/inputs/image_features", STANDARD_REMOVE, ""};
    of_document("samples/21-shared-prefix-pixel-flow", NULL, found, sizeof(found));
    CHECK_CONTAINS(found, "component vision_encoder\n");
    CHECK_CONTAINS(found, "component image_preprocess\n");
    CHECK_CONTAINS(found, "input request.image\n");
    CHECK_CONTAINS(found, "input request.text_only?\n");
    of_document("samples/21-shared-prefix-pixel-flow", &gone, without, sizeof(without));
    CHECK(!strstr(without, "component vision_encoder") && !strstr(without, "input request.image\n"));
    CHECK_CONTAINS(without, "component decoder\n");
}

TEST(facts_beside_the_dataflow)
{
    char found[8192];
    const struct standard_change table = {"/pipeline/workflow/components/grammar_commit/cache_affects_state",
                                          STANDARD_ADD, "[\"grammar.parser_table\"]"};
    of_document("packages/speculative", &table, found, sizeof(found));
    CHECK_CONTAINS(found, "external_state grammar.parser_table\n");
    CHECK_CONTAINS(found, "constraint_language gbnf\n");
    CHECK_CONTAINS(found, "component grammar_clone\n");
    const struct standard_change profile = {"/profiles", STANDARD_ADD,
                                            "{\"a\": {\"kind\": \"generation\", \"version\": \"1\", \"generation_affecting\": true}, \"b\": {\"kind\": \"generation\", \"version\": \"1\"}}"};
    of_document("packages/speculative", &profile, found, sizeof(found));
    CHECK_CONTAINS(found, "profile a\n");
    CHECK(!strstr(found, "profile b"));
    const struct standard_change external = {"/pipeline/workflow/state/grammar/management", STANDARD_ADD,
                                             "\"external\""};
    of_document("packages/speculative", &external, found, sizeof(found));
    CHECK_CONTAINS(found, "external_state grammar\n");
}

/* Nobody reads what it makes, but a component that is read shares its effect domain. */
TEST(effect_domains)
{
    const struct tn_limits limits = tn_limits_default();
    static const char text[] =
        "{\"pipeline\":{\"workflow\":{\"inputs\":{\"x\":{\"source\":{\"kind\":\"request\"}},\"y\":{\"source\":{\"kind\":\"request\"}},"
        "\"z\":{\"source\":{\"kind\":\"request\"}}},\"outputs\":{\"o\":{}},\"components\":{"
        "\"writer\":{\"implementation\":{\"kind\":\"binding\"},\"effects\":[\"log\"]},"
        "\"reader\":{\"implementation\":{\"kind\":\"binding\"},\"effects\":[\"log\"]},"
        "\"idle\":{\"implementation\":{\"kind\":\"binding\"},\"effects\":[\"other\"]}},\"steps\":["
        "{\"kind\":\"invoke\",\"component\":\"writer\",\"inputs\":{\"a\":\"x\"},\"outputs\":{\"b\":\"w\"}},"
        "{\"kind\":\"invoke\",\"component\":\"idle\",\"inputs\":{\"a\":\"z\"},\"outputs\":{\"b\":\"i\"}},"
        "{\"kind\":\"invoke\",\"component\":\"reader\",\"inputs\":{\"a\":\"y\"},\"outputs\":{\"b\":\"r\"}},"
        "{\"kind\":\"emit\",\"value\":\"r\",\"output\":\"o\",\"mode\":\"replace\"}]}}}";
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0};
    char found[1024];
    tn_alloc_init(&alloc);
    REQUIRE(tn_json_parse(&doc, &alloc, &limits, TN_STR("d.json"), tn_str_of(text), &err) == TN_OK);
    dependencies(&doc, found, sizeof(found));
    CHECK_STR(found, "component reader\ncomponent writer\ninput x\ninput y\n");
    tn_json_release(&doc);
}

TEST(sweep_of_failing_allocations)
{
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0};
    struct tn_standard s;
    tn_alloc_init(&alloc);
    REQUIRE(standard_open(&doc, &alloc, "samples/10-lora-adapter-selection"));
    REQUIRE(tn_standard_read(&s, &alloc, tn_json_root(&doc), &err) == TN_OK);
    uint64_t held = tn_alloc_current(&alloc), n = 1;
    for (bool hit = true; hit; n++) {
        struct tn_std_dependencies deps;
        tn_error_clear(&err);
        tn_alloc_fail(&alloc, n, false);
        enum tn_status status = tn_standard_dependencies(&s, &deps, &err);
        hit = atomic_load(&alloc.calls) >= atomic_load(&alloc.fail_at);
        tn_alloc_fail(&alloc, 0, false);
        CHECK_INT(status, hit ? TN_INSUFFICIENT_MEMORY : TN_OK);
        CHECK_INT(deps.count, hit ? 0 : 11);
        tn_std_dependencies_release(&deps);
        CHECK_INT(tn_alloc_current(&alloc), held);
    }
    CHECK(n > 2);
    tn_standard_release(&s);
    tn_json_release(&doc);
}
