/*
 * tenon_package.json: the part of a description that the inference-metadata form cannot say, as a document of our own
 * (schema "tenon.package/1"). It stands beside inference_metadata.yaml|json and is reached from a component whose
 * implementation is an adapter of the ABI below. Internal to src/describe.
 *
 * What it states is complete: every understood value of a family's table is written, so that reading it back needs no
 * default and no other document. Weights, tokenizer.json and vocab.txt are the only files that it names.
 */
#ifndef TN_DESCRIBE_PACKAGE_DOCUMENT_H
#define TN_DESCRIBE_PACKAGE_DOCUMENT_H

#include "base/doctype.h"
#include "describe/activation.h"
#include "describe/builder.h"

#define TN_PACKAGE_SCHEMA "tenon.package/1"
#define TN_PACKAGE_FILE "tenon_package.json"
#define TN_PACKAGE_ABI "tenon.package"
#define TN_PACKAGE_ABI_VERSION "1"

extern const struct tn_doctype tn_package_document_type;
extern const struct tn_doctype tn_loss_type; /* what tn_description_write_losses lists */

/* One member of the document's "tokenizer" object; writer, reader and digest walk the same table. */
enum tn_tokenizer_member_kind {
    TN_TOKENIZER_BOOL,
    TN_TOKENIZER_STAGE, /* an option of a class, which builds a stage from it: null where the stages are the file's */
    TN_TOKENIZER_TEXT,
    TN_TOKENIZER_PATH,
    TN_TOKENIZER_SIDE
};

struct tn_tokenizer_member {
    const char *name;
    enum tn_tokenizer_member_kind kind;
    size_t offset; /* in struct tn_tokenizer_facts */
};

extern const struct tn_tokenizer_member tn_tokenizer_members[];
extern const size_t tn_tokenizer_member_count;

const char *tn_tokenizer_source_name(enum tn_tokenizer_source source);
const char *tn_tokenizer_template_name(enum tn_tokenizer_template template);

/* The whole document as one object. Provenance is the list of facts with their origins; it changes no answer. */
void tn_package_document_write(struct tn_json_writer *w, const struct tn_description *d, bool provenance);
/*
 * Members of it, with what a document that was read hands on (package_again.c): what the package leaves open, with the
 * reason, so that reading the document back gives the same refusals; and the origins of its values.
 */
void tn_package_write_undetermined(struct tn_json_writer *w, const struct tn_description *d);
void tn_package_write_provenance(struct tn_json_writer *w, const struct tn_description *d);
/* Whether a blocker is only what this build does not do with a package that is known: then it is no open point of it. */
bool tn_finding_is_of_build(const struct tn_description *d, const struct tn_finding *f);
/* The content of a description as a document, without what is said about it. Release it when the status is TN_OK. */
enum tn_status tn_package_content(const struct tn_description *d, size_t most, struct tn_json_doc *out,
                                  struct tn_error *err);
/* One fact as an object. */
void tn_fact_write(struct tn_json_writer *w, const struct tn_fact *fact);
/*
 * What can be said of the document without its package: its shape, whose faults are marked.
 * The status is that of tn_doctype_check.
 */
enum tn_status tn_package_document_check(struct tn_json root, struct tn_findings *findings, struct tn_doc_marks *marks);
/*
 * Fills the description from a document that stands at the root of the package; problems become findings. Where b->marks
 * says that a value is broken, nothing is concluded from it.
 */
void tn_package_document_read(struct tn_builder *b, struct tn_json root);
/*
 * package_alone.c: all that can be said of the document without its package: shape, values by the families' tables, and
 * that its parts fit together. Fails only without memory.
 */
enum tn_status tn_package_document_judge(const struct tn_context *ctx, const struct tn_describe_options *options, struct tn_json root,
                                         struct tn_findings *findings, struct tn_error *err);

#endif
