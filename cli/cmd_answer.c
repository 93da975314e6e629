/*
 * answer: the parts of a context that answer a question. A context is one text, also when it is a file of many lines: it is
 * read as a whole, and only --jsonl makes several of it.
 */
#include "memory.h"
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXCERPT = 60 };

static tn_status start(struct cli *cli, tn_session *session, const struct cli_texts *in, tn_execution **out)
{
    const struct cli_values *v = &cli->values;
    tn_answer_request request = TN_INIT(tn_answer_request);
    request.question = (tn_string){v->question, strlen(v->question)};
    request.contexts = in->texts;
    request.count = in->count;
    request.top_k = (unsigned)v->top_k;
    request.no_answer = v->no_answer ? TN_YES : TN_AUTO;
    request.timeout_ms = cli_remaining_ms(cli);
    return tn_answer_start(session, &request, out, cli->err);
}

static void json(struct cli *cli, const struct cli_text_row *row)
{
    struct cli_out *o = &cli->out;
    const tn_event *e = row->event;
    cli_out_text(o, ", \"answers\": [");
    for (size_t k = 0; k < e->answer_count; k++) {
        const tn_answer *a = &e->answers[k];
        cli_out_text(o, k ? ", {\"answer\": " : "{\"answer\": ");
        cli_out_json(o, a->text.data, a->text.length);
        cli_out_text(o, ", \"score\": ");
        cli_out_f32(o, a->score);
        cli_out_format(o, ", \"start\": %zu, \"end\": %zu, \"bytes\": [%zu,%zu]%s}", a->begin_char, a->end_char, a->begin, a->end,
                       a->none ? ", \"none\": true" : "");
    }
    cli_out_format(o, "], \"score_kind\": \"%s\", \"windows\": [", tn_score_kind_name(e->score_kind));
    for (size_t k = 0; k < e->window_count; k++) cli_out_format(o, k ? ",%zu" : "%zu", e->window_tokens[k]);
    cli_out_text(o, "]");
    cli_put_tokens(o, e);
}

static void heading(struct cli *cli)
{
    cli_out_format(&cli->out, "  %5s  %8s  %13s  %s\n", "index", "score", "characters", "answer");
}

static void line(struct cli *cli, const struct cli_text_row *row)
{
    struct cli_out *o = &cli->out;
    const tn_event *e = row->event;
    if (e->answer_count == 0) cli_out_format(o, "  %5zu  nothing\n", row->index);
    for (size_t k = 0; k < e->answer_count; k++) {
        const tn_answer *a = &e->answers[k];
        char range[48];
        char *text = cli_safe_copy(a->text.data, a->text.length < 400 ? a->text.length : 400);
        snprintf(range, sizeof(range), "%zu..%zu", a->begin_char, a->end_char);
        cli_out_format(o, "  %5zu  %8.6g  %13s  %.*s%s\n", row->index, (double)a->score, range, cli_excerpt(text, EXCERPT), a->none ? "(no answer)" : text,
                       strlen(text) > EXCERPT ? " ..." : "");
        free(text);
    }
}

/* One context as if it were an operand: the driver reads those. */
static void add_context(struct cli_values *v, const char *text)
{
    v->operands = cli_realloc(v->operands, cli_product(v->operand_count + 1, sizeof(*v->operands)));
    v->operands[v->operand_count++] = text;
}

static tn_status need(struct cli *cli, const char *option, const char *message, const char *expected)
{
    cli_refuse(cli, TN_INVALID_REQUEST, option, "%s", message);
    snprintf(cli->problem.expected, sizeof(cli->problem.expected), "%s", expected);
    return cli->problem.code;
}

static tn_status read_context(struct cli *cli, char **text)
{
    struct cli_values *v = &cli->values;
    size_t length;
    if (v->jsonl) return TN_OK; /* the driver reads its lines */
    tn_status status = cli_read_file(cli, "file", v->file, text, &length);
    if (status != TN_OK) return status;
    if (strlen(*text) != length) return need(cli, "file", "the file is no text: it holds a NUL byte", "a text in UTF-8");
    add_context(v, *text);
    v->file = NULL;
    return TN_OK;
}

static tn_status take_context(struct cli *cli, char **text)
{
    struct cli_values *v = &cli->values;
    if (!v->question) return need(cli, "question", "there is no question", "--question TEXT");
    if (v->context && v->file) return need(cli, "file", "the context is given twice", "--context TEXT or --file PATH, not both");
    if (!v->context && !v->file) return need(cli, "context", "there is no context", "--context TEXT, --file PATH or --file -");
    if (v->file) return read_context(cli, text);
    add_context(v, v->context);
    return TN_OK;
}

int cli_answer(struct cli *cli)
{
    static const struct cli_text_verb verb = {
        .task = "question-answer", .doing = "reading", .start = start, .json = json, .heading = heading, .line = line};
    char *text = NULL;
    tn_status status = take_context(cli, &text);
    int code = status == TN_OK ? cli_run_texts(cli, &verb) : cli_fail_any(cli, status);
    free(text);
    return code;
}
