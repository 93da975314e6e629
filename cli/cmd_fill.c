/* fill: the likeliest tokens in the place of masks. */
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXCERPT = 60, MOST_SHOWN = 240 };

static tn_status start(struct cli *cli, tn_session *session, const struct cli_texts *in, tn_execution **out)
{
    tn_fill_request request = TN_INIT(tn_fill_request);
    request.texts = in->texts;
    request.count = in->count;
    request.top_k = (unsigned)cli->values.top_k;
    request.truncation = cli_truncation(&cli->values);
    request.side = cli_side(&cli->values);
    request.timeout_ms = cli_remaining_ms(cli);
    return tn_fill_start(session, &request, out, cli->err);
}

static void header(struct cli *cli, const struct cli_json *account)
{
    cli_out_text(&cli->out, "\"score_kind\": ");
    cli_json_write(&cli->out, cli_json_path(account, "result.score_kind"));
    cli_out_text(&cli->out, ",\n");
}

static void json_fill(struct cli_out *o, const tn_fill *fill)
{
    cli_out_format(o, "{\"token\": %zu, \"token_str\": ", fill->id);
    cli_out_json(o, fill->token.data, fill->token.length);
    cli_out_text(o, ", \"score\": ");
    cli_out_f32(o, fill->score);
    cli_out_text(o, ", \"sequence\": ");
    cli_out_json(o, fill->sequence.data, fill->sequence.length);
    cli_out_text(o, "}");
}

static void json(struct cli *cli, const struct cli_text_row *row)
{
    struct cli_out *o = &cli->out;
    const tn_event *e = row->event;
    cli_out_text(o, ", \"masks\": [");
    for (size_t m = 0; m < e->mask_count; m++) {
        const tn_mask *mask = &e->masks[m];
        cli_out_format(o, "%s{\"position\": %zu, \"start\": %zu, \"end\": %zu, \"bytes\": [%zu,%zu], \"predictions\": [", m ? ", " : "",
                       mask->position, mask->begin_char, mask->end_char, mask->begin, mask->end);
        for (size_t k = 0; k < mask->fill_count; k++) {
            if (k) cli_out_text(o, ", ");
            json_fill(o, &mask->fills[k]);
        }
        cli_out_text(o, "]}");
    }
    cli_out_text(o, "]");
    cli_put_tokens(o, e);
}

static void heading(struct cli *cli)
{
    cli_out_format(&cli->out, "  %5s  %10s  %9s  %-16s  %s\n", "index", "characters", "score", "token", "text");
}

/* A text for a terminal; *n as much of it as is shown. New string (free). */
static char *shown(tn_string text, int *n)
{
    char *copy = cli_safe_copy(text.data, text.length < MOST_SHOWN ? text.length : MOST_SHOWN);
    *n = cli_excerpt(copy, EXCERPT);
    return copy;
}

static void line(struct cli *cli, const struct cli_text_row *row)
{
    struct cli_out *o = &cli->out;
    const tn_event *e = row->event;
    for (size_t m = 0; m < e->mask_count; m++) {
        const tn_mask *mask = &e->masks[m];
        char range[48];
        snprintf(range, sizeof(range), "%zu..%zu", mask->begin_char, mask->end_char);
        for (size_t k = 0; k < mask->fill_count; k++) {
            const tn_fill *fill = &mask->fills[k];
            int tokens, length;
            char *token = shown(fill->token, &tokens), *text = shown(fill->sequence, &length);
            cli_out_format(o, "  %5zu%c %10s  %9.3g  %-16.*s  %.*s%s\n", row->index, e->truncated ? '+' : ' ', range, (double)fill->score,
                           tokens, token, length, text, strlen(text) > (size_t)length ? " ..." : "");
            free(token);
            free(text);
        }
    }
}

int cli_fill(struct cli *cli)
{
    static const struct cli_text_verb verb = {
        .task = "fill-mask", .doing = "filling", .start = start, .header = header, .json = json, .heading = heading, .line = line};
    return cli_run_texts(cli, &verb);
}
