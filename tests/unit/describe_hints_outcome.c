/*
 * Execution hints: what becomes of each. Expectations follow from the proposal's schema and prose: the order of origins,
 * forced hints that conflict as an error that names both, and what cannot be had.
 */
#include "hints_kit.h"

/* ---- precedence ---- */

TEST(the_stronger_origin_counts)
{
    for (int weak = 1; weak < TN_HINT_ORIGINS; weak++) {
        for (int strong = 0; strong < weak; strong++) {
            struct court c;
            begin(&c);
            c.world.device_count = 3;
            give(&c, (enum tn_hint_origin)weak, PLACEMENT(PLACE(ALL, ON("gpu"), "prefer")));
            give(&c, (enum tn_hint_origin)strong, PLACEMENT(PLACE(ALL, ON("cpu"), "prefer")));
            REQUIRE(judge(&c) == TN_OK);
            REQUIRE(c.results.count == 2);
            CHECK_INT(c.results.items[0].hint->origin, strong); /* strongest first */
            CHECK_INT(outcome(&c, 0), TN_HINT_IS_SATISFIED);
            CHECK_INT(outcome(&c, 1), TN_HINT_IS_OVERRIDDEN);
            CHECK(c.results.items[1].by == c.results.items[0].hint);
            CHECK_INT(c.results.items[1].lost, NODES);
            CHECK_INT(c.findings.blockers, 0);
            const struct tn_finding *f = with_code(&c, TN_NOTE, TN_HINT_CONFLICT);
            REQUIRE(f);
            CHECK_CONTAINS(f->found, tn_hint_origin_for_people((enum tn_hint_origin)weak));
            CHECK_CONTAINS(f->expected, tn_hint_origin_for_people((enum tn_hint_origin)strong));
            end(&c);
        }
    }
}

TEST(a_force_stands_above_preferences_of_any_origin)
{
    struct court c;
    begin(&c);
    c.world.device_count = 3;
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, ON("gpu"), "prefer")));
    give(&c, TN_HINT_FROM_MODEL, PLACEMENT(PLACE(ALL, ON("cpu"), "force")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_OVERRIDDEN);
    CHECK_INT(outcome(&c, 1), TN_HINT_IS_SATISFIED);
    CHECK_INT(c.findings.blockers, 0);
    end(&c);
}

TEST(within_a_document_the_later_hint_counts_where_it_selects)
{
    struct court c;
    begin(&c);
    c.world.device_count = 3;
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE(ALL, ON("gpu"), "prefer") ", " PLACE("{\"op_types\": [\"embed\"]}", ON("cpu"),
                                                                                  "prefer")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_SATISFIED);
    CHECK_INT(c.results.items[0].lost, 1);
    CHECK_INT(c.results.items[0].selected, NODES);
    CHECK_INT(outcome(&c, 1), TN_HINT_IS_SATISFIED);
    const struct tn_finding *f = with_code(&c, TN_NOTE, TN_HINT_CONFLICT);
    REQUIRE(f);
    CHECK_CONTAINS(f->message, "1 of the 7");
    CHECK_STR(f->element, "/placement/0");
    end(&c);
}

TEST(statements_that_agree_do_not_override)
{
    struct court c;
    begin(&c);
    c.world.device_count = 3;
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, "{\"type\": \"gpu\", \"index\": 1}", "force")));
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE(ALL, ON("gpu"), "force")));
    give(&c, TN_HINT_FROM_METADATA, PLACEMENT(PLACE(ALL, ON("any"), "force")));
    REQUIRE(judge(&c) == TN_OK);
    for (size_t i = 0; i < 3; i++) CHECK_INT(outcome(&c, i), TN_HINT_IS_SATISFIED);
    CHECK_INT(c.findings.count, 0);
    end(&c);
}

TEST(forces_that_conflict_name_both)
{
    for (int a = 0; a < TN_HINT_ORIGINS; a++) {
        for (int b = a; b < TN_HINT_ORIGINS; b++) {
            struct court c;
            begin(&c);
            c.world.device_count = 3;
            if (a == b) {
                give(&c, (enum tn_hint_origin)a, PLACEMENT(PLACE(ALL, ON("gpu"), "force") ", "
                                                           PLACE("{\"op_types\": [\"attention\"]}", ON("cpu"), "force")));
            } else {
                give(&c, (enum tn_hint_origin)b, PLACEMENT(PLACE(ALL, ON("gpu"), "force")));
                give(&c, (enum tn_hint_origin)a, PLACEMENT(PLACE("{\"op_types\": [\"attention\"]}", ON("cpu"), "force")));
            }
            REQUIRE(judge(&c) == TN_OK);
            CHECK_INT(c.findings.blockers, 1);
            CHECK_INT(outcome(&c, 0), TN_HINT_IS_CONFLICT);
            CHECK_INT(outcome(&c, 1), TN_HINT_IS_CONFLICT);
            const struct tn_finding *f = with_code(&c, TN_BLOCKER, TN_HINT_CONFLICT);
            REQUIRE(f);
            CHECK_CONTAINS(f->message, "layer 0 attention");
            CHECK_CONTAINS(f->message, "2 node(s)");
            CHECK_STR(f->element, a == b ? "/placement/1" : "/placement/0");
            CHECK_CONTAINS(f->found, "cpu by");
            CHECK_CONTAINS(f->found, tn_hint_origin_for_people((enum tn_hint_origin)a));
            CHECK_CONTAINS(f->expected, "gpu by");
            CHECK_CONTAINS(f->expected, tn_hint_origin_for_people((enum tn_hint_origin)b));
            CHECK_CONTAINS(f->expected, "#/placement/0");
            end(&c);
        }
    }
}

/* Dropping the other side of the conflict would not help: that is told in the same pass. */
TEST(a_conflicting_force_that_cannot_be_had_is_told_too)
{
    struct court c;
    begin(&c);
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE(ALL, ON("gpu"), "force")));
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, ON("cpu"), "force")));
    c.world.device_count = 1;
    REQUIRE(judge(&c) == TN_OK);
    CHECK(with_code(&c, TN_BLOCKER, TN_HINT_CONFLICT));
    const struct tn_finding *f = with_code(&c, TN_BLOCKER, TN_PLACEMENT_REFUSED);
    REQUIRE(f);
    CHECK_CONTAINS(f->found, "gpu by");
    CHECK_CONTAINS(f->expected, "cpu");
    CHECK_INT(c.findings.blockers, 2);
    end(&c);
}

TEST(each_pair_of_a_threefold_conflict_is_told)
{
    struct court c;
    begin(&c);
    c.world.device_count = 3;
    give(&c, TN_HINT_FROM_METADATA, PLACEMENT(PLACE("{\"layer_range\": {\"start\": 0, \"end\": 0}}", ON("gpu"), "force")));
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE("{\"layer_range\": {\"start\": 1, \"end\": 1}}", ON("gpu"), "force")));
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, ON("cpu"), "force")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(c.findings.blockers, 2);
    for (size_t i = 0; i < 3; i++) CHECK_INT(outcome(&c, i), TN_HINT_IS_CONFLICT);
    end(&c);
}

TEST(forces_on_different_nodes_do_not_conflict)
{
    struct court c;
    begin(&c);
    c.world.device_count = 3;
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE("{\"op_types\": [\"attention\"]}", ON("cpu"), "force")));
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE("{\"op_types\": [\"linear\"]}", ON("gpu"), "force")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(c.findings.count, 0);
    end(&c);
}

/* ---- what can be had ---- */

TEST(a_forced_device_that_is_not_here_is_refused)
{
    struct court c;
    begin(&c);
    give(&c, TN_HINT_FROM_METADATA, PLACEMENT(PLACE(ALL, "{\"type\": \"gpu\", \"index\": 1}", "force")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_REFUSED);
    const struct tn_finding *f = with_code(&c, TN_BLOCKER, TN_PLACEMENT_REFUSED);
    REQUIRE(f);
    CHECK_STR(f->file, "tenon_package.json");
    CHECK_STR(f->element, "/placement/0");
    CHECK_CONTAINS(f->found, "gpu:1 by the package");
    CHECK_CONTAINS(f->expected, "cpu:0");
    end(&c);
}

TEST(a_preferred_device_that_is_not_here_is_noted_and_stands_against_nobody)
{
    struct court c;
    begin(&c);
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, ON("gpu"), "prefer")));
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE(ALL, ON("cpu"), "prefer")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_UNMET);
    CHECK_INT(outcome(&c, 1), TN_HINT_IS_SATISFIED);
    CHECK_INT(c.findings.blockers, 0);
    REQUIRE(with_code(&c, TN_NOTE, TN_PLACEMENT_REFUSED));
    end(&c);
}

TEST(an_index_that_is_not_here_is_no_device)
{
    struct court c;
    begin(&c);
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, "{\"type\": \"cpu\", \"index\": 1}", "force")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_REFUSED);
    end(&c);
    begin(&c);
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, "{\"type\": \"cpu\", \"index\": 0}", "force")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_SATISFIED);
    end(&c);
}

/* A typing mistake of the user's is a warning; a package's hint for another exporter's names is a note. */
/* Each of many hints has its outcome; what is said of them stays short, and as grave. */
static void many(const char *one, enum tn_hint_outcome fate, enum tn_severity severity, enum tn_status code, const char *rest)
{
    enum { MANY = 500 };
    struct court c;
    size_t n = 0, cap = 1 << 18;
    char *text = malloc(cap);
    n += (size_t)snprintf(text + n, cap - n, "{\"placement\": [");
    for (int i = 0; i < MANY; i++) n += (size_t)snprintf(text + n, cap - n, "%s%s", i ? ", " : "", one);
    snprintf(text + n, cap - n, "]}");
    begin(&c);
    CHECK_INT(give(&c, TN_HINT_FROM_USER, text), TN_OK);
    CHECK_INT(judge(&c), TN_OK);
    CHECK_INT(c.results.count, MANY);
    for (size_t i = 0; i < c.results.count; i++) CHECK_INT(outcome(&c, i), fate);
    CHECK_INT(c.findings.count, 21);
    CHECK_INT(c.findings.blockers, severity == TN_BLOCKER ? 21 : 0);
    for (size_t i = 0; i < c.findings.count; i++) {
        CHECK_INT(c.findings.items[i].severity, severity);
        CHECK_INT(c.findings.items[i].code, code);
    }
    REQUIRE(c.findings.count == 21);
    CHECK_CONTAINS(c.findings.items[0].element, "/placement/0");
    CHECK_STR(c.findings.items[20].message, rest);
    CHECK_CONTAINS(c.findings.items[20].found, "480 more");
    end(&c);
    free(text);
}

TEST(hints_of_one_fate_are_summed_up)
{
    many(PLACE("{\"names\": [\"nobody\"]}", ON("cpu"), "prefer"), TN_HINT_IS_EMPTY, TN_WARNING, TN_INVALID_REQUEST,
         "more hints select nothing");
    many(PLACE(ALL, ON("gpu"), "force"), TN_HINT_IS_REFUSED, TN_BLOCKER, TN_PLACEMENT_REFUSED,
         "more forced placements cannot be had");
    many(PLACE(ALL, ON("gpu"), "prefer"), TN_HINT_IS_UNMET, TN_NOTE, TN_PLACEMENT_REFUSED,
         "more preferred placements are not followed");
}

/* Each forced device stands against the one before it: 79 pairs. */
TEST(conflicts_beyond_those_that_are_told_are_counted)
{
    struct court c;
    size_t n = 0, cap = 1 << 16, told = 0;
    char *text = malloc(cap);
    n += (size_t)snprintf(text + n, cap - n, "{\"placement\": [");
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, cap - n, "%s" PLACE(ALL, "{\"type\": \"gpu\", \"index\": %d}", "force"), i ? ", " : "", i);
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, cap - n, ", " PLACE("{\"names\": [\"embeddings\"]}", "{\"type\": \"gpu\", \"index\": %d}",
                                                         "force"), 100 + i);
    snprintf(text + n, cap - n, "]}");
    begin(&c);
    CHECK_INT(give(&c, TN_HINT_FROM_USER, text), TN_OK);
    CHECK_INT(judge(&c), TN_OK);
    for (size_t i = 0; i < c.results.count; i++) CHECK_INT(outcome(&c, i), TN_HINT_IS_CONFLICT);
    for (size_t i = 0; i < c.findings.count; i++) told += c.findings.items[i].code == TN_HINT_CONFLICT;
    CHECK_INT(told, 65);
    /* none of the devices is here, which is told as often as such things are told one by one, and then counted */
    size_t unavailable = 0;
    for (size_t i = 0; i < c.findings.count; i++) unavailable += c.findings.items[i].code == TN_PLACEMENT_REFUSED;
    CHECK_INT(unavailable, 21);
    CHECK_INT(c.findings.blockers, 65 + 21);
    CHECK_STR(c.findings.items[c.findings.count - 1].message, "more pairs of forced placements exclude each other");
    end(&c);
    free(text);
}

TEST(a_hint_that_selects_nothing_is_told)
{
    for (int origin = 0; origin < TN_HINT_ORIGINS; origin++) {
        struct court c;
        bool ours = origin == TN_HINT_FROM_CALLER || origin == TN_HINT_FROM_USER;
        begin(&c);
        give(&c, (enum tn_hint_origin)origin, PLACEMENT(PLACE("{\"pattern\": \"kv_cache*\"}", ON("gpu"), "force")));
        REQUIRE(judge(&c) == TN_OK);
        CHECK_INT(outcome(&c, 0), TN_HINT_IS_EMPTY);
        CHECK_INT(c.findings.blockers, 0);
        CHECK(with_code(&c, ours ? TN_WARNING : TN_NOTE, ours ? TN_INVALID_REQUEST : TN_METADATA_INVALID));
        end(&c);
    }
}

TEST(hints_without_use_are_told_with_the_reason)
{
    struct court c;
    begin(&c);
    give(&c, TN_HINT_FROM_CALLER, "{\"memory\": [{\"action\": \"pin\"}, {\"action\": \"low_priority\", \"selector\": {\"names\": "
                                  "[\"embeddings\", \"nope\"]}}], \"scheduling\": [{\"action\": \"cuda_graph_region\"}, {\"action\": "
                                  "\"overlap\"}]}");
    REQUIRE(judge(&c) == TN_OK);
    CHECK(with_code(&c, TN_WARNING, TN_INVALID_REQUEST)); /* of two names one is nowhere */
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_SATISFIED);
    CHECK_STR(c.results.items[0].why, "it stays");
    CHECK_INT(c.results.items[0].lost, 1); /* low_priority stands against it there */
    CHECK_INT(outcome(&c, 1), TN_HINT_IS_NO_USE);
    CHECK_INT(outcome(&c, 2), TN_HINT_IS_NO_USE);
    CHECK_STR(c.results.items[2].why, "no such thing");
    CHECK_INT(outcome(&c, 3), TN_HINT_IS_NO_USE);
    CHECK_INT(c.findings.blockers, 0);
    size_t notes = 0;
    for (size_t i = 0; i < c.findings.count; i++) notes += c.findings.items[i].code == TN_UNSUPPORTED_OPTION;
    CHECK_INT(notes, 3);
    end(&c);
}

TEST(arenas_are_compared_by_device)
{
    struct court c;
    begin(&c);
    give(&c, TN_HINT_FROM_USER, "{\"memory\": [{\"action\": \"arena_size\", \"device\": {\"type\": \"cpu\"}, \"bytes\": 5}]}");
    give(&c, TN_HINT_FROM_CALLER, "{\"memory\": [{\"action\": \"arena_size\", \"device\": {\"type\": \"cpu\"}, \"bytes\": 6}, "
                                  "{\"action\": \"arena_size\", \"device\": {\"type\": \"gpu\"}, \"bytes\": 7}]}");
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_NO_USE);
    CHECK_INT(outcome(&c, 1), TN_HINT_IS_NO_USE);
    CHECK_STR(c.results.items[1].why, "no such device can be used here");
    CHECK_INT(outcome(&c, 2), TN_HINT_IS_OVERRIDDEN);
    CHECK(c.results.items[2].by == c.results.items[0].hint);
    end(&c);
}

TEST(without_a_graph_only_what_cannot_be_is_judged)
{
    struct court c;
    begin(&c);
    c.world.nodes = NULL;
    c.world.node_count = 0;
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, ON("gpu"), "force") ", " PLACE(ALL, ON("cpu"), "prefer")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_REFUSED);
    CHECK_INT(outcome(&c, 1), TN_HINT_IS_UNJUDGED);
    CHECK_INT(c.findings.blockers, 1);
    end(&c);
}

TEST(the_device_of_everything_needs_no_graph)
{
    struct court c;
    begin(&c);
    const struct tn_hint_list *lists[TN_HINT_ORIGINS];
    for (int i = 0; i < TN_HINT_ORIGINS; i++) lists[i] = &c.lists[i];
    CHECK(tn_hints_device(lists, TN_HINT_ORIGINS, both, 1) == NULL);
    give(&c, TN_HINT_FROM_METADATA, PLACEMENT(PLACE(ALL, ON("cpu"), "prefer")));
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE("{\"pattern\": \"layer*\"}", ON("cpu"), "force") ", " PLACE(ALL, ON("cpu"), "prefer")));
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, ON("gpu"), "prefer")));
    const struct tn_hint *h = tn_hints_device(lists, TN_HINT_ORIGINS, both, 1);
    REQUIRE(h);
    CHECK_INT(h->origin, TN_HINT_FROM_USER); /* the caller's cannot be had, and is a preference */
    CHECK(tn_str_is(h->pointer, "/placement/1"));
    h = tn_hints_device(lists, TN_HINT_ORIGINS, both, 3);
    REQUIRE(h);
    CHECK_INT(h->origin, TN_HINT_FROM_CALLER);
    end(&c);
    begin(&c); /* within one document the later one */
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE(ALL, ON("cpu"), "prefer") ", " PLACE(ALL, ON("any"), "prefer")));
    h = tn_hints_device(lists, TN_HINT_ORIGINS, both, 1);
    REQUIRE(h);
    CHECK(tn_str_is(h->pointer, "/placement/1"));
    end(&c);
}

TEST(devices_as_texts)
{
    static const char *const none[] = {"", "tpu", "gpu:", "gpu:x", "gpu:-1", "gpu: 1", "GPU", "gpu:1234567890123456789",
                                       "gpu:99999999999999999999999999999999"};
    struct tn_hint_device d = {0};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) CHECK(!tn_hint_device_parse(tn_str_of(none[i]), &d));
    REQUIRE(tn_hint_device_parse(TN_STR("gpu:123456789012345678"), &d));
    CHECK(d.type == TN_DEVICE_GPU && d.has_index);
    CHECK_INT(d.index, 123456789012345678);
    REQUIRE(tn_hint_device_parse(TN_STR("any"), &d));
    CHECK(d.type == TN_DEVICE_ANY && !d.has_index);
}

/* Numbers that differ contradict each other, whichever is larger; so do kernels of two names. */
TEST(different_numbers_and_kernels_override)
{
    for (int i = 0; i < 2; i++) {
        struct court c;
        begin(&c);
        give(&c, TN_HINT_FROM_USER, i ? "{\"scheduling\": [{\"action\": \"chunk_size\", \"chunk_size\": 8}, "
                                        "{\"action\": \"chunk_size\", \"chunk_size\": 4}]}"
                                      : "{\"scheduling\": [{\"action\": \"chunk_size\", \"chunk_size\": 4}, "
                                        "{\"action\": \"chunk_size\", \"chunk_size\": 8}]}");
        REQUIRE(judge(&c) == TN_OK);
        CHECK_INT(outcome(&c, 0), TN_HINT_IS_OVERRIDDEN);
        CHECK_INT(outcome(&c, 1), TN_HINT_IS_NO_USE);
        end(&c);
    }
    static const struct tn_hint kernels[] = {
        {.kind = TN_HINT_KERNEL, .origin = TN_HINT_FROM_MODEL, .text = TN_STR("flash"), .file = TN_STR("m"), .pointer = TN_STR("a")},
        {.kind = TN_HINT_KERNEL, .origin = TN_HINT_FROM_MODEL, .text = TN_STR("plain"), .file = TN_STR("m"), .pointer = TN_STR("b")},
        {.kind = TN_HINT_KERNEL, .origin = TN_HINT_FROM_MODEL, .text = TN_STR("plain"), .file = TN_STR("m"), .pointer = TN_STR("c")},
    };
    struct court c;
    begin(&c);
    for (size_t i = 0; i < 3; i++) REQUIRE(tn_hint_list_add(&c.lists[TN_HINT_FROM_MODEL], &c.arena, &kernels[i]));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_OVERRIDDEN);
    CHECK_INT(outcome(&c, 1), TN_HINT_IS_NO_USE); /* the third says the same */
    CHECK_INT(outcome(&c, 2), TN_HINT_IS_NO_USE);
    end(&c);
}
