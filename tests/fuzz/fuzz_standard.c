/*
 * Fuzz target: the standard's typed form, its semantic check, identity and cache dependencies, on any JSON at all. A
 * second run must say the same; every finding has a place, a reason and what is expected; nothing stays allocated.
 */
#include "describe/standard/cache_deps.h"
#include "describe/standard/check.h"
#include "describe/standard/identity.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) __builtin_trap();
}

static void check(const struct tn_standard *standard, struct tn_alloc *alloc, size_t *blockers)
{
    struct tn_findings findings;
    tn_findings_init(&findings, alloc, 50);
    require(tn_standard_check(standard, &findings, NULL) == TN_OK);
    for (size_t i = 0; i < findings.count; i++) {
        const struct tn_finding *f = &findings.items[i];
        require(f->severity == TN_BLOCKER && f->message[0] && f->expected[0] && strcmp(f->file, "fuzz") == 0);
        require(f->element_kind == TN_ELEMENT_POINTER);
    }
    *blockers = findings.blockers;
    tn_findings_release(&findings);
}

static void depend(const struct tn_standard *standard)
{
    struct tn_std_dependencies deps;
    require(tn_standard_dependencies(standard, &deps, NULL) == TN_OK);
    for (size_t i = 1; i < deps.count; i++) require(deps.items[i - 1].kind <= deps.items[i].kind);
    tn_std_dependencies_release(&deps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tn_limits limits = tn_limits_default();
    struct tn_alloc alloc;
    struct tn_json_doc doc;
    struct tn_standard standard;
    struct tn_digest one, two;
    size_t first, second;
    tn_alloc_init(&alloc);
    if (tn_json_parse(&doc, &alloc, &limits, TN_STR("fuzz"), (struct tn_str){(const char *)data, size}, NULL)) return 0;
    require(tn_standard_identity(tn_json_root(&doc), &alloc, &one, NULL) == TN_OK);
    require(tn_standard_identity(tn_json_root(&doc), &alloc, &two, NULL) == TN_OK && tn_digest_eq(&one, &two));
    enum tn_status st = tn_standard_read(&standard, &alloc, tn_json_root(&doc), NULL);
    require(st == TN_OK || st == TN_RESOURCE_LIMIT);
    if (st == TN_OK) {
        check(&standard, &alloc, &first);
        check(&standard, &alloc, &second);
        require(first == second);
        depend(&standard);
        tn_standard_release(&standard);
    }
    tn_json_release(&doc);
    require(tn_alloc_current(&alloc) == 0);
    return 0;
}
