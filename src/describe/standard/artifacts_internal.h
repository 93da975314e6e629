/* What the files of the package check share. */
#ifndef TN_DESCRIBE_STANDARD_ARTIFACTS_INTERNAL_H
#define TN_DESCRIBE_STANDARD_ARTIFACTS_INTERNAL_H

#include "describe/standard/artifacts.h"
#include "package/onnx.h"

struct tn_std_graph {
    const struct tn_package_file *file; /* NULL: not an ONNX component, or reported */
    struct tn_onnx_view *view;          /* NULL: could not be read, which was reported */
    bool shared;                        /* the view belongs to an earlier component */
    uint32_t *nodes;                    /* by name, sorted once when a target asks */
};

struct tn_std_package_check {
    const struct tn_standard *doc;
    const struct tn_inventory *inv;
    struct tn_findings *findings;
    struct tn_error *err;
    enum tn_status failed;    /* TN_INSUFFICIENT_MEMORY, once */
    struct tn_arena arena;    /* scratch */
    struct tn_error *problem; /* scratch */
    struct tn_str folder;     /* of the document */
    uint64_t work;               /* comparisons so far */
    struct tn_std_graph *graphs; /* one per component */
    uint32_t *users;             /* per file of the inventory: the first component whose graph it is, + 1 */
};

/* A blocker at v. */
struct tn_finding *tn_std_refuse(struct tn_std_package_check *c, enum tn_status code, struct tn_json v,
                                 const char *format, ...) __attribute__((format(printf, 4, 5)));
void tn_std_lost_memory(struct tn_std_package_check *c);
/* Before a loop over n things inside another loop: false, with one finding, when a hostile document asks for too much. */
bool tn_std_spend(struct tn_std_package_check *c, uint64_t n);
/* The listed file that a field names, or NULL; `report`: says why there is none. */
const struct tn_package_file *tn_std_file(struct tn_std_package_check *c, struct tn_str path, struct tn_json at,
                                          bool report);

/* artifacts_ports.c: one component against its graph. */
void tn_std_check_graph_ports(struct tn_std_package_check *c, const struct tn_std_component *component,
                              const struct tn_std_graph *graph);
/* artifacts_adapters.c */
void tn_std_check_targets(struct tn_std_package_check *c);
void tn_std_check_weights(struct tn_std_package_check *c);

#endif
