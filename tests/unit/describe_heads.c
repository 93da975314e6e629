/* Heads in the description: which one, labels and how they are checked, what a scorer of pairs adds, and their facts. */
#define _GNU_SOURCE
#include "describe_kit.h"

#define CLASS "\"BertModel\""
#define TEXT_CLASS "\"BertForSequenceClassification\""
#define TYPE "\"model_type\": \"bert\""

/* A bare package whose class and further members of config.json are these. */
static struct tn_description *described(const char *class, const char *members)
{
    char text[512];
    kit_bare();
    kit_edit("config.json", CLASS, class);
    snprintf(text, sizeof(text), TYPE "%s%s", members[0] ? ", " : "", members);
    kit_edit("config.json", TYPE, text);
    return kit_describe();
}

TEST(the_class_names_the_head)
{
    static const struct {
        const char *class;
        enum tn_head_kind kind;
        bool headed;
    } cases[] = {
        {"\"BertModel\"", TN_HEAD_KINDS, false},
        {"\"BertForSequenceClassification\"", TN_HEAD_SEQUENCE_CLASSIFICATION, true},
        {"\"BertForTokenClassification\"", TN_HEAD_TOKEN_CLASSIFICATION, true},
        {"\"BertForMaskedLM\"", TN_HEAD_MASKED_LM, true},
        {"\"BertForQuestionAnswering\"", TN_HEAD_QUESTION_ANSWERING, true},
        {"\"BertForMultipleChoice\"", TN_HEAD_MULTIPLE_CHOICE, true},
        {"\"BertForNextSentencePrediction\"", TN_HEAD_NEXT_SENTENCE, true},
        {"\"BertForPreTraining\"", TN_HEAD_PRETRAINING, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tn_description *d = described(cases[i].class, "");
        REQUIRE(d);
        CHECK((d->head != NULL) == cases[i].headed);
        if (d->head) CHECK_INT(d->head->kind, cases[i].kind);
        if (d->head) CHECK((d->head->labels != NULL) == tn_head_kind_is_labelled(cases[i].kind));
        CHECK_INT(d->findings.blockers, 0);
        kit_close(d);
    }
}

TEST(ids_are_numbers)
{
    struct tn_description *d = described(TEXT_CLASS, "\"id2label\": {\"10\": \"k\", \"2\": \"c\", \"0\": \"a\", \"1\": \"b\", \"3\": \"d\", "
                                                     "\"4\": \"e\", \"5\": \"f\", \"6\": \"g\", \"7\": \"h\", \"8\": \"i\", \"9\": \"j\"}");
    REQUIRE(d && d->head && d->head->labels);
    KIT_CLEAN(d);
    CHECK_INT(d->head->outputs, 11);
    for (int i = 0; i < 11; i++) {
        char name[2] = {(char)('a' + i), 0};
        CHECK_TSTR(d->head->labels[i], name);
    }
    CHECK(d->head->labels_stated);
    CHECK_FACT(d, "head.outputs", "11", "config.json");
    CHECK_FACT(d, "head.kind", "\"sequence_classification\"", "config.json");
    CHECK_TSTR(kit_fact(d, "head.kind")->pointer, "/architectures/0");
    CHECK_TSTR(kit_fact(d, "head.outputs")->pointer, "/id2label");
    kit_close(d);
}

TEST(labels_that_nobody_named)
{
    struct tn_description *d = described(TEXT_CLASS, "");
    REQUIRE(d && d->head && d->head->labels);
    CHECK_INT(d->head->outputs, 2);
    CHECK_TSTR(d->head->labels[1], "LABEL_1");
    CHECK(!d->head->labels_stated);
    CHECK_FACT(d, "head.outputs", "2", "default of schema PretrainedConfig");
    kit_close(d);
    d = described(TEXT_CLASS, "\"num_labels\": 5");
    REQUIRE(d && d->head && d->head->labels);
    CHECK_INT(d->head->outputs, 5);
    CHECK_TSTR(kit_fact(d, "head.outputs")->pointer, "/num_labels");
    kit_close(d);
    d = described(TEXT_CLASS, "\"id2label\": {\"0\": \"LABEL_0\", \"1\": \"LABEL_1\"}, \"label2id\": {\"LABEL_0\": 0, \"LABEL_1\": \"1\"}");
    REQUIRE(d && d->head && d->head->labels);
    KIT_CLEAN(d);
    CHECK(!d->head->labels_stated);
    kit_close(d);
}

TEST(label_refusals)
{
    static const struct {
        const char *members;
        struct kit_expected expected;
    } cases[] = {
        {"\"id2label\": {\"0\": \"a\", \"2\": \"c\"}", {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/id2label/2", "ids without a label", "2", "0 to 1"}},
        {"\"id2label\": {\"0\": \"a\", \"01\": \"b\"}", {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/id2label/01", "no label id"}},
        {"\"id2label\": {\"0\": \"a\", \"one\": \"b\"}", {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/id2label/one", "no label id"}},
        {"\"id2label\": {\"0\": \"a\", \"1\": 2}", {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/id2label/1", "no label", "", "a string"}},
        {"\"id2label\": {}", {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/id2label", "states no labels"}},
        {"\"id2label\": [\"a\", \"b\"]", {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/id2label", "states no labels"}},
        {"\"id2label\": {\"0\": \"a\", \"1\": \"b\"}, \"num_labels\": 3", {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/num_labels", "contradicts", "3", "2"}},
        {"\"num_labels\": 0", {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/num_labels", "no number of labels", "0"}},
        {"\"num_labels\": \"2\"", {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/num_labels", "no number of labels"}},
        {"\"num_labels\": 99999999", {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/num_labels", "no number of labels"}},
        {"\"id2label\": {\"0\": \"a\", \"1\": \"b\"}, \"label2id\": {\"a\": 1, \"b\": 0}",
         {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/label2id/a", "contradicts id2label", "\"a\": 1", "\"b\""}},
        {"\"id2label\": {\"0\": \"a\", \"1\": \"b\"}, \"label2id\": {\"LABEL_0\": 0, \"LABEL_1\": 1}",
         {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/label2id/LABEL_0", "contradicts id2label"}},
        {"\"id2label\": {\"0\": \"a\", \"1\": \"b\"}, \"label2id\": {\"a\": 0}",
         {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/label2id", "lacks a label", "1 labels", "\"b\": 1"}},
        {"\"id2label\": {\"0\": \"a\", \"1\": \"b\"}, \"label2id\": [0, 1]", {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/label2id", "wrong type"}},
        {"\"problem_type\": \"many\"", {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/problem_type", "no kind of problem", "many", "regression"}},
        {"\"problem_type\": \"single_label_classification\", \"num_labels\": 1",
         {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/problem_type", "only one", "1 label", "regression"}},
        {"\"sentence_transformers\": {\"activation_fn\": \"my.own.Function\"}",
         {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/sentence_transformers/activation_fn", "does not have", "my.own.Function", "Sigmoid"}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tn_description *d = described(TEXT_CLASS, cases[i].members);
        REQUIRE(d);
        kit_expect(d, cases[i].expected, __FILE__, __LINE__);
        if (d->findings.blockers != 1) test_fail(__FILE__, __LINE__, "%s: %zu blockers", cases[i].members, d->findings.blockers);
        kit_close(d);
    }
}

/* Where no head is run, its labels are words and nothing more. */
TEST(labels_of_no_head_are_not_judged)
{
    struct tn_description *d = described(CLASS, "\"id2label\": {\"0\": \"a\", \"7\": \"b\"}, \"problem_type\": \"many\"");
    REQUIRE(d);
    KIT_CLEAN(d);
    CHECK(d->head == NULL);
    kit_close(d);
}

TEST(scorers_of_older_releases)
{
    struct tn_description *d = described(TEXT_CLASS, "\"num_labels\": 1, \"sentence_transformers\": {\"activation_fn\": "
                                                     "\"torch.nn.modules.linear.Identity\", \"version\": \"4.1.0\"}, "
                                                     "\"sbert_ce_default_activation_function\": \"torch.nn.modules.activation.Tanh\"");
    REQUIRE(d && d->head);
    KIT_CLEAN(d);
    CHECK(d->head->cross_encoder);
    CHECK_TSTR(d->head->activation, "identity");
    CHECK_TSTR(kit_fact(d, "head.activation")->pointer, "/sentence_transformers/activation_fn");
    kit_close(d);
    d = described(TEXT_CLASS, "\"num_labels\": 1, \"sbert_ce_default_activation_function\": \"torch.nn.modules.activation.Tanh\"");
    REQUIRE(d && d->head);
    CHECK(d->head->cross_encoder);
    CHECK_TSTR(d->head->activation, "tanh");
    kit_close(d);
    d = described(TEXT_CLASS, "\"num_labels\": 1");
    REQUIRE(d && d->head);
    CHECK(!d->head->cross_encoder);
    CHECK_TSTR(d->head->activation, "");
    kit_close(d);
}

#define SCORER_MODULE "{\"transformer_task\": \"sequence-classification\", \"module_output_name\": \"scores\", " \
                      "\"modality_config\": {\"text\": {\"method\": \"forward\", \"method_output_name\": \"logits\"}}}"

/* A package as CrossEncoder 6.2 saves it. */
static void scorer(void)
{
    kit_bare();
    kit_edit("config.json", CLASS, TEXT_CLASS);
    kit_edit("config.json", TYPE, TYPE ", \"num_labels\": 1");
    kit_put("modules.json", "[" KIT_MODULE("0", "", "Transformer") "]");
    kit_put("sentence_bert_config.json", SCORER_MODULE);
    kit_put("config_sentence_transformers.json", "{\"model_type\": \"CrossEncoder\", \"prompts\": {}, \"default_prompt_name\": null, "
                                                 "\"activation_fn\": \"torch.nn.modules.activation.Sigmoid\"}");
}

TEST(scorers_of_the_newest_release)
{
    scorer();
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->head);
    KIT_CLEAN(d);
    CHECK(d->head->cross_encoder);
    CHECK_TSTR(d->head->activation, "sigmoid");
    CHECK_INT(d->module_count, 1);
    CHECK_INT(d->prompt_count, 0);
    CHECK_FACT(d, "head.cross_encoder", "\"CrossEncoder\"", "config_sentence_transformers.json");
    kit_close(d);
}

TEST(chains_of_scorers_that_do_not_hold)
{
    static const struct {
        const char *file, *from, *to;
        struct kit_expected expected;
    } cases[] = {
        {"sentence_bert_config.json", "sequence-classification", "feature-extraction",
         {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "sentence_bert_config.json", "/module_output_name", "another task's", "scores"}},
        {"config.json", TEXT_CLASS, CLASS, {TN_BLOCKER, TN_TASK_HEAD_MISMATCH, "modules.json", "/0", "not saved with", "class BertModel"}},
        {"config.json", TEXT_CLASS, "\"BertForTokenClassification\"",
         {TN_BLOCKER, TN_TASK_HEAD_MISMATCH, "modules.json", "/0", "not saved with", "BertForTokenClassification"}},
        {"modules.json", "}]", "}, " KIT_MODULE("1", "1_Pooling", "Pooling") "]",
         {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "modules.json", "/1", "numbers of a head"}},
        {"config_sentence_transformers.json", "torch.nn.modules.activation.Sigmoid", "numpy.exp",
         {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config_sentence_transformers.json", "/activation_fn", "does not have", "numpy.exp"}},
        {"sentence_bert_config.json", "\"logits\"", "\"last_hidden_state\"",
         {TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "sentence_bert_config.json", "/modality_config", "something else", "", "logits"}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        scorer();
        kit_edit(cases[i].file, cases[i].from, cases[i].to);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        kit_expect(d, cases[i].expected, __FILE__, __LINE__);
        kit_close(d);
    }
}
