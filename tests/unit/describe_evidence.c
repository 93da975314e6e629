/*
 * What a declared contract shows of itself: values as facts, roles of ports with the rule that settled them, identity, and
 * what a cached result depends on. Packages: the standard's executable ones, and small graphs. The identity's oracle is the
 * standard's own implementation (tests/golden/standard/identity.txt).
 */
#include "genai_kit.h"

#include "base/json_write.h"

#define CONTRACT "inference_metadata.json"

static struct tn_description *golden(const char *name)
{
    char path[256];
    kit_empty();
    snprintf(path, sizeof(path), "golden/standard/packages/%s", name);
    return kit_describe_at(test_path(path));
}

static bool depends(const struct tn_description *d, enum tn_std_dependency_kind kind, const char *name, bool control)
{
    for (size_t i = 0; i < d->dependency_count; i++) {
        const struct tn_std_dependency *x = &d->dependencies[i];
        if (x->kind == kind && tn_str_is(x->name, name)) return x->control_only == control;
    }
    return false;
}

static bool has_rule(const struct tn_description *d, const char *fact, const char *value, const char *rule)
{
    const struct tn_fact *f = kit_fact(d, fact);
    return f && tn_str_is(f->value, value) && tn_str_is(f->rule, rule);
}

TEST(a_package_of_the_standard_shows_what_it_is)
{
    struct tn_description *d = golden("decoder");
    REQUIRE(d);
    REQUIRE(kit_fact(d, "contract.package.tokenizer.algorithm"));
    CHECK_TSTR(kit_fact(d, "contract.package.tokenizer.algorithm")->rule, "inference_metadata.contract/1");
    CHECK_FACT(d, "contract.generation.overrides.temperature.input", "\"request.temperature\"", "inference_metadata.yaml");
    CHECK_FACT(d, "contract.pipeline.workflow.components.model.implementation.kind", "\"onnx\"", "inference_metadata.yaml");
    REQUIRE(kit_fact(d, "contract.pipeline.workflow.serving.state_service.groups.decoder_cache.kind"));
    CHECK(kit_fact(d, "contract.generation.overrides.temperature.input")->descriptive);
    CHECK(has_rule(d, "port.model.token_ids", "\"input_ids\"", "metadata.port_roles/1"));
    CHECK(has_rule(d, "port.model.logits", "\"logits\"", "metadata.port_roles/1"));
    CHECK(!kit_fact(d, "port.termination.token_ids")); /* its only sequence is one of ids, and nobody called it the model's */
    CHECK(!kit_fact(d, "contract.more"));
    CHECK(tn_str_starts(d->contract_identity, "onnx-genai-metadata-identity-v1:sha256:"));
    CHECK(depends(d, TN_STD_DEPENDS_COMPONENT, "model", false));
    CHECK(depends(d, TN_STD_DEPENDS_COMPONENT, "token_sampler", false));
    kit_close(d);
}

/* The digest is the standard's own; a fault of the document leaves none, and no dependencies. */
TEST(the_identity_is_that_of_the_standard)
{
    size_t size;
    char line[256], want[128] = "";
    char *text = test_read_file(test_path("golden/standard/identity.txt"), &size);
    const char *at = text ? strstr(text, "packages/static_cache ") : NULL;
    REQUIRE(at && sscanf(at, "packages/static_cache %64s", want) == 1);
    free(text);
    struct tn_description *d = golden("static_cache");
    REQUIRE(d);
    snprintf(line, sizeof(line), "onnx-genai-metadata-identity-v1:sha256:%s", want);
    CHECK_TSTR(d->contract_identity, line);
    CHECK(d->dependency_count > 0);
    kit_close(d);
}

static const char contract[] =
    "{\"schema_version\": \"v1\", \"model\": {\"vocab_size\": 100%s}, \"pipeline\": {\"workflow\": {\"manifest\": "
    "{\"capabilities\": [\"typed_emit\", \"workflow_ssa\"]}, \"inputs\": {\"tokens\": {\"contract\": {\"dtype\": \"int64\", \"rank\": 2, "
    "\"shape\": [\"batch\", \"sequence\"]}, \"role\": {\"kind\": \"opaque\"}, \"source\": {\"kind\": \"request\"}, \"required\": true}}, "
    "\"outputs\": {\"logits\": {\"contract\": {\"dtype\": \"float32\", \"rank\": 3, \"shape\": [\"batch\", \"sequence\", 100]}, \"role\": "
    "\"tensor\", \"stage\": \"pre_adapter\"}}, \"components\": {\"net\": {\"implementation\": {\"kind\": \"onnx\", \"artifact\": "
    "\"model.onnx\"}%s}}, \"steps\": [{\"kind\": \"invoke\", \"component\": \"net\", \"inputs\": {\"input_ids\": \"tokens\"}, "
    "\"outputs\": {\"logits\": \"net.logits\"}}, {\"kind\": \"emit\", \"value\": \"net.logits\", \"output\": \"logits\", \"mode\": "
    "\"replace\"}]}}}";

static void put_contract(const char *model, const char *component)
{
    static const char *const lines[] = {"<input_ids:7:batch,sequence", ">logits:1:batch,sequence,100", NULL};
    static char text[65536];
    kit_empty();
    put_graph("model.onnx", lines);
    snprintf(text, sizeof(text), contract, model, component);
    kit_put(CONTRACT, text);
}

/* Without a declaration the graph says it, or one exporter's names do; the rule shows which. */
TEST(a_role_says_who_settled_it)
{
    put_contract("", "");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_INT(d->findings.blockers, 0);
    CHECK(has_rule(d, "port.net.token_ids", "\"input_ids\"", "onnx.port_structure/1"));
    CHECK(has_rule(d, "port.net.logits", "\"logits\"", "onnx.port_structure/1"));
    CHECK_INT(kit_fact(d, "port.net.logits")->origin, TN_FROM_STRUCTURE);
    CHECK_FACT(d, "contract.model.vocab_size", "100", CONTRACT);
    CHECK(depends(d, TN_STD_DEPENDS_INPUT, "tokens", false));
    kit_close(d);
    put_contract("", ", \"ports\": {\"roles\": {\"input_ids\": \"position_ids\"}}");
    d = kit_describe();
    REQUIRE(d);
    CHECK(has_rule(d, "port.net.position_ids", "\"input_ids\"", "metadata.port_roles/1"));
    KIT_EXPECT(d, TN_NOTE, TN_OK, CONTRACT, "/pipeline/workflow/components/net/ports/roles/input_ids", "not what the port's name suggests");
    kit_close(d);
}

TEST(a_faulty_contract_has_no_identity)
{
    put_contract(", \"colour\": 1", "");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK(d->findings.blockers > 0);
    CHECK_TSTR(d->contract_identity, "");
    CHECK_INT(d->dependency_count, 0);
    kit_close(d);
}

/* A contract with more values than anybody reads: the rest is a number. */
TEST(facts_of_a_contract_are_bounded)
{
    static char profiles[40000];
    size_t n = (size_t)snprintf(profiles, sizeof(profiles), "}, \"profiles\": {");
    for (int i = 0; i < 400; i++)
        n += (size_t)snprintf(profiles + n, sizeof(profiles) - n, "%s\"p%d\": {\"kind\": \"embedding\", \"version\": \"1\"}", i ? ", " : "", i);
    put_contract(profiles, "");
    struct tn_description *d = kit_describe();
    REQUIRE(d && kit_fact(d, "contract.more"));
    size_t facts = 0;
    for (uint32_t i = 0; i < d->fact_count; i++) facts += tn_str_starts(d->facts[i].name, "contract.");
    CHECK_INT(facts, 501);
    kit_close(d);
}

/* A workflow of more components than anybody writes is described in no time, and says why a list is missing. */
TEST(what_is_too_large_is_told)
{
    size_t n = 0, cap = 600000;
    char *text = malloc(cap);
    REQUIRE(text);
    for (int i = 0; i < 1001; i++)
        n += (size_t)snprintf(text + n, cap - n, "%s\"c%d\": {\"implementation\": {\"kind\": \"onnx\", \"artifact\": \"model.onnx\"}, \"ports\": "
                              "{\"roles\": {\"logits\": \"logits\"}}}", i ? ", " : "", i);
    char *whole = malloc(cap + 4096);
    REQUIRE(whole);
    snprintf(whole, cap + 4096, "{\"schema_version\": \"v1\", \"pipeline\": {\"workflow\": {\"manifest\": {\"capabilities\": [\"workflow_ssa\"]}, "
             "\"inputs\": {\"tokens\": {\"contract\": {\"dtype\": \"int64\", \"rank\": 2, \"shape\": [\"batch\", \"sequence\"]}, \"role\": "
             "{\"kind\": \"opaque\"}, \"source\": {\"kind\": \"request\"}, \"required\": true}}, \"outputs\": {}, \"components\": {%s}, "
             "\"steps\": [{\"kind\": \"invoke\", \"component\": \"c0\", \"inputs\": {\"input_ids\": \"tokens\"}}]}}}", text);
    put_contract("", "");
    kit_put(CONTRACT, whole);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK(d->contract_identity.n > 0);
    CHECK_INT(d->dependency_count, 0);
    KIT_EXPECT(d, TN_NOTE, TN_RESOURCE_LIMIT, CONTRACT, "", "too large to say");
    size_t roles = 0;
    for (uint32_t i = 0; i < d->fact_count; i++) roles += tn_str_starts(d->facts[i].name, "port.");
    CHECK_INT(roles, 128); /* of 64 graphs, two each */
    kit_close(d);
    free(whole);
    free(text);
}

static bool shows_itself(const struct tn_description *d)
{
    return d->contract_identity.n > 0 && d->dependency_count > 0;
}

TEST(every_allocation_of_evidence_can_fail)
{
    put_contract("", "");
    kit_sweep(shows_itself);
}
