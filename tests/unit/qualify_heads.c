/* The suite of the tasks over heads: everything that applies passes, and what it cannot do is refused. */
#include "heads_util.h"

static void passes(struct api *a, const char *package_name, const char *task, const char *suite)
{
    char path[256];
    tn_qualify_options o = TN_INIT(tn_qualify_options);
    tn_plan_options plan = TN_INIT(tn_plan_options);
    tn_document *record = NULL;
    snprintf(path, sizeof(path), strchr(package_name, '/') ? "golden/%s" : "golden/heads/%s", package_name);
    tn_package *package = api_open(a, test_path(path));
    plan.task = task;
    o.plan = &plan;
    tn_status st = tn_qualify(package, &o, &record, a->err);
    if (st) test_fail(__FILE__, __LINE__, "%s: %s", task, tn_error_message(a->err));
    const char *text = record ? tn_document_text(record, NULL) : "";
    CHECK_CONTAINS(text, suite);
    CHECK_CONTAINS(text, "\"company.alone\"");
    CHECK_CONTAINS(text, "\"scores.hold\"");
    CHECK_CONTAINS(text, "\"level\": \"loads\"");
    if (strstr(text, "\"failed\"")) test_fail(__FILE__, __LINE__, "%s: %s", task, text);
    tn_document_free(record);
    o.golden = "golden.json";
    CHECK_INT(tn_qualify(package, &o, &record, a->err), TN_UNSUPPORTED_OPTION);
    CHECK_STR(tn_error_element(a->err), "golden");
    tn_package_free(package);
}

TEST(invariants_of_heads)
{
    struct api a;
    REQUIRE(api_begin(&a, 2));
    passes(&a, "distilbert_single", "classify.text", "\"suite\": \"classify.text/1\"");
    passes(&a, "roberta_scorer", "rerank", "\"suite\": \"rerank/1\"");
    passes(&a, "answers/roberta_bytes", "question-answer", "\"suite\": \"question-answer/1\"");
    passes(&a, "mpnet_tags", "tag", "\"suite\": \"tag/1\"");
    passes(&a, "bert_masks", "fill-mask", "\"suite\": \"fill-mask/1\"");
    passes(&a, "xlm-roberta_masks_pieces", "fill-mask", "\"suite\": \"fill-mask/1\"");
    api_end(&a);
}
