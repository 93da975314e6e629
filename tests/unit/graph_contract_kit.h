/*
 * A package of tests/golden/tensor/stateful's graph, y = x * gain + acc with two states, under a contract that the tests edit.
 * Texts are JSON with ' for ", which is put in its place.
 */
#ifndef TN_GRAPH_CONTRACT_KIT_H
#define TN_GRAPH_CONTRACT_KIT_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define GC_NAME "inference_metadata.json"
#define GC_FLOW "/pipeline/workflow"
#define GC_ROWS "'batch_layout': {'kind': 'request_aligned', 'axis': 0}"
#define GC_PAIRS "{'dtype': 'float32', 'rank': 2, 'shape': ['batch', 2], " GC_ROWS "}"
#define GC_LITERAL "'role': {'kind': 'opaque'}, 'source': {'kind': 'literal'}, 'required': false, "
#define GC_CELL(contract, initial, group)                                                                        \
    "{'contract': " contract ", 'scope': 'session', 'initializer': '" initial "', 'recurrence': {'kind': 'invariant'}, " \
    "'management': 'runtime', 'release_boundary': 'session', 'service_group': '" group "'}"
#define GC_GROUP(label, in, out)                                                                                 \
    "{'kind': 'recurrent', 'layout': 'bc', 'update': {'kind': 'replace'}, 'ports': {'model': {'" label "': {'input': '" in \
    "', 'output': '" out "'}}}}"

static const char gc_base[] =
    "{'schema_version': 'v1', 'pipeline': {'workflow': {"
    "'manifest': {'capabilities': ['workflow_ssa', 'typed_emit', 'serving_service_contract', 'session_state_lease']},\n"
    "'inputs': {"
    "'request.x': {'contract': " GC_PAIRS ", 'role': {'kind': 'opaque'}, 'source': {'kind': 'application', 'name': 'x'}},\n"
    "'package.gain': {'contract': {'dtype': 'float32', 'rank': 0, 'shape': []}, " GC_LITERAL "'default': 2.0},\n"
    "'package.acc': {'contract': " GC_PAIRS ", " GC_LITERAL "'default': 0.0},\n"
    "'package.count': {'contract': {'dtype': 'int64', 'rank': 1, 'shape': [1]}, " GC_LITERAL "'default': [5]},\n"
    "'request.active': {'contract': {'dtype': 'bool', 'rank': 1, 'shape': ['batch'], " GC_ROWS "}, " GC_LITERAL "'default': true},\n"
    "'request.done': {'contract': {'dtype': 'bool', 'rank': 1, 'shape': ['batch'], " GC_ROWS "}, " GC_LITERAL "'default': false}},\n"
    "'outputs': {'result': {'contract': " GC_PAIRS ", 'role': 'tensor', 'stage': 'pre_adapter'}},\n"
    "'components': {'model': {'implementation': {'kind': 'onnx', 'artifact': 'model.onnx'}}},\n"
    "'state': {'acc': " GC_CELL(GC_PAIRS, "package.acc", "sums") ",\n"
    "'count': " GC_CELL("{'dtype': 'int64', 'rank': 1, 'shape': [1], 'batch_layout': {'kind': 'runtime_sequence_state'}}", "package.count", "counts") "},\n"
    "'steps': [{'kind': 'invoke', 'component': 'model', "
    "'inputs': {'x': 'request.x', 'gain': 'package.gain', 'acc': 'package.acc', 'count': 'package.count'}, "
    "'outputs': {'y': 'model.y', 'acc_next': 'model.acc', 'count_next': 'model.count'}},\n"
    "{'kind': 'emit', 'value': 'model.y', 'output': 'result', 'mode': 'replace'}],\n"
    "'serving': {'active': 'request.active', 'done': 'request.done', 'state_service': {'groups': {"
    "'sums': " GC_GROUP("acc", "acc", "acc_next") ",\n'counts': " GC_GROUP("count", "count", "count_next") "}}}}}}\n";

/* `text` with its first `from` replaced; to be freed. NULL when it is not there. */
static inline char *gc_edited(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    char *out = at ? malloc(strlen(text) + strlen(to) + 1) : NULL;
    if (!out) return NULL;
    size_t before = (size_t)(at - text);
    memcpy(out, text, before);
    strcpy(out + before, to);
    strcat(out, at + strlen(from));
    return out;
}

static inline void gc_quote(char *text)
{
    for (; *text; text++)
        if (*text == '\'') *text = '"';
}

#endif
