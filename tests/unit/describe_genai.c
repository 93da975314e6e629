/*
 * The genai_config convention. Oracles: packages that onnxruntime-genai itself opens, and the list of keys that it
 * accepts (tests/golden/genai). What becomes of components and state, the table of keys, patterns, the accepted loss, and
 * failing allocations. The refusals are in describe_genai_refusals.c.
 */
#include "genai_kit.h"

#include "describe/dialect/genai.h"

/* ---- shapes of packages ------------------------------------------------------------------------------------------ */

TEST(one_decoder)
{
    genai_new("plain");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 0);
    CHECK_TSTR(d->dialect, "genai_config");
    CHECK_INT(d->max_seq_length, 64);
    CHECK_FACT(d, "model.type", "\"llama\"", DOCUMENT);
    CHECK_FACT(d, "model.vocab_size", "100", DOCUMENT);
    CHECK_FACT(d, "tokens.eos", "2", DOCUMENT);
    CHECK_FACT(d, "decoder.head_size", "8", DOCUMENT);
    CHECK_FACT(d, "decoder.inputs.past_key_names", "\"past_key_values.%d.key\"", DOCUMENT);
    CHECK_FACT(d, "generation.top_k", "50", DOCUMENT);
    REQUIRE(has_contract(d));
    REQUIRE(d->standard.workflow.component_count == 1);
    const struct tn_std_component *c = &d->standard.workflow.components[0];
    CHECK_TSTR(c->name, "decoder");
    CHECK_TSTR(c->artifact.name, "model.onnx");
    CHECK_INT(c->inputs.count, 6);
    CHECK_INT(c->outputs.count, 5);
    CHECK_INT(c->roles.count, 3);
    CHECK_INT(d->standard.model.max_sequence_length.value, 64);
    CHECK_INT(d->standard.model.kv_heads.value, 2);
    CHECK_TSTR(d->standard.model.attention_type.name, "grouped_query_attention");
    const struct tn_std_group *g = group(d, "full_attention");
    REQUIRE(g && g->port_count == 4);
    CHECK_INT(g->kind, TN_STD_FULL_ATTENTION);
    CHECK_INT(g->aliasing, TN_STD_ALIASING_FORBIDDEN);
    CHECK_INT(g->sequence_axis.value, 2);
    CHECK_INT(g->ports[0].half, TN_STD_KEY);
    CHECK_INT(g->ports[1].layer.value, 1);
    CHECK_TSTR(g->ports[1].output.name, "present.1.key");
    CHECK_INT(d->standard.workflow.cell_count, 4);
    CHECK(d->generation.count >= 13);
    kit_close(d);
}

TEST(a_shared_buffer_permits_aliasing)
{
    genai_new("shared_buffer");
    struct tn_description *d = kit_describe();
    REQUIRE(d && group(d, "full_attention"));
    CHECK_INT(group(d, "full_attention")->aliasing, TN_STD_ALIASING_PERMITTED);
    CHECK_FACT(d, "state.shared_buffer", "true", DOCUMENT);
    kit_close(d);
}

TEST(names_by_default)
{
    genai_new("defaults");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 0);
    CHECK_FACT(d, "decoder.inputs.input_ids", "\"input_ids\"", "default of schema genai_config/0.18");
    CHECK_FACT(d, "decoder.outputs.present_key_names", "\"present.%d.key\"", "default of schema genai_config/0.18");
    REQUIRE(group(d, "full_attention"));
    CHECK_INT(group(d, "full_attention")->port_count, 4);
    kit_close(d);
}

TEST(windows_of_some_layers)
{
    genai_new("windows");
    kit_options.accept_loss = true;
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 0);
    REQUIRE(d->loss_count == 1); /* the form has one window, for all layers */
    CHECK_TSTR(d->losses[0].pointer, "/model/decoder/sliding_window/window_size");
    REQUIRE(group(d, "full_attention") && group(d, "sliding_attention"));
    CHECK_INT(group(d, "full_attention")->port_count, 4);
    CHECK_INT(group(d, "sliding_attention")->port_count, 4);
    CHECK_INT(group(d, "sliding_attention")->kind, TN_STD_SLIDING_ATTENTION);
    CHECK_INT(group(d, "sliding_attention")->ports[1].layer.value, 2);
    CHECK(!d->standard.model.sliding_window.present); /* not of every layer */
    CHECK_FACT(d, "decoder.sliding_window", "16", DOCUMENT);
    kit_close(d);

    kit_edit(DOCUMENT, "\"layers\": [\n                    0,\n                    2\n                ],", "");
    kit_options.accept_loss = false;
    d = kit_describe();
    REQUIRE(d && has_contract(d));
    CHECK_INT(d->standard.model.sliding_window.value, 16);
    CHECK(!group(d, "full_attention"));
    kit_close(d);
}

TEST(recurrent_layers_beside_attention)
{
    genai_new("hybrid");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 0);
    REQUIRE(group(d, "full_attention") && group(d, "past_conv_names"));
    CHECK_INT(group(d, "full_attention")->port_count, 4);
    CHECK_INT(group(d, "past_conv_names")->kind, TN_STD_RECURRENT);
    CHECK_INT(group(d, "past_conv_names")->port_count, 2);
    CHECK_INT(group(d, "past_conv_names")->update, TN_STD_REPLACE);
    CHECK(!group(d, "past_conv_names")->sequence_axis.present);
    kit_close(d);

    /* Without a list of layer types the graph's own ports decide. */
    genai_new("hybrid");
    kit_edit(DOCUMENT, "\"layer_types\": [\n                \"conv\",\n                \"full_attention\",\n"
                       "                \"conv\",\n                \"full_attention\"\n            ],",
             "");
    d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 0);
    REQUIRE(group(d, "full_attention") && group(d, "past_conv_names"));
    CHECK_INT(group(d, "past_conv_names")->port_count, 2);
    kit_close(d);
}

TEST(keys_and_values_in_one)
{
    genai_new("combined");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 0);
    const struct tn_std_group *g = group(d, "full_attention");
    REQUIRE(g && g->port_count == 2);
    CHECK_INT(g->ports[0].half, TN_STD_COMBINED);
    CHECK_INT(g->sequence_axis.value, 3);
    kit_close(d);
}

TEST(encoder_and_decoder)
{
    genai_new("speech_to_text");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 0);
    REQUIRE(d->standard.workflow.component_count == 2);
    CHECK_TSTR(d->standard.workflow.components[0].name, "encoder");
    const struct tn_std_group *g = group(d, "cross_attention");
    REQUIRE(g && g->port_count == 4);
    CHECK(g->ports[0].read_only && g->ports[0].output.name.n == 0);
    CHECK_INT(g->kind, TN_STD_CROSS_ATTENTION);
    /* The decoder reads what the encoder gave. */
    const struct tn_std_step *step = &d->standard.workflow.steps.items[1];
    CHECK_TSTR(step->component.name, "decoder");
    bool wired = false;
    for (size_t i = 0; i < step->inputs.count; i++)
        wired = wired || (tn_str_is(step->inputs.items[i].key, "past_value_cross_1") &&
                          tn_str_is(step->inputs.items[i].value, "encoder.present_value_cross_1"));
    CHECK(wired);
    kit_close(d);
}

TEST(pictures_go_through_the_embedding)
{
    genai_new("pictures");
    kit_options.accept_loss = true;
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 0);
    REQUIRE(d->standard.workflow.component_count == 3);
    CHECK_FACT(d, "tokens.image", "7", DOCUMENT);
    const struct tn_std_step *step = &d->standard.workflow.steps.items[1];
    CHECK_TSTR(step->component.name, "embedding");
    CHECK_TSTR(step->inputs.items[1].value, "vision.image_features");
    CHECK_TSTR(d->standard.workflow.steps.items[2].inputs.items[0].value, "embedding.inputs_embeds");
    REQUIRE(d->loss_count == 1);
    CHECK_TSTR(d->losses[0].pointer, "/model/vision/config_filename");
    kit_close(d);
}

TEST(stages_of_a_pipeline)
{
    genai_new("stages");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 0);
    REQUIRE(d->standard.workflow.component_count == 4);
    CHECK_TSTR(d->standard.workflow.components[2].name, "decoder.block1");
    CHECK_TSTR(d->standard.workflow.components[2].artifact.name, "block1.onnx");
    /* hidden_2 is renamed to states on its way. */
    CHECK_TSTR(d->standard.workflow.steps.items[3].inputs.items[0].value, "decoder.block1.hidden_2");
    const struct tn_std_group *g = group(d, "full_attention");
    REQUIRE(g && g->port_count == 4);
    CHECK_TSTR(g->ports[2].component, "decoder.block1");
    CHECK_INT(g->ports[2].layer.value, 1);
    kit_close(d);

    genai_new("stages_apart");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, DOCUMENT, "/model/decoder/pipeline/3/head/run_on_prompt",
               "some steps of generation");
    FAULTS(d, 1);
    CHECK(!has_contract(d));
    kit_close(d);
}

TEST(alternatives_in_folders)
{
    genai_new("two_folders");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_AMBIGUOUS_PACKAGE, NULL, "variant", "several alternatives", "2 folders");
    kit_close(d);
    kit_options.variant = "gpu/model.onnx";
    d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 0);
    CHECK_FACT(d, "model.type", "\"llama\"", "gpu/" DOCUMENT);
    REQUIRE(d->standard.workflow.component_count == 1);
    CHECK_TSTR(d->standard.workflow.components[0].artifact.name, "gpu/model.onnx");
    kit_close(d);
}

TEST(weights_that_run_come_first)
{
    genai_new("plain");
    put_tensor(kit_name("model.safetensors"), "embeddings.word_embeddings.weight");
    kit_put("config.json", KIT_CONFIG);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_TSTR(d->dialect, "transformers");
    kit_close(d);
}

/* Whatever the library opens is understood, and the other way round. */
TEST(packages_that_the_library_opens)
{
    size_t size, count = 0;
    struct tn_json_doc doc;
    char *text = test_read_file(test_path("golden/genai/opened.json"), &size);
    REQUIRE(text && tn_json_parse(&doc, &alloc, &ctx.limits, TN_STR("opened.json"), (struct tn_str){text, size}, err) == TN_OK);
    for (struct tn_json v = tn_json_first(tn_json_get(tn_json_root(&doc), "packages")); tn_json_present(v); v = tn_json_next(v)) {
        char name[128];
        bool taken = false, opened = false;
        snprintf(name, sizeof(name), "%.*s", TN_FMT_ARG(tn_json_key(v)));
        CHECK(tn_json_bool(tn_json_get(v, "document"), &taken) && tn_json_bool(tn_json_get(v, "package"), &opened));
        genai_new(name);
        kit_options.accept_loss = true;
        struct tn_description *d = NULL;
        kit_inventory = open_package(in_folder("%s", kit_root));
        if (!kit_inventory || tn_describe(kit_inventory, &kit_options, &d, err) != TN_OK) continue;
        CHECK(taken && opened);
        bool apart = strcmp(name, "stages_apart") == 0; /* opened there, and refused here with its reason */
        CHECK_INT(faults(d), apart ? 1 : 0);
        CHECK_INT(has_contract(d), !apart);
        tn_description_free(d);
        tn_inventory_free(kit_inventory);
        count++;
    }
    tn_json_release(&doc);
    free(text);
    CHECK(count >= 13);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* Whether the path, or one above it, has a row. */
static const struct tn_genai_key *row_of(struct tn_str *names, size_t count)
{
    const struct tn_genai_key *key = tn_genai_key_of(names, count);
    for (size_t n = count; !key && n-- > 1;) {
        const struct tn_genai_key *above = tn_genai_key_of(names, n);
        if (above && (above->class == TN_GENAI_DROPPED || above->rest)) key = above;
    }
    return key;
}

static size_t split(struct tn_str path, struct tn_str *names)
{
    size_t count = 0;
    for (size_t i = 0; i < path.n; i++) {
        if (path.s[i] != '/') continue;
        size_t end = i + 1;
        while (end < path.n && path.s[end] != '/') end++;
        if (end > i + 1 && count < TN_GENAI_DEPTH) names[count++] = (struct tn_str){path.s + i + 1, end - i - 1};
    }
    return count;
}

static bool open_keys(struct tn_json_doc *doc, char **text)
{
    size_t size;
    *text = test_read_file(test_path("golden/genai/keys.json"), &size);
    if (!*text) return false;
    return tn_json_parse(doc, &alloc, &ctx.limits, TN_STR("keys.json"), (struct tn_str){*text, size}, err) == TN_OK;
}

/* Every key that the library accepts is classified. */
TEST(the_librarys_keys_are_in_the_table)
{
    struct tn_json_doc doc;
    char *text;
    size_t count = 0;
    REQUIRE(open_keys(&doc, &text));
    for (struct tn_json o = tn_json_first(tn_json_get(tn_json_root(&doc), "keys")); tn_json_present(o); o = tn_json_next(o)) {
        struct tn_str names[TN_GENAI_DEPTH + 1];
        size_t depth = split(tn_json_key(o), names);
        for (struct tn_json k = tn_json_first(o); tn_json_present(k); k = tn_json_next(k)) {
            names[depth] = tn_json_key(k);
            if (tn_str_is(names[depth], "*") || depth == TN_GENAI_DEPTH) continue;
            if (!row_of(names, depth + 1))
                test_fail(__FILE__, __LINE__, "no row for %.*s/%.*s", TN_FMT_ARG(tn_json_key(o)), TN_FMT_ARG(names[depth]));
            count++;
        }
    }
    CHECK(count > 500);
    tn_json_release(&doc);
    free(text);
}

/* Whether keys.json has a path, whose * stand for the names below. */
static bool library_has(const struct tn_json_doc *doc, const char *path)
{
    char object[256];
    const char *last = strrchr(path, '/');
    snprintf(object, sizeof(object), "%.*s", last == path ? 1 : (int)(last - path), path);
    struct tn_json o = tn_json_get(tn_json_get(tn_json_root(doc), "keys"), object);
    if (tn_json_present(tn_json_get(tn_json_get(tn_json_root(doc), "refused"), path))) return true; /* of older releases */
    return tn_json_present(tn_json_get(o, strcmp(last + 1, "*") == 0 ? "*" : last + 1));
}

/* And nothing else: a key that no library ever had is no key. */
TEST(the_tables_keys_are_the_librarys)
{
    static const char *const sections[] = {"decoder", "encoder", "embedding", "vision", "speech", "joiner"};
    struct tn_json_doc doc;
    char *text, path[256];
    REQUIRE(open_keys(&doc, &text));
    for (size_t i = 0; i < tn_genai_key_count(); i++) {
        const struct tn_genai_key *key = tn_genai_key_at(i);
        const char *star = strstr(key->path, "/model/*");
        bool found = !star && library_has(&doc, key->path);
        for (size_t s = 0; star && s < 6; s++) {
            snprintf(path, sizeof(path), "/model/%s%s", sections[s], key->path + strlen("/model/*"));
            found = found || library_has(&doc, path);
        }
        if (!found && key->class != TN_GENAI_DENIED)
            test_fail(__FILE__, __LINE__, "the library has no %s", key->path);
    }
    for (size_t i = 0; i < tn_genai_port_count(); i++) {
        const struct tn_genai_port *p = tn_genai_port_at(i);
        snprintf(path, sizeof(path), "/model/%s/%s/%s", p->section, p->direction == TN_GENAI_INPUT ? "inputs" : "outputs",
                 p->key);
        if (!library_has(&doc, path)) test_fail(__FILE__, __LINE__, "the library has no %s", path);
    }
    tn_json_release(&doc);
    free(text);
}

/* What the tables promise to the code that reads them. */
TEST(tables_hold_together)
{
    const char *states[32];
    size_t groups = 0;
    for (size_t i = 0; i < tn_genai_key_count(); i++) {
        const struct tn_genai_key *key = tn_genai_key_at(i);
        CHECK(key->class == TN_GENAI_OBJECT || key->class == TN_GENAI_DENIED || (key->text && *key->text));
        if (key->class != TN_GENAI_USED) continue;
        CHECK(key->kind != TN_GENAI_ANY && key->low <= key->high);
        size_t stars = 0, wanted = 0;
        for (const char *p = key->path; *p; p++) stars += *p == '*';
        for (const char *p = key->text; *p; p++) wanted += *p == '*';
        CHECK(wanted <= stars);
    }
    for (size_t i = 0; i < tn_genai_port_count(); i++) {
        const struct tn_genai_port *p = tn_genai_port_at(i);
        CHECK(!p->name || (p->per_layer ? tn_genai_pattern(tn_str_of(p->name)) : strchr(p->name, '%') == NULL));
        CHECK((p->family == TN_GENAI_ATTENTION || p->family == TN_GENAI_CROSS) == (p->half != NULL));
        bool state = p->direction == TN_GENAI_INPUT && (p->family == TN_GENAI_ATTENTION || p->family == TN_GENAI_RECURRENT);
        CHECK(state == (p->next != NULL));
        bool successor = !p->next;
        for (size_t k = 0; k < tn_genai_port_count(); k++) {
            const struct tn_genai_port *q = tn_genai_port_at(k);
            if (p->next && strcmp(q->section, p->section) == 0 && q->direction == TN_GENAI_OUTPUT)
                successor = successor || (strcmp(q->key, p->next) == 0 && q->per_layer == p->per_layer);
        }
        CHECK(successor);
        if (p->family == TN_GENAI_RECURRENT && p->direction == TN_GENAI_INPUT) states[groups++] = p->key;
    }
    /* full, sliding, cross, and one for each recurrent key: struct tn_genai_wiring has room for 16 */
    CHECK(groups > 0 && groups + 3 <= 16);
    for (size_t i = 0; i < groups; i++)
        for (size_t k = 0; k < i; k++) CHECK(strcmp(states[i], states[k]) != 0);
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

TEST(patterns)
{
    static const char *const good[] = {"%d", "past.%d.key", "past%d", "%d.x"};
    static const char *const bad[] = {"", "past", "%d%d", "a%d.%d", "%s", "%02d", "%", "a%", "%%d", "%d%", "%5d", "%ld", "%D", "% d", "%n"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) CHECK(tn_genai_pattern(tn_str_of(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (tn_genai_pattern(tn_str_of(bad[i]))) test_fail(__FILE__, __LINE__, "\"%s\" is no pattern", bad[i]);
}

/* ---- accepted losses --------------------------------------------------------------------------------------------- */

TEST(an_accepted_loss_is_evidence)
{
    genai_new("as_built");
    kit_edit(DOCUMENT, "\"top_k\": 20", "\"top_k\": 20, \"min_p\": 0.1, \"random_seed\": 4");
    kit_edit(DOCUMENT, "\"search\": {", "\"engine\": {\"static_batching\": {\"max_batch_size\": 4}}, \"search\": {");
    kit_options.accept_loss = true;
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 0);
    CHECK(has_contract(d));
    REQUIRE(d->loss_count == 5);
    CHECK_TSTR(d->losses[0].pointer, "/model/decoder/session_options/log_id");
    CHECK_INT(d->losses[0].kind, TN_LOSS_DROPPED);
    CHECK_TSTR(d->losses[0].file, DOCUMENT);
    CHECK(d->losses[0].reason.n > 10);
    CHECK_TSTR(d->losses[1].pointer, "/engine");
    CHECK_TSTR(d->losses[2].pointer, "/search/min_p");
    CHECK_INT(d->losses[2].kind, TN_LOSS_UNKNOWN);
    CHECK_TSTR(d->losses[3].pointer, "/search/random_seed");
    CHECK_TSTR(d->losses[4].pointer, "/model/eos_token_id/1"); /* the form has one end of text */
    CHECK_FACT(d, "loss./search/min_p", "0.1", DOCUMENT);
    CHECK_INT(kit_fact(d, "loss./search/min_p")->origin, TN_FROM_USER);
    kit_close(d);
}

TEST(a_loss_is_never_silent)
{
    static char text[4000];
    size_t n = (size_t)snprintf(text, sizeof(text), "\"top_k\": 50");
    for (int i = 0; i < 100; i++) n += (size_t)snprintf(text + n, sizeof(text) - n, ", \"unknown%d\": %d", i, i);
    genai_new("plain");
    kit_edit(DOCUMENT, "\"top_k\": 50", text);
    kit_options.accept_loss = true;
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->loss_count == 100);
    for (uint32_t i = 0; i < 100; i++) {
        char pointer[64];
        snprintf(pointer, sizeof(pointer), "/search/unknown%u", i);
        CHECK_TSTR(d->losses[i].pointer, pointer);
    }
    kit_close(d);
}

TEST(one_field_can_be_asserted_descriptive)
{
    static const char *const unknown[] = {"/search/min_p"}, *const known[] = {"/search/random_seed"};
    genai_new("plain");
    kit_edit(DOCUMENT, "\"top_k\": 50", "\"top_k\": 50, \"min_p\": 0.1");
    kit_options.descriptive = unknown;
    kit_options.descriptive_count = 1;
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 0);
    CHECK_INT(d->loss_count, 0);
    CHECK_INT(d->descriptive_count, 1);
    kit_close(d);
    kit_edit(DOCUMENT, "\"min_p\": 0.1", "\"random_seed\": 7");
    kit_options.descriptive = known;
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_OPTION, NULL, "descriptive", "is known");
    kit_close(d);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void sweep(const char *package, bool accept)
{
    genai_new(package);
    kit_edit(DOCUMENT, "\"top_k\"", "\"min_p\": 0.1, \"random_seed\": 3, \"top_k\"");
    kit_options.accept_loss = accept;
    struct tn_inventory *inv = open_package(in_folder("%s", kit_root));
    if (!inv) return;
    uint64_t before = tn_alloc_current(&alloc);
    for (uint64_t n = 1;; n++) {
        struct tn_description *d = NULL;
        tn_error_clear(err);
        tn_alloc_fail(&alloc, n, n % 2 == 0);
        enum tn_status status = tn_describe(inv, &kit_options, &d, err);
        bool reached = alloc.calls >= alloc.fail_at;
        alloc.fail_at = 0;
        alloc.fail_after = false;
        if (status == TN_OK && reached && d->findings.dropped == 0 && d->loss_count != (accept ? 2 : 0))
            test_fail(__FILE__, __LINE__, "allocation %llu: a loss went missing", (unsigned long long)n);
        if (status != TN_OK && (status != TN_INSUFFICIENT_MEMORY || d != NULL))
            test_fail(__FILE__, __LINE__, "allocation %llu: %s", (unsigned long long)n, tn_status_name(status));
        tn_description_free(d);
        if (tn_alloc_current(&alloc) != before) {
            test_fail(__FILE__, __LINE__, "allocation %llu: something stays", (unsigned long long)n);
            break;
        }
        if (!reached) break;
    }
    close_package(inv);
}

TEST(every_allocation_can_fail)
{
    sweep("speech_to_text", true);
    sweep("stages", true);
    sweep("plain", false);
}
