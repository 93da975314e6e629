/*
 * The kit's package as the pair of documents that `describe` writes for it. Defines _GNU_SOURCE and comes first.
 */
#ifndef TN_DOCUMENTS_KIT_H
#define TN_DOCUMENTS_KIT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "describe_kit.h"

#include "describe/serial.h"

#define CONTRACT "inference_metadata.yaml"
#define DOCUMENT "tenon_package.json"

/* Describes the package where it stands and puts both documents beside what is there. */
static inline bool documents_beside(bool provenance)
{
    struct tn_buf metadata, content;
    struct tn_serial_options serial = {.yaml = true, .provenance = provenance};
    struct tn_description *d = kit_describe();
    if (!d) return false;
    tn_buf_init(&metadata, d->inv->ctx->alloc, 1 << 22);
    tn_buf_init(&content, d->inv->ctx->alloc, 1 << 22);
    bool ok = tn_description_documents(d, &serial, &metadata, &content, NULL) == TN_OK;
    if (ok) {
        kit_put(CONTRACT, metadata.data);
        kit_put(DOCUMENT, content.data);
    }
    tn_buf_release(&metadata);
    tn_buf_release(&content);
    kit_close(d);
    return ok;
}

static inline void remove_conventions(void)
{
    static const char *const conventions[] = {"config.json", "tokenizer_config.json", "modules.json",
                                              "sentence_bert_config.json",
                                              "config_sentence_transformers.json", "1_Pooling/config.json", "2_Dense/config.json"};
    for (size_t i = 0; i < sizeof(conventions) / sizeof(conventions[0]); i++) kit_remove(conventions[i]);
}

/* The kit's package with nothing but its documents, weights and tokenizer. */
static inline bool documents_alone(void)
{
    kit_new();
    if (!documents_beside(false)) return false;
    remove_conventions();
    return true;
}

#endif
