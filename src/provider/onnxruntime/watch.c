/*
 * A call of the library ends when it is done or when another thread tells it to stop: it has no way to ask us. So one thread
 * per session looks every few milliseconds while a call is under way. Between calls that follow one another it goes on
 * looking, so that none has to wake it; after a while without any it sleeps.
 */
#include "provider/onnxruntime/ort.h"

enum { LOOK_NS = 2000000, IDLE_LOOKS = 25 };

static void stop(struct tn_ort_watch *w)
{
    w->fired = true;
    if (w->run) tn_ort_ignore(w->api, w->api->terminate(w->run));
    if (w->loading && w->api->options_cancel) tn_ort_ignore(w->api, w->api->options_cancel(w->loading, true));
}

static void *look(void *user)
{
    struct tn_ort_watch *w = user;
    unsigned idle = 0;
    tn_mutex_lock(&w->lock);
    while (!w->ending) {
        if (w->cancel && !w->fired && tn_cancel_check(w->cancel)) stop(w);
        idle = w->cancel ? 0 : idle + 1;
        w->asleep = idle > IDLE_LOOKS;
        if (w->asleep) tn_cond_wait(&w->wake, &w->lock);
        else tn_cond_wait_ns(&w->wake, &w->lock, LOOK_NS);
    }
    tn_mutex_unlock(&w->lock);
    return NULL;
}

bool tn_ort_watch_start(struct tn_ort_watch *w, const struct tn_ort_api *api)
{
    w->api = api;
    w->have_lock = tn_mutex_init(&w->lock);
    w->have_wake = w->have_lock && tn_cond_init(&w->wake);
    w->have_thread = w->have_wake && tn_thread_start(&w->thread, look, w);
    return w->have_thread;
}

void tn_ort_watch_end(struct tn_ort_watch *w)
{
    if (w->have_thread) {
        tn_mutex_lock(&w->lock);
        w->ending = true;
        tn_cond_signal(&w->wake);
        tn_mutex_unlock(&w->lock);
        tn_thread_join(&w->thread);
    }
    if (w->have_wake) tn_cond_release(&w->wake);
    if (w->have_lock) tn_mutex_release(&w->lock);
    *w = (struct tn_ort_watch){0};
}

void tn_ort_watch_begin_call(struct tn_ort_watch *w, const struct tn_cancel *cancel, struct tn_ort_run_options *run,
                          struct tn_ort_session_options *loading)
{
    tn_mutex_lock(&w->lock);
    w->cancel = cancel;
    w->run = run;
    w->loading = loading;
    w->fired = false;
    if (cancel && w->asleep) tn_cond_signal(&w->wake);
    tn_mutex_unlock(&w->lock);
}

bool tn_ort_watch_end_call(struct tn_ort_watch *w)
{
    tn_mutex_lock(&w->lock);
    bool fired = w->fired;
    w->cancel = NULL;
    w->run = NULL;
    w->loading = NULL;
    tn_mutex_unlock(&w->lock);
    return fired;
}
