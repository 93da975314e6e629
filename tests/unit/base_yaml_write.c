/* Texts that go out as YAML come back the same, whatever a reader of either version might take them for. */
#include "test.h"

#include "base/yaml.h"
#include "base/yaml_write.h"

#include <stdlib.h>

static void round_trip(const char *json)
{
    struct tn_alloc alloc;
    struct tn_limits limits = tn_limits_default();
    struct tn_json_doc before, after;
    struct tn_buf yaml;
    struct tn_error *err = calloc(1, sizeof(*err));
    tn_alloc_init(&alloc);
    tn_buf_init(&yaml, &alloc, 1 << 16);
    CHECK_INT(tn_json_parse_copy(&before, &alloc, &limits, TN_STR("d.json"), tn_str_of(json), err), TN_OK);
    CHECK_INT(tn_yaml_write(tn_json_root(&before), &yaml), TN_OK);
    if (tn_yaml_parse(&after, &alloc, &limits, TN_STR("d.yaml"), tn_buf_str(&yaml), err)) {
        test_fail(__FILE__, __LINE__, "%s: %s\n%s", json, err->primary.message, yaml.data);
    } else {
        struct tn_json a = tn_json_first(tn_json_root(&before)), b = tn_json_first(tn_json_root(&after));
        struct tn_str x = TN_STR("?"), y = TN_STR("!");
        CHECK(tn_str_eq(tn_json_key(a), tn_json_key(b)));
        CHECK(tn_json_str(a, &x) && tn_json_str(b, &y) && tn_str_eq(x, y));
        tn_json_release(&after);
    }
    tn_json_release(&before);
    tn_buf_release(&yaml);
    free(err);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(breaks_of_the_older_version)
{
    static const char *const breaks[] = {"\\u2028", "\\u2029", "\\u0085", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xC2\x85"};
    static const char *const forms[] = {"{\"a%sb\": \"x\"}", "{\"a\": \"x%s\"}", "{\"%s\": \"%s\"}", "{\"a b\": \"x %s y: z\"}", "{\"a\": \"%s\\n%s\"}"};
    for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
        for (size_t i = 0; i < sizeof(breaks) / sizeof(breaks[0]); i++) {
            char text[128];
            snprintf(text, sizeof(text), forms[f], breaks[i], breaks[i]);
            round_trip(text);
        }
    }
}

TEST(words_and_numbers_stay_texts)
{
    static const char *const texts[] = {"yes", "no", "null", "~", "1.5", "0x1F", "1:30", "2001-01-01", "", " ", "a: b", "# a", "- a", "\\uFEFFa", "\\u0007", "caf\xC3\xA9"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text), "{\"a\": \"%s\"}", texts[i]);
        round_trip(text);
    }
}
