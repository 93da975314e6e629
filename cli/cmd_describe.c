/* describe: a package's behaviour as two documents, printed or put into a folder. */
#define _XOPEN_SOURCE 700
#include "app.h"
#include "beside.h"
#include "json.h"
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTENT_NAME "tenon_package.json"

static bool wants_json(const struct cli *cli)
{
    return cli->values.format && strcmp(cli->values.format, "json") == 0;
}

static const char *metadata_name(const struct cli *cli)
{
    return wants_json(cli) ? "inference_metadata.json" : "inference_metadata.yaml";
}

static char *join(const char *folder, const char *name)
{
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = cli_alloc(n);
    snprintf(path, n, "%s/%s", folder, name);
    return path;
}

static tn_status refuse_present(struct cli *cli, const char *name)
{
    struct stat st;
    char *path = join(cli->values.output, name);
    if (lstat(path, &st) == 0) { /* a dangling link is there too */
        cli_refuse(cli, TN_INVALID_REQUEST, "output", "%.200s is there already", path);
        snprintf(cli->problem.remedy, sizeof(cli->problem.remedy), "remove it, or name another folder");
    }
    free(path);
    return cli->problem.code;
}

static tn_status put(struct cli *cli, const char *name, const tn_document *document)
{
    size_t n;
    const char *text = tn_document_text(document, &n);
    char *path = join(cli->values.output, name);
    int reason = cli_write_whole(path, text, n);
    if (reason) {
        cli_refuse(cli, TN_RUNTIME_FAILURE, "output", "cannot write %.200s", path);
        snprintf(cli->problem.found, sizeof(cli->problem.found), "%s", strerror(reason));
        snprintf(cli->problem.remedy, sizeof(cli->problem.remedy), "name a folder that can be written to");
    } else if (!cli->values.json && !cli->values.quiet) {
        cli_out_text(&cli->out, path);
        cli_out_text(&cli->out, "\n");
    }
    free(path);
    return cli->problem.code;
}

/* Half a pair would keep the next call from writing. */
static void take_back(struct cli *cli, const char *name)
{
    char *path = join(cli->values.output, name);
    (void)unlink(path);
    free(path);
}

/* Parents are not made: a path that was mistyped would become a tree. */
static tn_status make_folder(struct cli *cli)
{
    struct stat st;
    const char *folder = cli->values.output;
    int reason = 0;
    if (stat(folder, &st) == 0 && !S_ISDIR(st.st_mode)) reason = ENOTDIR;
    else if (stat(folder, &st) != 0 && mkdir(folder, 0777) != 0) reason = errno;
    if (!reason) return TN_OK;
    cli_refuse(cli, TN_INVALID_REQUEST, "output", "the folder %.200s cannot be made", folder);
    snprintf(cli->problem.found, sizeof(cli->problem.found), "%s", strerror(reason));
    snprintf(cli->problem.remedy, sizeof(cli->problem.remedy), "%s",
             reason == ENOENT ? "make the folder above it first (mkdir -p)" : "name a folder that is there, or can be made");
    return cli->problem.code;
}

/* The folder is made when it is not there; its parents must be. Nothing is written when either file is there already. */
static tn_status put_both(struct cli *cli, const tn_document *metadata, const tn_document *content)
{
    static const char *const names[] = {"inference_metadata.yaml", "inference_metadata.yml", "inference_metadata.json",
                                        CONTENT_NAME};
    if (!*cli->values.output) {
        cli_refuse(cli, TN_INVALID_REQUEST, "output", "--output names no folder");
        snprintf(cli->problem.found, sizeof(cli->problem.found), "an empty text");
        return cli->problem.code;
    }
    tn_status status = make_folder(cli);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !status; i++) status = refuse_present(cli, names[i]);
    if (!status) status = put(cli, metadata_name(cli), metadata);
    if (status) return status;
    status = put(cli, CONTENT_NAME, content);
    if (status) take_back(cli, metadata_name(cli));
    return status;
}

static void print_document(struct cli_out *out, const tn_document *document)
{
    size_t n;
    const char *text = tn_document_text(document, &n);
    cli_out_bytes(out, text, n);
    if (n == 0 || text[n - 1] != '\n') cli_out_text(out, "\n");
}

static void print_titled(struct cli *cli, const char *name, const tn_document *document)
{
    cli_out_format(&cli->out, "# %s\n", name);
    print_document(&cli->out, document);
}

/* ---- what this build does not do with the package -------------------------------------------------------------------- */

static bool is_written(const struct cli_json *entries, const char *message)
{
    static const char lead[] = "left undetermined: ";
    if (strncmp(message, lead, sizeof(lead) - 1) == 0) return true;
    for (const struct cli_json *e = cli_json_first(entries); e; e = e->next)
        if (cli_json_text_is(cli_json_get(e, "reason"), message)) return true;
    return false;
}

static void tell(struct cli *cli, const struct cli_json *finding, size_t told)
{
    const char *message = cli_json_text(cli_json_get(finding, "message"));
    const char *file = cli_json_text(cli_json_path(finding, "where.file"));
    const char *pointer = cli_json_text(cli_json_path(finding, "where.pointer"));
    if (!cli->values.json) {
        cli_say("note: described, and not executed by this build: %s (%s%s%s)", message, file, *pointer ? "#" : "", pointer);
        return;
    }
    cli_out_text(&cli->out, told ? ", {\"code\": " : "{\"code\": ");
    const char *code = cli_json_text(cli_json_get(finding, "code"));
    cli_out_json(&cli->out, code, strlen(code));
    cli_out_text(&cli->out, ", \"message\": ");
    cli_out_json(&cli->out, message, strlen(message));
    cli_out_text(&cli->out, ", \"file\": ");
    cli_out_json(&cli->out, file, strlen(file));
    cli_out_text(&cli->out, ", \"pointer\": ");
    cli_out_json(&cli->out, pointer, strlen(pointer));
    cli_out_text(&cli->out, "}");
}

/* What keeps the package from running here and is no open point of it: told, and in neither document. */
static void tell_unwritten(struct cli *cli, const tn_document *content)
{
    tn_document *inspected = NULL;
    struct cli_json_doc all, own;
    size_t n, told = 0;
    if (tn_package_inspect(cli->package, &inspected, NULL) != TN_OK) return; /* what was asked for is there */
    const char *text = tn_document_text(inspected, &n);
    cli_json_parse(&all, text, n);
    text = tn_document_text(content, &n);
    cli_json_parse(&own, text, n);
    const struct cli_json *entries = cli_json_get(own.root, "undetermined");
    for (const struct cli_json *f = cli_json_first(cli_json_get(all.root, "findings")); f; f = f->next) {
        bool blocker = cli_json_text_is(cli_json_get(f, "severity"), "blocker");
        if (blocker && !is_written(entries, cli_json_text(cli_json_get(f, "message")))) tell(cli, f, told++);
    }
    cli_json_release(&all);
    cli_json_release(&own);
    tn_document_free(inspected);
}

static void print_unwritten(struct cli *cli, const tn_document *content)
{
    cli_out_text(&cli->out, ", \"not_executed\": [");
    tell_unwritten(cli, content);
    cli_out_text(&cli->out, "]}\n");
}

/* One object with both; the metadata is JSON then, whatever --format says about files. */
static void print_json(struct cli *cli, const tn_document *metadata, const tn_document *content)
{
    cli_out_text(&cli->out, "{\"inference_metadata\": ");
    print_document(&cli->out, metadata);
    cli_out_text(&cli->out, ", \"tenon_package\": ");
    print_document(&cli->out, content);
    print_unwritten(cli, content);
}

/* What was written, as the human form says it: paths, with what they hold. */
static void print_written(struct cli *cli, const tn_document *content)
{
    const char *names[] = {metadata_name(cli), CONTENT_NAME};
    const char *heads[] = {wants_json(cli) ? "{\"document\": \"inference_metadata\", \"format\": \"json\", \"path\": "
                                           : "{\"document\": \"inference_metadata\", \"format\": \"yaml\", \"path\": ",
                           ", {\"document\": \"tenon_package\", \"format\": \"json\", \"path\": "};
    cli_out_text(&cli->out, "{\"written\": [");
    for (size_t i = 0; i < 2; i++) {
        char *path = join(cli->values.output, names[i]);
        cli_out_text(&cli->out, heads[i]);
        cli_out_json(&cli->out, path, strlen(path));
        cli_out_text(&cli->out, "}");
        free(path);
    }
    cli_out_text(&cli->out, "]");
    print_unwritten(cli, content);
}

int cli_describe(struct cli *cli)
{
    tn_description_options options = TN_INIT(tn_description_options);
    tn_document *metadata = NULL, *content = NULL;
    bool to_folder = cli->values.output != NULL;
    options.provenance = cli->values.provenance;
    options.format = wants_json(cli) || (cli->values.json && !to_folder) ? "json" : "yaml";
    tn_status status = cli_open_package(cli, true);
    if (status == TN_OK) status = cli_check_unused(cli);
    if (status == TN_OK) status = tn_package_describe(cli->package, &options, &metadata, &content, cli->err);
    if (status == TN_OK && to_folder) status = put_both(cli, metadata, content);
    int code = status == TN_OK ? 0 : cli_fail_any(cli, status);
    if (status == TN_OK && to_folder && cli->values.json) {
        print_written(cli, content);
    } else if (status == TN_OK && !to_folder && cli->values.json) {
        print_json(cli, metadata, content);
    } else if (status == TN_OK && !to_folder) {
        print_titled(cli, metadata_name(cli), metadata);
        cli_out_text(&cli->out, "\n");
        print_titled(cli, CONTENT_NAME, content);
    }
    if (status == TN_OK && !cli->values.json && !cli->values.quiet) tell_unwritten(cli, content);
    tn_document_free(metadata);
    tn_document_free(content);
    return code;
}
