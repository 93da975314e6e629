/* Common choices of requests over texts. Values come from callers and are checked here. */
#include "task/text_choices.h"

#include "base/json_write.h"

static const char *const truncations[] = {[TN_TRUNCATE_LONGEST_FIRST] = "longest_first",
                                          [TN_TRUNCATE_ONLY_FIRST] = "only_first",
                                          [TN_TRUNCATE_ONLY_SECOND] = "only_second",
                                          [TN_TRUNCATE_NO] = "no"};
static const char *const sides[] = {[TN_SIDE_RIGHT] = "right", [TN_SIDE_LEFT] = "left"};

const char *tn_truncation_name(tn_truncation truncation)
{
    return (unsigned)truncation < sizeof(truncations) / sizeof(truncations[0]) ? truncations[truncation] : NULL;
}

const char *tn_side_name(tn_side side)
{
    return (unsigned)side < sizeof(sides) / sizeof(sides[0]) ? sides[side] : NULL;
}

enum tn_status tn_text_choices_check(const struct tn_description *d, const struct tn_text_choices *c,
                                     const struct tn_prompt **prompt, struct tn_error *err)
{
    if (c->truncation != TN_TRUNCATE_AUTO && !tn_truncation_name(c->truncation)) {
        return tn_request_refuse(err, "truncation", "truncation has no such value",
                                 "auto, longest_first, only_first, only_second or no", (unsigned long long)c->truncation);
    }
    if (c->side != TN_SIDE_AUTO && !tn_side_name(c->side)) {
        return tn_request_refuse(err, "side", "side has no such value", "auto, right or left", (unsigned long long)c->side);
    }
    return tn_request_prompt(d, c->role, prompt, err);
}

void tn_text_choices_apply(const struct tn_text_choices *c, struct tn_text_items *t)
{
    t->truncate = c->truncation != TN_TRUNCATE_NO;
    t->encode.strategy = c->truncation == TN_TRUNCATE_ONLY_FIRST    ? TN_TEXT_ONLY_FIRST
                         : c->truncation == TN_TRUNCATE_ONLY_SECOND ? TN_TEXT_ONLY_SECOND
                                                                    : TN_TEXT_LONGEST_FIRST;
    if (c->side != TN_SIDE_AUTO) t->encode.truncate_left = c->side == TN_SIDE_LEFT;
    t->atomic = c->atomic;
    t->batch = c->batch;
}

void tn_text_choices_defaults(struct tn_option_maker *m, const struct tn_task_route *route)
{
    const struct tn_description *d = m->d;
    struct tn_option *o = tn_option_begin(m, "role", TN_STR("null"));
    if (d->default_prompt.n) tn_option_of_package(m, o, tn_json_text_of_str(m->arena, d->default_prompt), "package.default_prompt_name");
    tn_text_cuts_defaults(m, route);
}

void tn_text_cuts_defaults(struct tn_option_maker *m, const struct tn_task_route *route)
{
    const struct tn_description *d = m->d;
    tn_option_begin(m, "truncation", TN_STR("\"longest_first\""));
    struct tn_option *o = tn_option_begin(m, "side", TN_STR("\"right\""));
    if (d->tokenizer.truncation_side.n)
        tn_option_of_package(m, o, tn_json_text_of_str(m->arena, d->tokenizer.truncation_side), "tokenizer.truncation_side");
    o = tn_option_begin(m, "max_tokens", (struct tn_str){NULL, 0});
    tn_option_of_package(m, o, tn_json_text_of_u64(m->arena, route->max_tokens), "max_seq_length");
    tn_option_begin(m, "atomic", TN_STR("false"));
    tn_option_begin(m, "batch", TN_STR("\"by tokens\""));
    tn_option_begin(m, "timeout_ms", TN_STR("0"));
}

void tn_text_choices_state(const struct tn_text_choices *c, struct tn_stated *s)
{
    const char *truncation = tn_truncation_name(c->truncation), *side = tn_side_name(c->side);
    if (c->role && c->role[0]) tn_stated_request_word(s, "role", c->role);
    else if (c->role) tn_stated_request(s, "role", TN_STR("null"));
    if (truncation) tn_stated_request_word(s, "truncation", truncation);
    if (side) tn_stated_request_word(s, "side", side);
    if (c->atomic) tn_stated_request(s, "atomic", TN_STR("true"));
    if (c->batch) tn_stated_request_u64(s, "batch", c->batch);
    if (c->timeout_ms) tn_stated_request_u64(s, "timeout_ms", c->timeout_ms);
}

/* ---- documents ------------------------------------------------------------------------------------------------------ */

void tn_text_modules_write(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task_route *route)
{
    tn_jw_key(w, "modules");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < d->module_count; i++) {
        tn_jw_begin_object(w);
        tn_jw_member_u64(w, "index", d->modules[i].index);
        tn_jw_member_cstr(w, "kind", tn_module_kind_name(d->modules[i].kind));
        tn_jw_member_cstr(w, "runs_in", i < route->module_end ? "provider" : "recipe");
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

void tn_text_route_write(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task_route *route)
{
    tn_jw_key(w, "prompts");
    tn_jw_begin_object(w);
    for (uint32_t i = 0; i < d->prompt_count; i++) {
        tn_jw_key_str(w, d->prompts[i].name);
        tn_jw_str(w, d->prompts[i].text);
    }
    tn_jw_end_object(w);
    tn_jw_key(w, "default_prompt");
    if (d->default_prompt.n) {
        tn_jw_str(w, d->default_prompt);
    } else {
        tn_jw_null(w);
    }
    tn_jw_member_u64(w, "max_tokens", route->max_tokens);
    tn_jw_member_str(w, "truncation_side", d->tokenizer.truncation_side);
}
