/* The stages in their order, and what each hands to the next. Owns no rule. */
#include "describe/standard/judge.h"

#include "describe/standard/artifacts.h"
#include "describe/standard/check.h"
#include "describe/standard/tables.h"

#include <string.h>

/* Too deep to be read: the one thing that can be said of the rest. */
static enum tn_status too_deep(const struct tn_error *problem, struct tn_findings *findings)
{
    struct tn_finding *f =
        tn_findings_add(findings, TN_BLOCKER, TN_RESOURCE_LIMIT, TN_PHASE_DESCRIBE, "%s", problem->primary.message);
    if (!f) return TN_RESOURCE_LIMIT;
    *f = problem->primary;
    f->severity = TN_BLOCKER;
    return TN_RESOURCE_LIMIT;
}

enum tn_status tn_standard_judge(struct tn_json root, struct tn_alloc *alloc, const struct tn_inventory *inv,
                                 struct tn_standard *doc, struct tn_findings *findings, struct tn_error *err)
{
    struct tn_doc_marks marks = {0};
    memset(doc, 0, sizeof(*doc));
    enum tn_status status = tn_standard_check_marked(root, findings, &marks);
    if (status == TN_METADATA_INVALID) status = TN_OK;
    if (status == TN_INSUFFICIENT_MEMORY) tn_error_memory(err, TN_PHASE_DESCRIBE, "checking the metadata document");
    if (!status) {
        status = tn_standard_read(doc, alloc, root, err);
        if (status == TN_RESOURCE_LIMIT) status = too_deep(err, findings);
    }
    if (status) {
        tn_doc_marks_release(&marks);
        return status;
    }
    doc->marks = marks;
    status = tn_standard_check(doc, findings, err);
    if (!status && inv) status = tn_standard_check_artifacts(doc, inv, findings, err);
    if (status) tn_standard_release(doc);
    return status;
}
