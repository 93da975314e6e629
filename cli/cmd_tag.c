/* tag: spans of texts with their labels. */
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXCERPT = 40 };

static tn_aggregation aggregation_of(const char *text)
{
    static const char *const names[] = {"none", "simple", "first", "average", "max"};
    for (size_t i = 0; text && i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(text, names[i]) == 0) return (tn_aggregation)i;
    return TN_AGGREGATE_NONE;
}

static tn_status start(struct cli *cli, tn_session *session, const struct cli_texts *in, tn_execution **out)
{
    tn_tag_request request = TN_INIT(tn_tag_request);
    request.texts = in->texts;
    request.count = in->count;
    request.aggregation = aggregation_of(cli->values.aggregate);
    request.truncation = cli_truncation(&cli->values);
    request.side = cli_side(&cli->values);
    request.timeout_ms = cli_remaining_ms(cli);
    return tn_tag_start(session, &request, out, cli->err);
}

static void header(struct cli *cli, const struct cli_json *account)
{
    static const char *const names[] = {"aggregation", "score_kind"};
    for (size_t i = 0; i < 2; i++) {
        cli_out_format(&cli->out, "\"%s\": ", names[i]);
        cli_json_write(&cli->out, cli_json_get(cli_json_get(account, "result"), names[i]));
        cli_out_text(&cli->out, ",\n");
    }
}

static void json(struct cli *cli, const struct cli_text_row *row)
{
    struct cli_out *o = &cli->out;
    const tn_event *e = row->event;
    cli_out_text(o, ", \"tags\": [");
    for (size_t k = 0; k < e->tag_count; k++) {
        const tn_tag *t = &e->tags[k];
        cli_out_text(o, k ? ", {\"label\": " : "{\"label\": ");
        cli_out_json(o, t->label.data, t->label.length);
        cli_out_text(o, ", \"score\": ");
        cli_out_f32(o, t->score);
        cli_out_format(o, ", \"start\": %zu, \"end\": %zu, \"bytes\": [%zu,%zu], \"token\": %zu, \"tokens\": %zu}", t->begin_char,
                       t->end_char, t->begin, t->end, t->token, t->token_count);
    }
    cli_out_text(o, "]");
    cli_put_tokens(o, e);
}

static void heading(struct cli *cli)
{
    cli_out_format(&cli->out, "  %5s  %6s  %11s  %-12s  %s\n", "index", "score", "characters", "label", "text");
}

static void line(struct cli *cli, const struct cli_text_row *row)
{
    struct cli_out *o = &cli->out;
    const tn_event *e = row->event;
    if (e->tag_count == 0) cli_out_format(o, "  %5zu  nothing%s\n", row->index, e->truncated ? " in what was not cut (+)" : "");
    for (size_t k = 0; k < e->tag_count; k++) {
        const tn_tag *t = &e->tags[k];
        char range[48];
        size_t length = t->end <= row->length ? t->end - t->begin : 0;
        char *text = cli_safe_copy(row->text + t->begin, length < 200 ? length : 200);
        char *label = cli_safe_copy(t->label.data, t->label.length);
        snprintf(range, sizeof(range), "%zu..%zu", t->begin_char, t->end_char);
        cli_out_format(o, "  %5zu%c %.4f  %11s  %-12s  %.*s%s\n", row->index, e->truncated ? '+' : ' ', (double)t->score, range, label,
                       cli_excerpt(text, EXCERPT), text, strlen(text) > EXCERPT ? " ..." : "");
        free(text);
        free(label);
    }
}

static void fields(struct cli *cli, const struct cli_json *account)
{
    cli_view_field(&cli->view, "aggregation", cli_json_text(cli_json_path(account, "result.aggregation")));
}

int cli_tag(struct cli *cli)
{
    static const struct cli_text_verb verb = {
        .task = "tag", .doing = "tagging", .start = start, .header = header, .json = json,
        .heading = heading, .line = line, .fields = fields};
    return cli_run_texts(cli, &verb);
}
