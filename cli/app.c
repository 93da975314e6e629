/*
 * Opening and closing what verbs work with. The environment is read here and nowhere else, and becomes arguments of the
 * library: folders, and nothing more.
 */
#define _XOPEN_SOURCE 700
#include "app.h"

#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void cli_begin(struct cli *cli)
{
    cli->begun_ns = cli_now_ns();
    cli_out_init(&cli->out, STDOUT_FILENO);
    cli_view_init(&cli->view, &cli->out);
}

int cli_end(struct cli *cli, int code)
{
    cli_out_flush(&cli->out);
    if (cli->out.failure != 0) {
        cli_say("cannot write to standard output: %s", strerror(cli->out.failure));
        code = CLI_EXIT_FAILED;
    }
    cli_forget_signals();
    free(cli->hints_text);
    cli_json_release(&cli->plan_doc);
    tn_document_free(cli->plan_text);
    tn_plan_free(cli->plan_read);
    tn_cancel_token_free(cli->cancel);
    tn_package_free(cli->package);
    tn_runtime_free(cli->runtime);
    tn_error_free(cli->err);
    cli_values_release(&cli->values);
    return code;
}

/* ---- files ---- */

static tn_status cannot_read(struct cli *cli, const char *option, const char *path, int reason)
{
    cli_refuse(cli, reason == ENOMEM ? TN_INSUFFICIENT_MEMORY : TN_INVALID_REQUEST, option, "cannot read %.200s", path);
    snprintf(cli->problem.found, sizeof(cli->problem.found), "%s", reason == ENOTSUP ? "no regular file" : strerror(reason));
    return cli->problem.code;
}

/* The largest text file of options (plans are some tens of kilobytes); keeps a wrong file from filling the memory. */
enum { FILE_BYTES = 64 << 20 };

/* The library's own limit of a document: what is longer has its verdict from there. */
enum { DOCUMENT_BYTES = 256 << 20 };

/* `cut`: of a longer file the first bytes, which are more than `most`. */
static tn_status read_file(struct cli *cli, const char *option, const char *path, size_t most, bool cut, char **text, size_t *length)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), reason = 0; /* a FIFO may have no writer */
    size_t cap = 1 << 16, used = 0;
    struct stat st;
    *text = NULL;
    if (fd < 0 || fstat(fd, &st) != 0) reason = errno;
    else if (!standard && !S_ISREG(st.st_mode)) reason = S_ISDIR(st.st_mode) ? EISDIR : ENOTSUP;
    if (reason) {
        if (!standard && fd >= 0) close(fd);
        return cannot_read(cli, option, path, reason);
    }
    char *data = cli_alloc(cap + 1);
    for (;;) {
        if (used == cap) data = cli_realloc(data, (cap *= 2) + 1);
        ssize_t n = read(fd, data + used, cap - used);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) reason = errno;
        if (n > 0) used += (size_t)n;
        if (used > most && !cut) reason = EFBIG;
        if (n <= 0 || reason || used > most) break;
    }
    if (!standard) close(fd);
    if (reason) {
        free(data);
        return cannot_read(cli, option, path, reason);
    }
    data[used] = 0;
    *text = data;
    *length = used;
    return TN_OK;
}

tn_status cli_read_file(struct cli *cli, const char *option, const char *path, char **text, size_t *length)
{
    return read_file(cli, option, path, FILE_BYTES, false, text, length);
}

tn_status cli_read_document(struct cli *cli, const char *option, const char *path, char **text, size_t *length)
{
    return read_file(cli, option, path, DOCUMENT_BYTES, true, text, length);
}

/* ---- runtime ---- */

/* FNV-1a, never 0. */
static uint64_t digest_of(const char *text, size_t length)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return h ? h : 1;
}

/* A verb may load a package several times: what is wrong with it is said once. */
static bool is_news(struct cli *cli, const char *text, size_t length)
{
    uint64_t digest = digest_of(text, length);
    for (size_t i = 0; i < CLI_SAID; i++) {
        uint64_t seen = 0;
        if (atomic_compare_exchange_strong(&cli->said[i], &seen, digest)) return true;
        if (seen == digest) return false;
    }
    return true;
}

static void on_log(void *user, tn_log_level level, const char *text, size_t length)
{
    if (level < TN_LOG_WARNING || !is_news(user, text, length)) return;
    char *clean = cli_safe_copy(text, length);
    fprintf(stderr, "tenon: %s%s\n", level == TN_LOG_WARNING ? "warning: " : "", clean);
    free(clean);
}

/* asked: the option, "" for none. Else $xdg/tenon or $HOME/below/tenon; a relative value counts as not set. */
static char *folder(const char *asked, const char *xdg, const char *below)
{
    const char *base = getenv(xdg), *home = getenv("HOME");
    char path[4096];
    if (asked) return *asked ? cli_copy(asked, strlen(asked)) : NULL;
    int n = 0;
    if (base && base[0] == '/') {
        n = snprintf(path, sizeof(path), "%s/tenon", base);
    } else if (home && home[0] == '/') {
        n = snprintf(path, sizeof(path), "%s/%s/tenon", home, below);
    }
    return n > 0 && (size_t)n < sizeof(path) ? cli_copy(path, (size_t)n) : NULL;
}

tn_status cli_open_runtime(struct cli *cli, bool limited)
{
    tn_runtime_options options = TN_INIT(tn_runtime_options);
    char *cache = folder(cli->values.cache_dir, "XDG_CACHE_HOME", ".cache");
    char *state = folder(cli->values.state_dir, "XDG_STATE_HOME", ".local/state");
    cli->err = tn_error_new();
    if (!cli->err) {
        free(cache);
        free(state);
        return cli_refuse(cli, TN_INSUFFICIENT_MEMORY, "", "out of memory");
    }
    options.log = cli->values.quiet ? NULL : on_log;
    options.log_user = cli;
    options.threads = (unsigned)cli->values.threads;
    options.memory_limit = limited ? cli->values.memory_limit : 0;
    options.cache_folder = cache;
    options.state_folder = state;
    options.onnxruntime_library = getenv("TENON_ONNXRUNTIME");
    tn_status status = tn_runtime_new(&options, &cli->runtime, cli->err);
    free(cache);
    free(state);
    return status;
}

/* ---- package and plan ---- */

/* What begins like an object is one with a fault in it, and the fault is what to say. */
static void refuse_hint(struct cli *cli, const struct cli_json_doc *doc)
{
    const char *text = cli->values.hint;
    bool object = doc->fault && text[strspn(text, " \t\r\n")] == '{';
    if (object) {
        const char *at = text + doc->fault_at;
        cli_refuse(cli, TN_INVALID_REQUEST, "hint", "--hint is a broken JSON object: %s", doc->fault);
        snprintf(cli->problem.found, sizeof(cli->problem.found), "%s%.*s at byte %zu", *at ? "" : "the end",
                 (int)cli_excerpt(at, 60), at, doc->fault_at);
    } else {
        cli_refuse(cli, TN_INVALID_REQUEST, "hint", "--hint is no JSON object");
        snprintf(cli->problem.found, sizeof(cli->problem.found), "%.*s", (int)cli_excerpt(text, 60), text);
    }
    snprintf(cli->problem.expected, sizeof(cli->problem.expected), "%s",
             "e.g. '{\"memory\": [{\"action\": \"pin\", \"selector\": {\"pattern\": \"*\"}}]}'");
    snprintf(cli->problem.remedy, sizeof(cli->problem.remedy), "`tenon schema hints` shows the form; --hints takes a file");
}

bool cli_hint_is_usable(struct cli *cli)
{
    struct cli_json_doc doc;
    if (!cli->values.hint) return true;
    bool usable = cli_json_parse(&doc, cli->values.hint, strlen(cli->values.hint)) && cli_json_is(doc.root, CLI_JSON_OBJECT);
    if (!usable) refuse_hint(cli, &doc);
    cli_json_release(&doc);
    return usable;
}

/* What a plan fixes cannot be asked for beside it. */
static tn_status check_against_plan(struct cli *cli)
{
    static const char *const fixed[] = {"provider", "device",    "placement", "numeric", "threads",
                                        "fallback", "precision", "allow-code", "require-level", "hint", "hints"};
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        if (!cli_given(&cli->values, fixed[i])) continue;
        cli_refuse(cli, TN_INVALID_REQUEST, fixed[i], "--%s cannot be given beside --plan, which fixes it", fixed[i]);
        snprintf(cli->problem.remedy, sizeof(cli->problem.remedy), "leave one of them out, or make a new plan");
        return cli->problem.code;
    }
    return TN_OK;
}

static tn_status read_plan(struct cli *cli, tn_plan **out)
{
    char *text;
    size_t length;
    *out = cli->plan_read;
    cli->plan_read = NULL;
    if (*out) return TN_OK;
    tn_status status = cli_read_file(cli, "plan", cli->values.plan, &text, &length);
    if (status != TN_OK) return status;
    status = tn_plan_parse(cli->package, text, length, out, cli->err);
    free(text);
    return status;
}

static tn_status parse_plan(struct cli *cli, tn_plan *plan)
{
    size_t length;
    if (cli->plan_text) return TN_OK;
    tn_status status = tn_plan_json(plan, &cli->plan_text, cli->err);
    if (status != TN_OK) return status;
    const char *text = tn_document_text(cli->plan_text, &length);
    if (!cli_json_parse(&cli->plan_doc, text, length))
        return cli_refuse(cli, TN_RUNTIME_FAILURE, "plan", "the plan's document cannot be read");
    return TN_OK;
}

/* Accepts --plan for verbs that do not run it themselves: their options come from it. */
static tn_status take_plan(struct cli *cli)
{
    tn_status status = cli->plan_read ? TN_OK : read_plan(cli, &cli->plan_read); /* kept: standard input gives it once */
    return status == TN_OK ? parse_plan(cli, cli->plan_read) : status;
}

tn_status cli_plan_task(struct cli *cli, const char **task)
{
    tn_status status = take_plan(cli);
    *task = status == TN_OK ? cli_json_text(cli_json_get(cli->plan_doc.root, "task")) : NULL;
    return status;
}

tn_status cli_check_planned(struct cli *cli, const char *task, const char *planned)
{
    if (!task || strcmp(task, planned) == 0) return TN_OK;
    if (cli->values.task) cli_refuse(cli, TN_INVALID_REQUEST, "task", "--task and --plan name different tasks");
    else cli_refuse(cli, TN_INVALID_REQUEST, "plan", "the plan is for another task than %s runs", cli_verbs[cli->values.verb].name);
    snprintf(cli->problem.found, sizeof(cli->problem.found), "%.100s by --plan", planned);
    snprintf(cli->problem.expected, sizeof(cli->problem.expected), "%.100s", task);
    return cli->problem.code;
}

static tn_status read_hints(struct cli *cli)
{
    size_t length;
    tn_status status = cli_read_file(cli, "hints", cli->values.hints, &cli->hints_text, &length);
    if (status != TN_OK || strlen(cli->hints_text) == length) return status;
    cli_refuse(cli, TN_INVALID_REQUEST, "hints", "%.200s is no text: it holds a NUL byte", cli->values.hints);
    return cli->problem.code;
}

/* --hint is taken as it stands, --hints is read once. */
static tn_status take_hints(struct cli *cli, tn_plan_options *out)
{
    tn_status status = cli->values.hints && !cli->hints_text ? read_hints(cli) : TN_OK;
    out->hints = cli->values.hint;
    out->user_hints = cli->hints_text;
    out->user_hints_name = cli->values.hints;
    return status;
}

/* The first problem of a document that was found not to be valid. */
static tn_status refuse_document(struct cli *cli, const char *option, const tn_document *verdict)
{
    size_t length;
    struct cli_json_doc doc;
    const char *text = tn_document_text(verdict, &length);
    cli_json_parse(&doc, text, length);
    const struct cli_json *f = cli_json_first(cli_json_get(doc.root, "findings"));
    while (f && !cli_json_text_is(cli_json_get(f, "severity"), "blocker")) f = f->next;
    struct cli_problem *p = &cli->problem;
    cli_refuse(cli, TN_METADATA_INVALID, option, "--%s at \"%.200s\": %.600s", option,
               cli_json_text(cli_json_path(f, "where.pointer")), cli_json_text(cli_json_get(f, "message")));
    snprintf(p->found, sizeof(p->found), "%s", cli_json_text(cli_json_get(f, "found")));
    snprintf(p->expected, sizeof(p->expected), "%s", cli_json_text(cli_json_get(f, "expected")));
    snprintf(p->remedy, sizeof(p->remedy), "%s", cli_json_text(cli_json_get(f, "remedy")));
    cli_json_release(&doc);
    return cli->problem.code;
}

static tn_status check_hints(struct cli *cli, const char *option, const char *text)
{
    tn_document *verdict = NULL;
    int valid = 0;
    tn_status status = tn_document_validate(cli->runtime, "execution_hints.json", text, strlen(text), &valid, &verdict, cli->err);
    if (status == TN_OK && !valid) status = refuse_document(cli, option, verdict);
    tn_document_free(verdict);
    return status;
}

tn_status cli_check_unused(struct cli *cli)
{
    tn_plan_options hints = TN_INIT(tn_plan_options);
    if (cli->values.plan) return take_plan(cli);
    tn_status status = take_hints(cli, &hints);
    if (status == TN_OK && hints.hints) status = check_hints(cli, "hint", hints.hints);
    if (status == TN_OK && hints.user_hints) status = check_hints(cli, "hints", hints.user_hints);
    return status;
}

tn_status cli_open_package(struct cli *cli, bool limited)
{
    tn_package_options options = TN_INIT(tn_package_options);
    tn_status status = cli->values.plan ? check_against_plan(cli) : TN_OK;
    if (status == TN_OK) status = cli_open_runtime(cli, limited);
    if (status != TN_OK) return status;
    options.variant = cli->values.variant;
    options.descriptive = cli->values.descriptive;
    options.descriptive_count = cli->values.descriptive_count;
    options.accept_loss = cli->values.accept_loss;
    return tn_package_open(cli->runtime, cli->values.operands[0], &options, &cli->package, cli->err);
}

tn_status cli_make_plan(struct cli *cli, const char *task, tn_plan **out)
{
    tn_plan_options options;
    const char *planned = NULL;
    tn_status status = cli->values.plan ? cli_plan_task(cli, &planned) : cli_plan_options(cli, task, &options);
    if (status == TN_OK && cli->values.plan) status = cli_check_planned(cli, task, planned);
    if (status == TN_OK && cli->values.plan) return read_plan(cli, out);
    if (status != TN_OK) return status;
    return tn_plan_new(cli->package, &options, out, cli->err);
}

/* A choice that the plan's author made; NULL when it was left to the defaults. */
static const char *choice(const struct cli *cli, const char *name)
{
    const struct cli_json *option = cli_json_get(cli_json_get(cli->plan_doc.root, "options"), name);
    bool asked = cli_json_text_is(cli_json_get(option, "origin"), "request");
    const char *value = cli_json_text(cli_json_get(option, "value"));
    return asked && *value ? value : NULL;
}

static const char *text_or_null(const struct cli_json *v)
{
    return cli_json_is(v, CLI_JSON_STRING) ? cli_json_text(v) : NULL;
}

static void choices_of_plan(const struct cli *cli, tn_plan_options *out)
{
    uint64_t number;
    const struct cli_json *options = cli_json_get(cli->plan_doc.root, "options");
    out->task = cli_json_text(cli_json_path(options, "task.value"));
    out->provider = choice(cli, "provider");
    out->device = choice(cli, "device");
    out->placement = choice(cli, "placement");
    out->numeric = choice(cli, "numeric");
    out->require_level = choice(cli, "require_level");
    out->without = choice(cli, "without");
    out->fallback = choice(cli, "fallback");
    out->precision = choice(cli, "precision");
    out->allow_code = choice(cli, "allow_code");
    out->hints = text_or_null(cli_json_path(cli->plan_doc.root, "hints.caller"));
    out->user_hints = text_or_null(cli_json_path(cli->plan_doc.root, "hints.user"));
    out->user_hints_name = text_or_null(cli_json_path(cli->plan_doc.root, "hints.user_name"));
    if (choice(cli, "threads") && cli_json_u64(cli_json_path(options, "threads.value"), &number))
        out->threads = (unsigned)number;
    if (!out->memory_limit && choice(cli, "memory_limit") &&
        cli_json_u64(cli_json_path(options, "memory_limit.value"), &number))
        out->memory_limit = number;
}

tn_status cli_plan_options(struct cli *cli, const char *task, tn_plan_options *out)
{
    const struct cli_values *v = &cli->values;
    *out = TN_INIT(tn_plan_options);
    out->task = task;
    out->provider = v->provider;
    out->device = v->device;
    out->placement = v->placement;
    out->numeric = v->numeric;
    out->require_level = v->require_level;
    out->without = v->without;
    out->fallback = v->fallback;
    out->precision = v->precision;
    out->allow_code = v->allow_code;
    out->threads = (unsigned)v->threads;
    out->memory_limit = v->memory_limit;
    tn_status status = take_hints(cli, out);
    if (status != TN_OK || !v->plan) return status;
    status = take_plan(cli);
    if (status == TN_OK) choices_of_plan(cli, out);
    return status;
}

/* ---- documents ---- */

int cli_print_document(struct cli *cli, tn_document *document, cli_view_fn view)
{
    size_t length;
    const char *text = tn_document_text(document, &length);
    int code = 0;
    if (cli->values.json) {
        cli_out_bytes(&cli->out, text, length);
        if (length == 0 || text[length - 1] != '\n') cli_out_text(&cli->out, "\n");
    } else {
        struct cli_json_doc doc;
        if (cli_json_parse(&doc, text, length)) {
            view(&cli->view, doc.root);
        } else {
            cli_refuse(cli, TN_RUNTIME_FAILURE, "", "the library's document cannot be read: %s", doc.fault);
            code = cli_fail_problem(cli);
        }
        cli_json_release(&doc);
    }
    tn_document_free(document);
    return code;
}
