/* classify: labels of texts with their scores. */
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many labels a line for people shows; --json shows all. */
enum { SHOWN = 5 };

static tn_status start(struct cli *cli, tn_session *session, const struct cli_texts *in, tn_execution **out)
{
    const struct cli_values *v = &cli->values;
    tn_classify_request request = TN_INIT(tn_classify_request);
    request.texts = in->texts;
    request.pairs = in->pairs;
    request.count = in->count;
    request.top_k = (unsigned)v->top_k;
    request.threshold_set = cli_given(v, "threshold");
    request.threshold = (float)v->threshold;
    request.truncation = cli_truncation(&cli->values);
    request.side = cli_side(&cli->values);
    request.timeout_ms = cli_remaining_ms(cli);
    return tn_classify_start(session, &request, out, cli->err);
}

static void header(struct cli *cli, const struct cli_json *account)
{
    static const char *const names[] = {"problem", "score_kind"};
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
    cli_out_text(o, ", \"labels\": [");
    for (size_t k = 0; k < e->label_count; k++) {
        cli_out_format(o, "%s{\"id\": %zu, \"label\": ", k ? ", " : "", e->labels[k].id);
        cli_out_json(o, e->labels[k].name.data, e->labels[k].name.length);
        cli_out_text(o, ", \"score\": ");
        cli_out_f32(o, e->labels[k].score);
        cli_out_text(o, "}");
    }
    cli_out_format(o, "], \"score_kind\": \"%s\", \"logits\": ", tn_score_kind_name(e->score_kind));
    cli_put_numbers(o, e->logits, e->logit_count);
    cli_put_tokens(o, e);
}

static void heading(struct cli *cli)
{
    cli_out_format(&cli->out, "  %5s  %6s  %s\n", "index", "tokens", "labels and scores");
}

static void line(struct cli *cli, const struct cli_text_row *row)
{
    struct cli_out *o = &cli->out;
    const tn_event *e = row->event;
    cli_out_format(o, "  %5zu  %5zu%c  ", row->index, e->tokens, e->truncated ? '+' : ' ');
    if (e->label_count == 0) cli_out_text(o, "(none above the threshold)");
    for (size_t k = 0; k < e->label_count && k < SHOWN; k++) {
        cli_out_text(o, k ? ", " : "");
        cli_out_safe(o, e->labels[k].name.data, e->labels[k].name.length);
        cli_out_format(o, " %.6g", (double)e->labels[k].score);
    }
    if (e->label_count > SHOWN) cli_out_format(o, " and %zu more", e->label_count - SHOWN);
    cli_out_text(o, "\n");
}

static void fields(struct cli *cli, const struct cli_json *account)
{
    cli_view_field(&cli->view, "scores", cli_json_text(cli_json_path(account, "result.score_kind")));
    cli_view_field(&cli->view, "problem", cli_json_text(cli_json_path(account, "result.problem")));
}

int cli_classify(struct cli *cli)
{
    static const struct cli_text_verb verb = {
        .task = "classify.text", .doing = "classifying", .pairs = true, .start = start, .header = header, .json = json,
        .heading = heading, .line = line, .fields = fields};
    return cli_run_texts(cli, &verb);
}
