/*
 * What a session will hold, from headers and file sizes alone. Two moments decide the peak: building the tokenizer
 * (before any weight is there) and the provider's own loading. Figures count the session's lease; requests come on top
 * and are counted when they are admitted.
 */
#include "base/json_write.h"
#include "plan/plan.h"

/*
 * Bytes of the tokenizer per byte of its file, measured on vocabularies of 155 to 30,522 entries: what stays (hash tables
 * and texts), and the parsed document with two copies of its text while the stages are built. Both only matter beside
 * small weights.
 */
#define RESIDENT_PER_JSON_BYTE 2.4
#define RESIDENT_PER_VOCAB_BYTE 4.8
#define TRANSIENT_PER_BYTE 9.1
enum {
    TOKENIZER_FIXED = 2 << 10,
    SCRATCH_FIXED = 269 << 10, /* of the tokenizer: its cache of words is most of it */
    SCRATCH_PER_TOKEN = 32,
    SESSION_FIXED = 8 << 10,   /* the session itself, its recipe and its lease's bookkeeping */
};

static uint64_t file_size(const struct tn_description *d, struct tn_str path)
{
    const struct tn_package_file *file = path.n ? tn_inventory_file(d->inv, path) : NULL;
    return file ? file->size : 0;
}

static uint64_t batch_bytes(uint64_t rows, uint64_t sequences, uint64_t picks, const struct tn_assessment *a)
{
    uint64_t per_row = 2 * sizeof(int32_t);
    uint64_t per_sequence = sizeof(int32_t) + sizeof(struct tn_span) + sizeof(size_t) + sizeof(uint8_t) + sizeof(void *);
    uint64_t results = a->output_picked ? picks : a->output_by_row ? rows : sequences;
    if (picks) per_sequence += sizeof(int32_t);
    if (picks) per_row += sizeof(int32_t);
    return rows * per_row + sequences * per_sequence + results * a->output_width * sizeof(float);
}

struct tn_memory_estimate tn_memory_estimate_make(const struct tn_description *d, const struct tn_task_route *route,
                                                  const struct tn_assessment *a,
                                                  const struct tn_component_request *request)
{
    struct tn_memory_estimate m = {
        .weights = a->estimate.weights_bytes,
        .workspace = a->estimate.workspace_bytes,
        .transient = a->estimate.transient_bytes,
        .uncertainty = a->estimate.uncertainty,
    };
    uint64_t json = file_size(d, d->tokenizer.tokenizer_json), vocab = file_size(d, d->tokenizer.vocab_txt);
    double stays = json ? RESIDENT_PER_JSON_BYTE * (double)json : RESIDENT_PER_VOCAB_BYTE * (double)vocab;
    if (route->graph) json = vocab = 0; /* no tokenizer is built */
    m.tokenizer = route->graph ? 0 : TOKENIZER_FIXED + (uint64_t)stays;
    m.tokenizer_transient = (uint64_t)(TRANSIENT_PER_BYTE * (double)(json ? json : vocab));
    m.session = SESSION_FIXED + sizeof(struct tn_error) + (route->graph ? 0 : SCRATCH_FIXED) + SCRATCH_PER_TOKEN * route->max_tokens +
                batch_bytes(request->batch_rows, request->batch_sequences, request->batch_picks, a);
    m.resident = m.tokenizer + m.session + m.weights + m.workspace;
    uint64_t building = m.tokenizer + m.tokenizer_transient;
    uint64_t loading = m.tokenizer + m.weights + m.workspace + m.transient;
    m.peak = building > loading ? building : loading;
    if (m.resident > m.peak) m.peak = m.resident;
    return m;
}

void tn_memory_estimate_write(struct tn_json_writer *w, const struct tn_memory_estimate *m, uint64_t limit)
{
    tn_jw_key(w, "memory");
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "weights_bytes", m->weights);
    tn_jw_member_u64(w, "workspace_bytes", m->workspace);
    tn_jw_member_u64(w, "tokenizer_bytes", m->tokenizer);
    tn_jw_member_u64(w, "session_bytes", m->session);
    tn_jw_member_u64(w, "resident_bytes", m->resident);
    tn_jw_member_u64(w, "peak_bytes", m->peak);
    tn_jw_member_f64(w, "uncertainty", m->uncertainty);
    tn_jw_key(w, "limit_bytes");
    if (limit) {
        tn_jw_u64(w, limit);
    } else {
        tn_jw_null(w);
    }
    tn_jw_end_object(w);
}
