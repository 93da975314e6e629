/*
 * A call. Inputs are read where they are. A result whose shape the graph states is written by the library where it will stay,
 * once a first call has shown that it comes out so; all others are copied. A call that is told to stop has really stopped
 * when it returns: the library's own threads are done with our memory then.
 */
#include "provider/onnxruntime/ort.h"

#include <string.h>

/* How many of each take part in the call. */
struct counts {
    size_t in, out;
};

static enum tn_status take_inputs(struct tn_instance *x, const struct tn_tensor_call *call, struct counts *n, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    for (uint32_t i = 0; !st && i < x->input_count; i++) {
        if (!call->in[i]) continue; /* an initialiser gives it */
        x->in_names[n->in] = x->inputs[i].name;
        st = tn_ort_value_of(x, call->in[i], &x->in_values[n->in], err);
        if (st && err) tn_at_tensor(&err->primary, TN_STR(""), x->inputs[i].port->name);
        n->in++;
    }
    return st;
}

/* Where a result of a stated shape goes. NULL where it cannot be told, or for want of memory: then it is copied. */
static struct tn_tensor *place_of(struct tn_instance *x, const struct tn_ort_port *port, struct tn_ort_value **value)
{
    if (!port->fixed || !port->settled) return NULL;
    enum tn_element element = (enum tn_element)port->port->element;
    struct tn_tensor *t = tn_tensor_new(&x->heap, element, port->rank, port->dims);
    struct tn_ort_status *status = t ? x->api->tensor_over(x->ort->info, t->data, t->bytes, t->dims, t->rank, tn_ort_type_of(element), value) : NULL;
    if (t && !status) return t;
    tn_ort_ignore(x->api, status);
    tn_tensor_drop(t);
    return NULL;
}

static void take_outputs(struct tn_instance *x, const struct tn_tensor_call *call, struct counts *n)
{
    for (uint32_t i = 0; i < x->output_count; i++) {
        call->out[i] = NULL;
        if (call->wanted && !call->wanted[i]) continue;
        x->out_names[n->out] = x->outputs[i].name;
        x->out_ports[n->out] = i;
        x->out_values[n->out] = NULL;
        x->bound[n->out] = place_of(x, &x->outputs[i], &x->out_values[n->out]);
        n->out++;
    }
}

static enum tn_status outcome(struct tn_instance *x, const struct tn_tensor_call *call, struct tn_ort_status *status, bool fired, struct tn_error *err)
{
    enum tn_status st = fired ? tn_cancel_fail(call->cancel, TN_PHASE_EXECUTE, err) : TN_OK;
    if (!st && status && x->memory.refused) st = tn_error_memory(err, TN_PHASE_EXECUTE, "running a graph in ONNX Runtime");
    if (!st) return tn_ort_fail(x->api, status, TN_PHASE_EXECUTE, x->program->texts, err);
    tn_ort_ignore(x->api, status);
    return st;
}

static enum tn_status run_once(struct tn_instance *x, const struct tn_tensor_call *call, const struct counts *n, struct tn_error *err)
{
    x->memory.refused = false;
    tn_ort_ignore(x->api, x->api->terminate_not(x->run_options));
    tn_ort_watch_begin_call(&x->watch, call->cancel, x->run_options, NULL);
    tn_ort_enter(x->ort, &x->memory);
    struct tn_ort_status *status = x->api->run(x->session, x->run_options, x->in_names, (const struct tn_ort_value *const *)x->in_values, n->in,
                                               x->out_names, n->out, x->out_values);
    tn_ort_leave(x->ort);
    return outcome(x, call, status, tn_ort_watch_end_call(&x->watch), err);
}

static bool as_stated(const struct tn_ort_port *port, const struct tn_tensor *t)
{
    bool same = t->kind == TN_KIND_TENSOR && t->element == port->port->element && t->rank == port->rank;
    for (uint32_t i = 0; same && i < t->rank; i++) same = t->dims[i] == port->dims[i];
    return same;
}

static enum tn_status take_results(struct tn_instance *x, const struct tn_tensor_call *call, const struct counts *n, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    for (size_t k = 0; !st && k < n->out; k++) {
        uint32_t i = x->out_ports[k];
        struct tn_ort_port *port = &x->outputs[i];
        if (x->bound[k]) {
            call->out[i] = x->bound[k];
            x->bound[k] = NULL;
            continue;
        }
        st = tn_ort_value_read(x, x->out_values[k], port->port->kind == TN_ONNX_PORT_OPTIONAL, &call->out[i], err);
        if (!st && port->fixed) port->fixed = port->settled = as_stated(port, call->out[i]);
    }
    for (uint32_t i = 0; st && i < x->output_count; i++) {
        tn_tensor_drop(call->out[i]);
        call->out[i] = NULL;
    }
    return st;
}

static void drop_outputs(struct tn_instance *x, struct counts *n)
{
    for (size_t k = 0; k < n->out; k++) {
        x->api->value_release(x->out_values[k]);
        tn_tensor_drop(x->bound[k]);
        x->out_values[k] = NULL;
        x->bound[k] = NULL;
    }
    n->out = 0;
}

/* A graph may state one shape and give another: the place that was made for it then is in the way, this time and from now on. */
static bool places_were_wrong(struct tn_instance *x, const struct counts *n, enum tn_status st)
{
    bool placed = false;
    if (st != TN_INVALID_REQUEST && st != TN_RUNTIME_FAILURE) return false;
    for (size_t k = 0; k < n->out; k++) {
        placed |= x->bound[k] != NULL;
        if (x->bound[k]) x->outputs[x->out_ports[k]].fixed = false;
    }
    return placed;
}

enum tn_status tn_ort_run(struct tn_instance *x, const struct tn_tensor_call *call, struct tn_error *err)
{
    struct counts n = {0, 0};
    tn_ort_enter(x->ort, &x->memory);
    enum tn_status st = take_inputs(x, call, &n, err);
    tn_ort_leave(x->ort);
    if (!st) {
        take_outputs(x, call, &n);
        st = run_once(x, call, &n, err);
        if (places_were_wrong(x, &n, st)) {
            tn_error_clear(err);
            drop_outputs(x, &n);
            take_outputs(x, call, &n);
            st = run_once(x, call, &n, err);
        }
    }
    if (!st) st = take_results(x, call, &n, err);
    drop_outputs(x, &n);
    for (size_t i = 0; i < n.in; i++) {
        x->api->value_release(x->in_values[i]);
        x->in_values[i] = NULL;
    }
    return st;
}
