/*
 * Packages whose evidence of a head contradicts itself, or whose configuration and head are of different models: one edit
 * of a good package's configuration, and the refusal by code, place and words.
 */
#define _GNU_SOURCE
#include "heads_util.h"

struct conflict {
    const char *package, *task; /* below golden/ */
    const char *from, *to;      /* in config.json; NULL: as it is */
    enum tn_status code;
    const char *place;      /* JSON pointer, or the tensor's name */
    const char *message;    /* part of it */
    const char *text[3];    /* parts of what was found or expected */
    int line;
    size_t findings; /* 0: this one alone */
};
#define CONFLICT(...) {__VA_ARGS__, __LINE__, 0}
#define CONFLICT_OF_THREE(...) {__VA_ARGS__, __LINE__, 3} /* with the pooler that it reads */
#define CONFLICT_OF_TWO(...) {__VA_ARGS__, __LINE__, 2} /* with its bias, or a note */

/* A copy of the four files that make a package of transformers, edited. */
static const char *edited(const struct conflict *c)
{
    static char folder[512];
    char command[4096], path[1024], good[512];
    size_t n;
    snprintf(good, sizeof(good), "%s/golden/%s", test_path(""), c->package);
    snprintf(folder, sizeof(folder), "%s/package", test_folder());
    snprintf(command, sizeof(command),
             "rm -rf '%s' && mkdir '%s' && cd '%s' && cp config.json tokenizer.json tokenizer_config.json model.safetensors '%s'",
             folder, folder, good, folder);
    if (system(command) != 0) test_skip("cp does not work here");
    snprintf(path, sizeof(path), "%s/config.json", folder);
    char *text = test_read_file(path, &n), *at = text ? strstr(text, c->from) : NULL, *out = NULL;
    if (!at) test_fail(__FILE__, c->line, "%s does not hold %s", path, c->from);
    else if ((out = malloc(n + strlen(c->to) + 1))) {
        size_t size = (size_t)sprintf(out, "%.*s%s%s", (int)(at - text), text, c->to, at + strlen(c->from));
        test_write_file(path, out, size);
    }
    free(out);
    free(text);
    return folder;
}

static bool said(const struct api *a, const char *part)
{
    const char *found = tn_error_found(a->err), *expected = tn_error_expected(a->err);
    return !part || (found && strstr(found, part)) || (expected && strstr(expected, part));
}

static void refused(struct api *a, const struct conflict *c)
{
    tn_status st;
    char whole[512];
    snprintf(whole, sizeof(whole), "%s/golden/%s", test_path(""), c->package);
    tn_plan *plan = heads_plan(a, c->from ? edited(c) : whole, c->task, &st);
    if (plan) {
        test_fail(__FILE__, c->line, "%s for %s is taken", c->package, c->task);
        tn_plan_free(plan);
        return;
    }
    const char *place = tn_error_element(a->err), *message = tn_error_message(a->err);
    bool good = st == c->code && place && strcmp(place, c->place) == 0 && strstr(message, c->message) && tn_error_finding_count(a->err) == (c->findings ? c->findings : 1);
    for (size_t i = 0; i < 3; i++) good = good && said(a, c->text[i]);
    if (!good) {
        test_fail(__FILE__, c->line, "%s at %s: %s; found %s; expected %s; %zu findings", tn_status_name(st), place ? place : "-", message,
                  tn_error_found(a->err), tn_error_expected(a->err), (size_t)tn_error_finding_count(a->err));
    }
}

#define RUN(conflicts)                                                                                                 \
    struct api a;                                                                                                      \
    REQUIRE(api_begin(&a, 1));                                                                                         \
    for (size_t i = 0; i < sizeof(conflicts) / sizeof(conflicts[0]); i++) refused(&a, &conflicts[i]);                  \
    api_end(&a)

TEST(class_and_tensors)
{
    static const struct conflict conflicts[] = {
        /* the class promises a head that the weights do not have */
        CONFLICT("packages/bert_pool_mean", "classify.text", "\"BertModel\"", "\"BertForSequenceClassification\"",
                 TN_TASK_HEAD_MISMATCH, "classifier.weight", "none of its tensors", {"class BertForSequenceClassification"}),
        /* the weights have a head that the class does not name */
        CONFLICT("heads/bert_single", "classify.text", "\"BertForSequenceClassification\"", "\"BertModel\"",
                 TN_TASK_HEAD_MISMATCH, "/architectures/0", "", {"class BertModel", "tensor classifier.weight"}),
        /* no class is named: the default has no head, and the head is there */
        CONFLICT("heads/bert_single", "classify.text", "[\n    \"BertForSequenceClassification\"\n  ]", "null", TN_TASK_HEAD_MISMATCH, "",
                 "it names no class", {"class BertModel, by default", "tensor classifier.weight"}),
        /* another head under the same names */
        CONFLICT("heads/mpnet_single", "classify.text", "ForSequenceClassification", "ForTokenClassification",
                 TN_TASK_HEAD_MISMATCH, "/architectures/0", "a tagger of tokens", {NULL}),
        /* as many labels as the matrix has rows */
        CONFLICT("heads/bert_unlabelled", "classify.text", "\"hidden_act\"", "\"num_labels\": 4, \"hidden_act\"",
                 TN_TENSOR_MISMATCH, "classifier.weight", "2 tensors whose shape does not fit the number of labels (num_labels, id2label)", {"classifier.bias; class BertForSequenceClassification (config.json /architectures/0); 4 labels (config.json /num_labels); no module list; "
                  "tensor classifier.weight", "4 (the number of labels (num_labels, id2label) of config.json)"}),
        /* a head over the vocabulary says as little about vectors as a bare encoder; what is there is quoted all the same */
        CONFLICT_OF_TWO("heads/bert_masks", "embedding.dense", NULL, NULL, TN_UNSUPPORTED_TASK, "", "how token states become one vector",
                 {"no modules.json; class BertForMaskedLM (config.json /architectures/0); no module list; "
                  "tensor cls.predictions.transform.dense.weight"}),
        /* no tensor of an embedding package answers for a head, and the other way round */
        CONFLICT_OF_TWO("packages/bert_mean_normalize", "rerank", NULL, NULL, TN_TASK_HEAD_MISMATCH, "/architectures/0", "",
                 {"no tensor of a head"}),
        CONFLICT("heads/bert_scorer", "embedding.dense", NULL, NULL, TN_TASK_HEAD_MISMATCH, "/architectures/0", "",
                 {"BertForSequenceClassification", "CrossEncoder", "1 label"}),
    };
    RUN(conflicts);
}

/* Every kind of head is refused with the same evidence: class and its place, labels, module list, tensors that are there. */
TEST(the_same_evidence_for_every_head)
{
    static const struct conflict conflicts[] = {
        CONFLICT_OF_THREE("heads/bert_masks", "classify.text", "\"BertForMaskedLM\"", "\"BertForSequenceClassification\"", TN_TASK_HEAD_MISMATCH,
                 "classifier.weight", "none of its tensors", {"class BertForSequenceClassification (config.json /architectures/0); 2 labels; no module list; "
                 "tensor cls.predictions.transform.dense.weight; none of the sequence_classification head's"}),
        CONFLICT("answers/bert", "tag", "\"BertForQuestionAnswering\"", "\"BertForTokenClassification\"", TN_TASK_HEAD_MISMATCH,
                 "classifier.weight", "none of its tensors", {"class BertForTokenClassification (config.json /architectures/0); 2 labels; no module list; "
                 "tensor qa_outputs.weight; none of the token_classification head's"}),
        CONFLICT("heads/bert_unlabelled", "fill-mask", "\"BertForSequenceClassification\"", "\"BertForMaskedLM\"", TN_TASK_HEAD_MISMATCH,
                 "cls.predictions.transform.dense.weight", "none of its tensors", {"class BertForMaskedLM (config.json /architectures/0); no module list; "
                 "tensor classifier.weight; none of the masked_lm head's"}),
        CONFLICT("heads/bert_unlabelled", "question-answer", "\"BertForSequenceClassification\"", "\"BertForQuestionAnswering\"", TN_TASK_HEAD_MISMATCH,
                 "qa_outputs.weight", "none of its tensors", {"tensor classifier.weight; none of the question_answering head's"}),
        /* the class is of a bare encoder and a head is there */
        CONFLICT("heads/bert_tags", "tag", "\"BertForTokenClassification\"", "\"BertModel\"", TN_TASK_HEAD_MISMATCH,
                 "/architectures/0", "its class is that of an encoder without a head", {"class BertModel", "tensor classifier.weight"}),
        CONFLICT("heads/bert_masks", "fill-mask", "\"BertForMaskedLM\"", "\"BertModel\"", TN_TASK_HEAD_MISMATCH,
                 "/architectures/0", "its class is that of an encoder without a head", {"class BertModel", "tensor cls.predictions.transform.dense.weight"}),
        CONFLICT("answers/bert", "question-answer", "\"BertForQuestionAnswering\"", "\"BertModel\"", TN_TASK_HEAD_MISMATCH,
                 "/architectures/0", "its class is that of an encoder without a head", {"class BertModel", "tensor qa_outputs.weight"}),
        /* one head's package for the other three tasks */
        CONFLICT("heads/bert_tags", "fill-mask", NULL, NULL, TN_TASK_HEAD_MISMATCH, "/architectures/0", "a tagger of tokens",
                 {"class BertForTokenClassification", "5 labels (config.json /id2label)", "tensor classifier.weight"}),
        CONFLICT("answers/bert", "fill-mask", NULL, NULL, TN_TASK_HEAD_MISMATCH, "/architectures/0", "an extractor of answer spans",
                 {"class BertForQuestionAnswering", "no module list", "tensor qa_outputs.weight"}),
    };
    RUN(conflicts);
}

/* A tensor that another head would leave unread belongs to this one: the configuration must have it. */
TEST(configuration_and_tensors)
{
    static const struct conflict conflicts[] = {
        CONFLICT("heads/modernbert_tags", "tag", "\"classifier_bias\": true", "\"classifier_bias\": false", TN_UNEXPECTED_TENSOR,
                 "head.dense.bias", "this configuration does not have", {"classifier_bias"}),
        CONFLICT("heads/modernbert_single", "classify.text", "\"classifier_bias\": false", "\"classifier_bias\": true",
                 TN_MISSING_TENSOR, "head.dense.bias", "no tensor for role head.dense.bias", {NULL}),
        CONFLICT("heads/modernbert_single", "classify.text", "\"classifier_pooling\": \"mean\"", "\"classifier_pooling\": \"max\"",
                 TN_UNSUPPORTED_CONFIG, "/classifier_pooling", "", {"\"cls\" | \"mean\""}),
        CONFLICT("heads/deberta-v2_scorer", "rerank", "\"pooler_hidden_size\": 16", "\"pooler_hidden_size\": 8",
                 TN_TENSOR_MISMATCH, "pooler.dense.weight", "2 tensors whose shape does not fit pooler_hidden_size", {"8 (pooler_hidden_size of config.json)"}),
        CONFLICT("heads/deberta-v2_scorer", "rerank", "\"pooler_hidden_act\": \"tanh\"", "\"pooler_hidden_act\": \"step\"",
                 TN_UNSUPPORTED_CONFIG, "/pooler_hidden_act", "", {"step"}),
    };
    RUN(conflicts);
}
