/*
 * A genai_config package that is one graph: what keeps it from generating is a matter of the tasks that would, and its graph
 * is called with tensors, by the contract of the import as by the one that is written of it.
 */
#include "genai_kit.h"

#include "task/task.h"

static size_t blockers_of(const struct tn_description *d, const struct tn_task *task, struct tn_task_route *route, struct tn_findings *out)
{
    tn_findings_init(out, &alloc, 100);
    tn_description_findings(d, out);
    task->assess(d, out, route);
    return out->blockers;
}

static const struct tn_task *task_named(const char *name)
{
    for (size_t i = 0; tn_task_at(i); i++)
        if (strcmp(tn_task_at(i)->name, name) == 0) return tn_task_at(i);
    return NULL;
}

static struct tn_digest fingerprint(const struct tn_description *d)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_description_fingerprint(d, &h);
    return tn_sha256_finish(&h);
}

TEST(one_graph_is_called_with_tensors)
{
    struct tn_findings all;
    struct tn_task_route route;
    genai_new("plain");
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->graph);
    CHECK_INT(d->findings.blockers, 0);
    CHECK_TSTR(d->graph->file->path, "model.onnx");
    CHECK_INT(d->graph->input_count, 6);
    CHECK_TSTR(d->graph->said_in[0].name, "request.decoder.input_ids");
    CHECK_FACT(d, "graph.input.input_ids", "\"int64 [batch, sequence]\"", "model.onnx");
    KIT_EXPECT(d, TN_NOTE, TN_PROVIDER_UNAVAILABLE, DOCUMENT, "", "no provider of this build generates", "model.onnx", "the task tensor");
    CHECK_INT(blockers_of(d, task_named("tensor"), &route, &all), 0);
    CHECK(route.graph == d->graph);
    tn_findings_release(&all);
    kit_close(d);
}

/* One blocker each, which names the document: that there is no tokenizer or encoder is no further fault. */
TEST(what_would_generate_is_refused_by_its_task)
{
    static const char *const names[] = {"embedding.dense", "embedding.sparse", "embedding.multi_vector", "rerank", "classify.text", "fill.mask"};
    size_t met = 0;
    genai_new("plain");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct tn_findings all;
        struct tn_task_route route;
        const struct tn_task *task = task_named(names[i]);
        if (!task) continue;
        met++;
        CHECK_INT(blockers_of(d, task, &route, &all), 1);
        const struct tn_finding *f = tn_findings_first_blocker(&all);
        CHECK(!route.component && !route.graph);
        REQUIRE(f);
        CHECK_INT(f->code, TN_PROVIDER_UNAVAILABLE);
        CHECK_STR(f->file, DOCUMENT);
        CHECK_CONTAINS(f->remedy, "the task tensor");
        tn_findings_release(&all);
    }
    CHECK(met >= 4);
    kit_close(d);
}

TEST(several_graphs_are_run_by_nobody)
{
    static const char *const packages[] = {"speech_to_text", "pictures", "stages"};
    for (size_t i = 0; i < 3; i++) {
        genai_new(packages[i]);
        kit_options.accept_loss = true;
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        CHECK(!d->graph);
        CHECK_INT(d->texts.blockers, 0);
        KIT_EXPECT(d, TN_BLOCKER, TN_PROVIDER_UNAVAILABLE, DOCUMENT, "", "no provider of this build generates");
        kit_close(d);
    }
}

/* Half an import says nothing of the graph: a caller would feed it by a meaning that does not hold. */
TEST(an_import_that_stopped_short_runs_nothing)
{
    genai_new("plain");
    kit_edit(DOCUMENT, "\"vocab_size\": 100", "\"vocab_size\": 99");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK(!d->graph);
    KIT_EXPECT(d, TN_BLOCKER, TN_PROVIDER_UNAVAILABLE, DOCUMENT, "");
    KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/model/vocab_size");
    kit_close(d);
}

/* The graph is judged like that of any package: here a version of the format that nobody knows. */
TEST(the_graph_itself_is_judged)
{
    size_t size;
    genai_new("plain");
    char *bytes = test_read_file(in_folder("%s", kit_name("model.onnx")), &size);
    REQUIRE(bytes && size > 2 && bytes[0] == 8); /* field 1, ir_version */
    bytes[1] = 99;
    put_bytes(kit_name("model.onnx"), bytes, size);
    free(bytes);
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->graph);
    KIT_EXPECT(d, TN_BLOCKER, TN_VERSION_UNQUALIFIED, "model.onnx", NULL, NULL, "99");
    kit_close(d);
}

/* The documents that are written of it, without the original, say the same of the same graph. */
TEST(documents_alone_call_the_same_graph)
{
    genai_new("plain");
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->graph);
    struct tn_digest imported = fingerprint(d);
    kit_close(d);
    REQUIRE(genai_described("plain"));
    kit_remove(DOCUMENT);
    d = kit_describe();
    REQUIRE(d && d->graph);
    CHECK_TSTR(d->dialect, "inference_metadata");
    CHECK_INT(d->findings.blockers, 0);
    struct tn_digest declared = fingerprint(d);
    CHECK(tn_digest_eq(&imported, &declared));
    kit_close(d);
}

static bool is_called(const struct tn_description *d)
{
    return d->graph && d->texts.blockers == 1 && d->findings.blockers == 0;
}

TEST(every_allocation_of_calling_a_graph_can_fail)
{
    genai_new("plain");
    kit_sweep(is_called);
}
