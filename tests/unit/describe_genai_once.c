/* A port that two keys of a genai_config.json name: refused once, at the later key, and the earlier one is named. */
#include "genai_kit.h"

#define IN "/model/decoder/inputs/"
#define OUT "/model/decoder/outputs/"

TEST(one_port_has_one_meaning)
{
    static const struct genai_fault rows[] = {
        FAULT("plain", 1, "\"present.%d.value\"", "\"present.%d.key\"", TN_METADATA_INVALID, DOCUMENT, OUT "present_value_names",
              "another key names", "output \"present.0.key\", which is present_key_names", OUT "present_key_names"),
        FAULT("plain", 1, "\"logits\": \"logits\"", "\"logits\": \"present.0.key\"", TN_METADATA_INVALID, DOCUMENT,
              OUT "present_key_names", "another key names", "which is logits", OUT "logits"),
        FAULT("plain", 1, "\"input_ids\": \"input_ids\"", "\"input_ids\": \"attention_mask\"", TN_METADATA_INVALID, DOCUMENT,
              IN "attention_mask", "another key names", "which is input_ids", IN "input_ids"),
        FAULT("plain", 1, "\"past_key_values.%d.value\"", "\"past_key_values.%d.key\"", TN_METADATA_INVALID, DOCUMENT,
              IN "past_value_names", "another key names", "which is past_key_names", IN "past_key_names"),
        /* The other key is a default. */
        FAULT("plain", 1, "\"attention_mask\": \"attention_mask\",", "\"position_ids\": \"attention_mask\",", TN_METADATA_INVALID,
              DOCUMENT, IN "position_ids", "another key names", "which is attention_mask", "the default of attention_mask"),
    };
    RUN(rows);
}

/* Three keys of one port are two faults. */
TEST(each_later_key_is_told)
{
    genai_new("plain");
    kit_edit(DOCUMENT, "\"present.%d.value\"", "\"present.%d.key\"");
    kit_edit(DOCUMENT, "\"logits\": \"logits\"", "\"logits\": \"present.1.key\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 2);
    KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, OUT "present_key_names", "another key names");
    KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, OUT "present_value_names", "another key names");
    kit_close(d);
}
