/* tensor: one call of a graph, values in from files or the command line, values out to files or to people. */
#define _XOPEN_SOURCE 700
#include "ask.h"
#include "beside.h"
#include "memory.h"
#include "npy_tensor.h"
#include "ports.h"
#include "state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many elements a line for people shows. */
enum { SHOWN = 6 };

struct tensor_call {
    struct cli *cli;
    struct cli_ports ports;
    const tn_event *event;
    tn_event own;
    char **names; /* [outputs] of files in --output-dir */
    size_t name_count;
    tn_execution *x;
    tn_session *session;
    tn_sequence *sequence; /* NULL: no state is kept */
    tn_document *result;
    struct cli_json_doc result_doc;
    struct cli_account account;
};

/* ---- the call ---- */

static tn_status on_item(void *user, const tn_event *event)
{
    struct tensor_call *c = user;
    c->own = *event; /* its values live as long as the execution */
    c->event = &c->own;
    return TN_OK;
}

static tn_status call(struct tensor_call *c)
{
    struct cli *cli = c->cli;
    tn_tensor_request request = TN_INIT(tn_tensor_request);
    tn_status status = cli_ask_load(cli, "tensor", &c->session);
    if (status != TN_OK) return status;
    request.inputs = c->ports.inputs;
    request.count = c->ports.count;
    if (cli->values.state) {
        status = tn_sequence_new(c->session, &c->sequence, cli->err);
        if (status == TN_OK) status = cli_state_load(cli, cli->values.state, c->sequence);
        if (status != TN_OK) return status;
    }
    request.sequence = c->sequence;
    request.timeout_ms = cli_remaining_ms(cli);
    status = tn_tensor_start(c->session, &request, &c->x, cli->err);
    if (status == TN_OK) status = cli_ask_follow(cli, c->x, on_item, c);
    if (status == TN_OK) status = cli_ask_account(cli, c->x, &c->account);
    return status;
}

/* The library's document of the result: for values that only JSON holds. */
static tn_status open_result(struct tensor_call *c)
{
    size_t length;
    if (c->result) return TN_OK;
    tn_status status = tn_execution_result(c->x, &c->result, c->cli->err);
    if (status != TN_OK) return status;
    const char *text = tn_document_text(c->result, &length);
    if (cli_json_parse(&c->result_doc, text, length)) return TN_OK;
    return cli_refuse(c->cli, TN_RUNTIME_FAILURE, "", "the result cannot be read: %s", c->result_doc.fault);
}

static const struct cli_json *value_of(const struct tensor_call *c, const tn_port_value *v)
{
    const struct cli_json *m = cli_json_first(cli_json_get(cli_json_first(cli_json_get(c->result_doc.root, "data")), "outputs"));
    while (m && (m->key_length != v->name.length || memcmp(m->key, v->name.data, m->key_length) != 0)) m = m->next;
    return m;
}

/* ---- files ---- */

static tn_status cannot_write(struct cli *cli, const char *path, int reason)
{
    cli_refuse(cli, TN_RUNTIME_FAILURE, "output-dir", "cannot write %.200s", path);
    snprintf(cli->problem.found, sizeof(cli->problem.found), "%s", strerror(reason));
    return TN_RUNTIME_FAILURE;
}

static int write_json(const char *path, const struct cli_json *value)
{
    char *temporary;
    int fd = cli_open_beside(path, &temporary), reason = fd < 0 ? errno : 0;
    if (reason) {
        free(temporary);
        return reason;
    }
    struct cli_out *o = cli_alloc(sizeof(*o));
    cli_out_init(o, fd);
    if (value) cli_json_write(o, value);
    cli_out_text(o, "\n");
    cli_out_flush(o);
    reason = cli_close_beside(fd, temporary, path, o->failure);
    free(o);
    return reason;
}

static tn_status write_file(struct tensor_call *c, const tn_port_value *v)
{
    const char *folder = c->cli->values.output_dir;
    char *name = cli_safe_name(v->name, cli_npy_holds(v) ? ".npy" : ".json", c->names, c->name_count);
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = cli_alloc(n);
    int reason;
    snprintf(path, n, "%s/%s", folder, name);
    tn_status status = cli_npy_holds(v) ? TN_OK : open_result(c);
    if (status == TN_OK) {
        reason = cli_npy_holds(v) ? cli_npy_write(path, v) : write_json(path, value_of(c, v));
        if (reason) status = cannot_write(c->cli, path, reason);
    }
    c->names[c->name_count++] = name;
    free(path);
    return status;
}

static tn_status write_files(struct tensor_call *c)
{
    tn_status status = TN_OK;
    if (!c->cli->values.output_dir) return TN_OK;
    c->names = cli_alloc_zero(cli_product(c->event->tensor_count + 1, sizeof(*c->names)));
    for (size_t i = 0; status == TN_OK && i < c->event->tensor_count; i++) status = write_file(c, &c->event->tensors[i]);
    return status;
}

/* ---- documents ---- */

static const char *const kind_names[] = {"tensor", "sequence", "map", "optional"};

static void json_output(struct tensor_call *c, const tn_port_value *v, const char *file)
{
    struct cli_out *o = &c->cli->out;
    cli_out_json(o, v->name.data, v->name.length);
    cli_out_format(o, ": {\"kind\": \"%s\", \"dtype\": ", kind_names[v->kind]);
    if (v->kind == TN_VALUE_TENSOR) cli_out_json(o, v->element, strlen(v->element));
    else cli_out_text(o, "null");
    cli_out_text(o, ", \"shape\": [");
    for (size_t i = 0; i < v->rank; i++) cli_out_format(o, "%s%lld", i ? ", " : "", (long long)v->dims[i]);
    cli_out_text(o, "], \"file\": ");
    cli_out_json(o, file, strlen(file));
    cli_out_text(o, "}");
}

static tn_status print_json(struct tensor_call *c)
{
    struct cli_out *o = &c->cli->out;
    if (!c->cli->values.output_dir) {
        tn_status status = open_result(c);
        if (status != TN_OK) return status;
        size_t length;
        const char *text = tn_document_text(c->result, &length);
        cli_out_bytes(o, text, length);
        cli_out_text(o, "\n");
        return TN_OK;
    }
    cli_out_text(o, "{\"task\": \"tensor\",\n\"outputs\": {");
    for (size_t i = 0; i < c->event->tensor_count; i++) {
        cli_out_text(o, i ? ",\n  " : "\n  ");
        json_output(c, &c->event->tensors[i], c->names[i]);
    }
    cli_out_text(o, "},\n\"account\": ");
    cli_account_write(&c->account, o);
    cli_out_text(o, "}\n");
    return TN_OK;
}

/* ---- for people ---- */

static double half_of(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double value = exponent == 31 ? fraction ? (double)NAN : (double)INFINITY
                                  : exponent ? ldexp(fraction + 1024, exponent - 25) : ldexp(fraction, -24);
    return h >> 15 ? -value : value;
}

/* One element as text; false: of a type that has no short text. */
static bool element_text(const tn_port_value *v, size_t i, char *out, size_t cap)
{
    union {
        uint8_t u8; int8_t i8; uint16_t u16; int16_t i16; uint32_t u32; int32_t i32; uint64_t u64; int64_t i64; float f; double d;
    } x;
    static const struct {
        const char *name;
        size_t bytes;
    } sizes[] = {{"float32", 4}, {"float64", 8}, {"int64", 8}, {"int32", 4}, {"int16", 2}, {"int8", 1},
                 {"uint64", 8},  {"uint32", 4},  {"uint16", 2}, {"uint8", 1}, {"bool", 1}, {"float16", 2}};
    size_t k = 0;
    while (k < sizeof(sizes) / sizeof(sizes[0]) && strcmp(sizes[k].name, v->element) != 0) k++;
    if (k == sizeof(sizes) / sizeof(sizes[0])) return false;
    memcpy(&x, (const char *)v->data + i * sizes[k].bytes, sizes[k].bytes);
    switch (k) {
    case 0: snprintf(out, cap, "%.6g", (double)x.f); return true;
    case 1: snprintf(out, cap, "%.6g", x.d); return true;
    case 2: snprintf(out, cap, "%lld", (long long)x.i64); return true;
    case 3: snprintf(out, cap, "%d", (int)x.i32); return true;
    case 4: snprintf(out, cap, "%d", (int)x.i16); return true;
    case 5: snprintf(out, cap, "%d", (int)x.i8); return true;
    case 6: snprintf(out, cap, "%llu", (unsigned long long)x.u64); return true;
    case 7: snprintf(out, cap, "%u", (unsigned)x.u32); return true;
    case 8: snprintf(out, cap, "%u", (unsigned)x.u16); return true;
    case 9: snprintf(out, cap, "%u", (unsigned)x.u8); return true;
    case 10: snprintf(out, cap, "%s", x.u8 ? "true" : "false"); return true;
    default: snprintf(out, cap, "%.4g", half_of(x.u16)); return true;
    }
}

static size_t count_of(const tn_port_value *v)
{
    size_t count = 1;
    for (size_t i = 0; i < v->rank; i++) count *= (size_t)v->dims[i];
    return count;
}

static void show_elements(struct cli_out *o, const tn_port_value *v)
{
    char text[64];
    size_t count = count_of(v);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        cli_out_text(o, i ? ", " : "");
        if (strcmp(v->element, "string") == 0) {
            const tn_string *s = (const tn_string *)v->data + i;
            cli_out_safe(o, s->data, s->length < 40 ? s->length : 40);
        } else if (element_text(v, i, text, sizeof(text))) {
            cli_out_text(o, text);
        } else {
            cli_out_text(o, "(no short form)");
            return;
        }
    }
    if (count > SHOWN) cli_out_format(o, " and %zu more", count - SHOWN);
}

static void print_people(struct tensor_call *c)
{
    struct cli_out *o = &c->cli->out;
    cli_view_heading(&c->cli->view, "outputs");
    for (size_t i = 0; i < c->event->tensor_count; i++) {
        const tn_port_value *v = &c->event->tensors[i];
        cli_out_text(o, "  ");
        cli_out_safe(o, v->name.data, v->name.length);
        cli_out_format(o, ": %s", v->kind == TN_VALUE_TENSOR ? v->element : kind_names[v->kind]);
        if (v->kind == TN_VALUE_TENSOR) cli_out_text(o, " [");
        for (size_t k = 0; k < v->rank; k++) cli_out_format(o, "%s%lld", k ? ", " : "", (long long)v->dims[k]);
        if (v->kind == TN_VALUE_TENSOR) cli_out_text(o, "]");
        else cli_out_format(o, " of %zu", v->kind == TN_VALUE_MAP ? count_of(&v->items[0]) : v->item_count);
        if (c->names) cli_out_format(o, "  %s", c->names[i]);
        cli_out_text(o, "\n");
        if (c->names || v->kind != TN_VALUE_TENSOR) continue;
        cli_out_text(o, "    ");
        show_elements(o, v);
        cli_out_text(o, "\n");
    }
    if (c->cli->values.quiet) return;
    const struct cli_json *account = cli_account_root(&c->account);
    cli_view_heading(&c->cli->view, "account");
    cli_view_fieldf(&c->cli->view, "ran as", "%s %s on %s, weights stored as %s", cli_json_text(cli_json_path(account, "provider.name")),
                    cli_json_text(cli_json_path(account, "provider.version")), cli_json_text(cli_json_path(account, "provider.isa_class")),
                    cli_json_text(cli_json_path(account, "numeric.stored")));
    cli_view_field(&c->cli->view, "evidence", cli_json_text(cli_json_get(account, "evidence_level")));
}

/* ---- the verb ---- */

static void release(struct tensor_call *c)
{
    for (size_t i = 0; i < c->name_count; i++) free(c->names[i]);
    cli_ports_release(&c->ports);
    free(c->names);
    if (c->result) cli_json_release(&c->result_doc);
    tn_document_free(c->result);
    cli_account_release(&c->account);
    tn_execution_free(c->x);
    tn_sequence_free(c->sequence);
    tn_session_free(c->session);
}

int cli_tensor(struct cli *cli)
{
    struct tensor_call c = {.cli = cli};
    tn_status status = cli_open_package(cli, true);
    if (status == TN_OK) status = cli_watch_signals(cli);
    if (status == TN_OK) status = cli_ports_read(cli, &c.ports);
    if (status == TN_OK && cli->values.output_dir) status = cli_make_folder(cli, "output-dir", cli->values.output_dir);
    if (status == TN_OK) status = call(&c);
    if (status == TN_OK) status = write_files(&c);
    if (status == TN_OK && c.sequence) status = cli_state_save(cli, cli->values.state, c.sequence);
    if (status == TN_OK && cli->values.json) status = print_json(&c);
    else if (status == TN_OK) print_people(&c);
    release(&c);
    return status == TN_OK ? 0 : cli_fail_any(cli, status);
}
