/*
 * Broken packages and no memory at once: whatever allocation fails, what must be refused is never accepted. A finding
 * that found no room must still block. Each package has one fault, each at another stage of the road.
 */
#include "fault_host.h"
#include "fault_package.h"

enum { MOST = 100000 };

static const struct package_edit faults[] = {
    {"cut", "model.safetensors", "\"encoder.layer.0.attention.output.dense.bias\"", NULL},
    {"renamed", "model.safetensors", "embeddings.LayerNorm.bias\"", "embeddings.LayerNorm.bia2\""},
    {"reshaped", "model.safetensors", "\"shape\":[64,32]", "\"shape\":[32,64]"},
    {"config", "config.json", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"sine\""},
    {"field", "config.json", "\"use_cache\": true", "\"use_some\": true"},
    {"module", "modules.json", "models.Normalize", "models.Whitening"},
    {"pooling", "1_Pooling/config.json", "{", "{\"pooling_mode\": \"median\","},
    {"twice", "modules.json", "\"idx\": 0,", "\"idx\": 0, \"idx\": 0,"},
    {"model", "tokenizer.json", "\"WordPiece\"", "\"WordWhole\""},
    {"length", "sentence_bert_config.json", "\"max_seq_length\":", "\"max_seq_lengths\":"},
};

/* From the path to an embedding; where it ends is the stage that must refuse. */
static tn_status try_all(struct host *host, const char *path, tn_error *err)
{
    tn_runtime *runtime = NULL;
    tn_package *package = NULL;
    tn_plan *plan = NULL;
    tn_session *session = NULL;
    tn_plan_options o = TN_INIT(tn_plan_options);
    o.task = "embedding.dense";
    tn_status status = host_runtime(host, 1, NULL, NULL, &runtime, err);
    if (!status) status = tn_package_open(runtime, path, NULL, &package, err);
    if (!status) status = tn_plan_new(package, &o, &plan, err);
    if (!status) status = tn_session_load(plan, NULL, &session, err);
    tn_session_free(session);
    tn_plan_free(plan);
    tn_package_free(package);
    tn_runtime_free(runtime);
    return status;
}

TEST(no_memory_never_turns_a_refusal_into_a_session)
{
    struct host host = {0};
    tn_error *err = tn_error_new();
    uint64_t step = host_stride(5);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        char folder[512];
        package_copy(folder, sizeof(folder), &faults[i]);
        tn_status refusal = try_all(&host, folder, err);
        if (refusal == TN_OK || refusal == TN_INSUFFICIENT_MEMORY) {
            test_fail(__FILE__, __LINE__, "%s: %s", faults[i].name, tn_status_name(refusal));
            continue;
        }
        uint64_t n = 1 + i % step;
        for (bool hit = true; hit && n < MOST; n += step) {
            host_arm(&host, n, n / step % 2);
            tn_status status = try_all(&host, folder, err);
            hit = host_disarm(&host);
            CHECK_INT(host.blocks, 0);
            /* A finding may have got lost, and another one of the same fault then gives the code. */
            if (status == TN_OK || (!hit && status != refusal)) {
                test_fail(__FILE__, __LINE__, "%s, call %llu: %s, and without a fault %s", faults[i].name,
                          (unsigned long long)n, tn_status_name(status), tn_status_name(refusal));
            }
        }
        CHECK(n > 50 && n < MOST);
    }
    tn_error_free(err);
}
