/* The capabilities that a workflow's structure uses, and that its manifest declares each of them; more is legal. */
#include "describe/standard/check_internal.h"
#include "describe/standard/uses.h"

void tn_std_check_capabilities(struct tn_std_check *c)
{
    const struct tn_std_workflow *w = c->flow;
    struct tn_standard_use uses[TN_STANDARD_USES];
    size_t count = tn_standard_uses(c->doc, uses);
    if (tn_std_hides(c, c->flow->at, "manifest") || tn_std_hides(c, w->manifest_at, "capabilities")) return;
    for (size_t i = 0; i < count; i++) {
        bool declared = false;
        char pointer[256];
        for (size_t k = 0; k < w->capabilities.count; k++)
            declared = declared || tn_str_is(w->capabilities.items[k].name, uses[i].id);
        if (declared || tn_doc_is_broken(&c->doc->marks, uses[i].place)) continue;
        struct tn_str where = tn_json_pointer(uses[i].place, pointer, sizeof(pointer));
        struct tn_finding *f = tn_std_say_member(c, w->manifest_at, "capabilities",
                                                 "the manifest omits the capability \"%s\", which the document uses",
                                                     uses[i].id);
        tn_found(f, "its use at %.*s", TN_FMT_ARG(where));
        tn_expected(f, "\"%s\" in manifest.capabilities", uses[i].id);
    }
}
