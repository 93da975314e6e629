/*
 * tn_records_list, _show and _export. A short row also says what of the record still holds in this build on this
 * machine: what is known without a package is compared, the rest waits for a plan.
 */
#include "api/records.h"

#include "api/api.h"

#include <stdio.h>
#include <string.h>

static void copy_value(struct tn_json_writer *w, struct tn_json v);

/* Records nest a few levels deep; the writer stops at its own depth. */
void tn_records_copy_members(struct tn_json_writer *w, struct tn_json object)
{
    for (struct tn_json v = tn_json_first(object); tn_json_present(v); v = tn_json_next(v)) {
        tn_jw_key_str(w, tn_json_key(v));
        copy_value(w, v);
    }
}

static void copy_value(struct tn_json_writer *w, struct tn_json v)
{
    struct tn_str text;
    if (w->depth + 1 >= TN_JW_DEPTH) {
        tn_jw_raw(w, tn_json_text(v));
    } else if (tn_json_is(v, TN_JSON_OBJECT)) {
        tn_jw_begin_object(w);
        tn_records_copy_members(w, v);
        tn_jw_end_object(w);
    } else if (tn_json_is(v, TN_JSON_ARRAY)) {
        tn_jw_begin_array(w);
        for (struct tn_json e = tn_json_first(v); tn_json_present(e); e = tn_json_next(e)) copy_value(w, e);
        tn_jw_end_array(w);
    } else if (tn_json_str(v, &text)) {
        tn_jw_str(w, text);
    } else {
        tn_jw_raw(w, tn_json_text(v));
    }
}

/* ---- what holds here and now -------------------------------------------------------------------------------------- */

struct tn_str tn_records_name_part(struct tn_str s)
{
    size_t n = 0;
    while (n < s.n && s.s[n] != '/') n++;
    return (struct tn_str){s.s, n};
}

/* The version that this build has of what the record names; "gone" when it has none. */
static struct tn_str current(char *buf, size_t cap, struct tn_str name, const char *version)
{
    snprintf(buf, cap, "%.*s/%s", TN_FMT_ARG(name), version ? version : "gone");
    return tn_str_of(buf);
}

static const char *provider_version(const struct tn_runtime *runtime, struct tn_str name)
{
    size_t count;
    const struct tn_provider_entry *entries = tn_provider_entries(runtime, &count);
    for (size_t i = 0; i < count; i++) {
        const struct tn_provider *p = entries[i].provider;
        if (tn_str_is(name, entries[i].name) && p && (!p->present || p->present(p, NULL))) return p->version;
    }
    return NULL;
}

static const char *family_version(struct tn_str name)
{
    const struct tn_family *family;
    for (size_t i = 0; (family = tn_family_at(i)); i++) {
        if (tn_str_is(name, family->name)) return family->version;
    }
    return NULL;
}

static const struct tn_task *task_of(struct tn_str name)
{
    const struct tn_task *task;
    for (size_t i = 0; (task = tn_task_at(i)); i++) {
        if (tn_str_is(name, task->name)) return task;
    }
    return NULL;
}

void tn_records_see_present(struct tn_records_present *p, const struct tn_runtime *runtime, const struct tn_record_index *index)
{
    struct tn_cpu cpu;
    const struct tn_task *task = task_of(index->task);
    const struct tn_str *then = index->facts.value;
    tn_cpu_detect(&cpu);
    struct tn_str *now = p->facts.value;
    now[TN_DEPENDS_ON_ISA_CLASS] = tn_str_of(tn_kernels_select(&cpu, NULL)->isa_class);
    struct tn_str provider = tn_records_name_part(then[TN_DEPENDS_ON_PROVIDER]), family = tn_records_name_part(then[TN_DEPENDS_ON_FAMILY]);
    now[TN_DEPENDS_ON_PROVIDER] = current(p->provider, sizeof(p->provider), provider, provider_version(runtime, provider));
    if (family.n) now[TN_DEPENDS_ON_FAMILY] = current(p->family, sizeof(p->family), family, family_version(family));
    if (!task) return;
    now[TN_DEPENDS_ON_RECIPE] =
        current(p->recipe, sizeof(p->recipe), tn_str_of(task->recipe->name), task->recipe->version);
    now[TN_DEPENDS_ON_CONTRACT] = tn_str_of(task->contract);
}

static void write_holds(struct tn_json_writer *w, const struct tn_runtime *runtime, const struct tn_record_index *index)
{
    struct tn_records_present now = {0};
    uint32_t changed = 0;
    tn_records_see_present(&now, runtime, index);
    enum tn_level level = tn_record_holds(index, &now.facts, true, &changed);
    tn_jw_member_cstr(w, "holds_here", tn_level_name(level));
    tn_jw_key(w, "changed");
    tn_jw_begin_array(w);
    for (unsigned kind = 0; kind < TN_DEPENDENCIES; kind++) {
        if (changed >> kind & 1) tn_jw_cstr(w, tn_dependency_name((enum tn_dependency)kind));
    }
    tn_jw_end_array(w);
}

/* ---- documents ---------------------------------------------------------------------------------------------------- */

struct exporting {
    struct tn_json_writer *w;
    struct tn_runtime *runtime;
};

static enum tn_status write_row(void *user, const struct tn_record_row *row, struct tn_error *err)
{
    struct exporting *e = user;
    struct tn_json_writer *w = e->w;
    const struct tn_record_index *index = &row->index;
    (void)err;
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "id", row->id);
    if (row->damage) {
        tn_jw_member_cstr(w, "damaged", tn_status_name(row->damage));
        tn_jw_end_object(w);
        return TN_OK;
    }
    tn_jw_member_cstr(w, "level", tn_level_name(index->level));
    tn_jw_member_bool(w, "passed", index->passed);
    tn_jw_member_u64(w, "failures", index->failures);
    tn_jw_member_str(w, "created", index->created_text);
    tn_jw_member_str(w, "task", index->task);
    tn_jw_member_str(w, "suite", index->suite);
    tn_jw_member_str(w, "package", index->package);
    tn_jw_member_str(w, "manifest", index->manifest);
    tn_jw_member_str(w, "provider", index->facts.value[TN_DEPENDS_ON_PROVIDER]);
    tn_jw_member_str(w, "isa_class", index->facts.value[TN_DEPENDS_ON_ISA_CLASS]);
    tn_jw_member_str(w, "numeric", index->facts.value[TN_DEPENDS_ON_NUMERIC]);
    if (index->withdraws.n) {
        tn_jw_member_str(w, "withdraws", index->withdraws);
        tn_jw_member_str(w, "reason", index->reason);
    }
    write_holds(w, e->runtime, index);
    tn_jw_end_object(w);
    return TN_OK;
}

static enum tn_status write_whole(void *user, const struct tn_record_row *row, struct tn_error *err)
{
    struct exporting *e = user;
    struct tn_json_doc doc;
    if (row->damage) return TN_OK; /* not evidence; the list shows it */
    enum tn_status status =
        tn_json_parse(&doc, &e->runtime->alloc, &e->runtime->ctx.limits, TN_STR("record"), row->document, err);
    if (!status) copy_value(e->w, tn_json_root(&doc));
    if (!status) tn_json_release(&doc);
    return status;
}

static enum tn_status check(struct tn_runtime *runtime, struct tn_document **out, struct tn_error *err)
{
    if (out) *out = NULL;
    if (!runtime) return tn_null_argument(err, TN_PHASE_RECORD, "runtime");
    return out ? TN_OK : tn_null_argument(err, TN_PHASE_RECORD, "out");
}

TN_API tn_status tn_records_list(tn_runtime *runtime, tn_document **out, tn_error *err)
{
    struct tn_document_builder b;
    enum tn_status status = check(runtime, out, err);
    if (status) return status;
    tn_document_begin(&b, runtime);
    tn_jw_begin_object(&b.w);
    tn_jw_key(&b.w, "records");
    tn_jw_begin_array(&b.w);
    struct exporting e = {&b.w, runtime};
    status = tn_record_each(&runtime->records, write_row, &e, err);
    tn_jw_end_array(&b.w);
    tn_jw_end_object(&b.w);
    return tn_document_finish(&b, status, out, err);
}

TN_API tn_status tn_records_export(tn_runtime *runtime, tn_document **out, tn_error *err)
{
    struct tn_document_builder b;
    enum tn_status status = check(runtime, out, err);
    if (status) return status;
    tn_document_begin(&b, runtime);
    struct exporting e = {&b.w, runtime};
    tn_jw_begin_object(&b.w);
    tn_jw_member_cstr(&b.w, "schema", "tenon.records/v1");
    tn_jw_key(&b.w, "records");
    tn_jw_begin_array(&b.w);
    status = tn_record_each(&runtime->records, write_whole, &e, err);
    tn_jw_end_array(&b.w);
    tn_jw_end_object(&b.w);
    return tn_document_finish(&b, status, out, err);
}

TN_API tn_status tn_records_show(tn_runtime *runtime, const char *id, tn_document **out, tn_error *err)
{
    struct tn_document_builder b;
    struct tn_buf text;
    struct tn_json_doc doc;
    enum tn_status status = check(runtime, out, err);
    if (!status && !id) status = tn_null_argument(err, TN_PHASE_RECORD, "id");
    if (status) return status;
    tn_buf_init(&text, &runtime->alloc, (size_t)runtime->ctx.limits.json_bytes);
    tn_document_begin(&b, runtime);
    status = tn_record_get(&runtime->records, id, &text, err);
    if (!status) {
        status = tn_json_parse(&doc, &runtime->alloc, &runtime->ctx.limits, TN_STR("record"), tn_buf_str(&text), err);
        if (!status) copy_value(&b.w, tn_json_root(&doc));
        if (!status) tn_json_release(&doc);
    }
    tn_buf_release(&text);
    return tn_document_finish(&b, status, out, err);
}
