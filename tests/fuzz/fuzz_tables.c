/*
 * Fuzz target: checking documents against tables. The first byte chooses the table, the rest is JSON. A refusal must come
 * with a blocker and acceptance with none, every blocker must name a value or a member of a value that is there, and a
 * second pass must say the same.
 */
#include "base/error_table.h"
#include "describe/package_document.h"
#include "describe/standard/tables.h"
#include "plan/plan_table.h"
#include "record/record_table.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) __builtin_trap();
}

static enum tn_status check(uint8_t which, struct tn_json root, struct tn_findings *findings)
{
    static const struct tn_doctype *const tables[] = {&tn_plan_document_type, &tn_record_document_type,
                                                      &tn_error_document_type, &tn_package_document_type};
    if (which == 'd') return tn_standard_check_tables(root, findings);
    if (which == 'h') return tn_execution_hints_check_tables(root, findings);
    return tn_doctype_check(root, tables[which % 4], TN_PHASE_DESCRIBE, findings);
}

/* The pointer names a value, or a member that a value lacks. Texts that were cut or cleaned cannot be followed. */
static void check_place(struct tn_json root, const char *pointer)
{
    char parent[256];
    size_t n = strlen(pointer);
    if (n >= sizeof(parent) - 16 || strstr(pointer, "\\x") || strstr(pointer, "...")) return;
    if (tn_json_present(tn_json_find(root, pointer))) return;
    memcpy(parent, pointer, n + 1);
    char *last = strrchr(parent, '/');
    require(last != NULL);
    *last = 0;
    require(tn_json_is(tn_json_find(root, parent), TN_JSON_OBJECT));
}

static enum tn_status pass(uint8_t which, struct tn_json root, struct tn_alloc *alloc, size_t *blockers)
{
    struct tn_findings findings;
    tn_findings_init(&findings, alloc, 50);
    enum tn_status st = check(which, root, &findings);
    for (size_t i = 0; i < findings.count; i++) {
        const struct tn_finding *f = &findings.items[i];
        require(f->message[0] && strcmp(f->file, "fuzz") == 0);
        if (f->severity == TN_BLOCKER) check_place(root, f->element);
    }
    require((st == TN_OK) == (findings.blockers == 0));
    *blockers = findings.blockers;
    tn_findings_release(&findings);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tn_limits limits = tn_limits_default();
    struct tn_alloc alloc;
    struct tn_json_doc doc;
    size_t first, second;
    if (size < 1) return 0;
    tn_alloc_init(&alloc);
    if (tn_json_parse(&doc, &alloc, &limits, TN_STR("fuzz"), (struct tn_str){(const char *)data + 1, size - 1}, NULL)) return 0;
    enum tn_status st = pass(data[0], tn_json_root(&doc), &alloc, &first);
    require(st == TN_OK || st == TN_METADATA_INVALID || st == TN_RESOURCE_LIMIT);
    require(pass(data[0], tn_json_root(&doc), &alloc, &second) == st && first == second);
    require(check(data[0], tn_json_root(&doc), NULL) == st);
    tn_json_release(&doc);
    require(tn_alloc_current(&alloc) == 0);
    return 0;
}
