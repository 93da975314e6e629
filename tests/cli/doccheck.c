/*
 * doccheck description|hints [--schema]: one JSON document a line on standard input, one verdict a line on standard output:
 * "ok", or the code and the JSON pointer of the first problem. With --schema: the JSON Schema of the table instead. For the
 * parity check, which holds the tables against an independent validator on thousands of documents at once.
 */
#include "base/doctype.h"
#include "describe/standard/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum tn_status check_fn(struct tn_json root, struct tn_findings *findings);

static void verdict(struct tn_alloc *alloc, check_fn *check, struct tn_str line)
{
    const struct tn_limits limits = tn_limits_default();
    struct tn_findings findings;
    struct tn_json_doc doc = {0};
    tn_findings_init(&findings, alloc, 1000);
    enum tn_status st = tn_json_parse(&doc, alloc, &limits, TN_STR("-"), line, NULL);
    if (!st) st = check(tn_json_root(&doc), &findings);
    const struct tn_finding *first = tn_findings_first_blocker(&findings);
    if (st) {
        printf("%s %s\n", tn_status_name(st), first ? first->element : "?");
    } else {
        puts(first ? "status and findings disagree" : "ok");
    }
    tn_findings_release(&findings);
    tn_json_release(&doc);
}

static int print_schema(struct tn_alloc *alloc, const struct tn_doctype *type, const struct tn_doctype_title *title)
{
    struct tn_buf text;
    struct tn_json_writer w;
    tn_buf_init(&text, alloc, 16 << 20);
    tn_jw_init(&w, &text, true);
    tn_doctype_print_schema(&w, type, title);
    int exit_code = tn_buf_status(&text) ? 1 : 0;
    if (!exit_code) puts(text.data);
    tn_buf_release(&text);
    return exit_code;
}

int main(int argc, char **argv)
{
    struct tn_alloc alloc;
    bool hints = argc > 1 && strcmp(argv[1], "hints") == 0;
    if (argc < 2 || (!hints && strcmp(argv[1], "description") != 0)) {
        fprintf(stderr, "usage: doccheck description|hints [--schema]\n");
        return 2;
    }
    tn_alloc_init(&alloc);
    if (argc > 2) {
        return print_schema(&alloc, hints ? &tn_execution_hints_type : &tn_standard_document_type,
                            hints ? &tn_execution_hints_title : &tn_standard_document_title);
    }
    size_t size = 0, cap = 1 << 16;
    char *data = malloc(cap);
    for (size_t n; data && (n = fread(data + size, 1, cap - size, stdin)) > 0;) {
        size += n;
        if (size == cap) data = realloc(data, cap *= 2);
    }
    if (!data) return 1;
    for (size_t from = 0; from < size;) {
        const char *end = memchr(data + from, '\n', size - from);
        size_t n = end ? (size_t)(end - data) - from : size - from;
        verdict(&alloc, hints ? tn_execution_hints_check_tables : tn_standard_check_tables, (struct tn_str){data + from, n});
        from += n + 1;
    }
    free(data);
    return tn_alloc_current(&alloc) == 0 ? 0 : 1;
}
