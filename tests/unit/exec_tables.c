/*
 * Large tables of which calls read some rows: they stay in their file until a row is asked for, give the same rows, outlive the
 * file's name, and are refused once the file was written to. Tables that anything else reads are read with the load.
 */
#define _GNU_SOURCE
#include "exec_graphs.h"

#include "tensor/pages.h"

#include <fcntl.h>

enum { ROWS = 70000, WIDTH = 17, TABLE = ROWS * WIDTH };

struct loaded {
    struct tn_inventory *inv;
    struct tn_os_file file;
    struct tn_source source;
    struct tn_model *model;
    struct tn_program *program;
    struct tn_exec_context *context;
    struct tn_findings findings;
};

static float value_of(int64_t i)
{
    return (float)(i % 100003) * 0.5f;
}

/* gather = Gather(table, x), and what else stands in the graph. */
static void write_model(const char *attrs, void (*more)(struct bytes *graph))
{
    struct bytes g = {0}, m = {0};
    float *values = malloc(TABLE * sizeof(*values));
    for (int64_t i = 0; i < TABLE; i++) values[i] = value_of(i);
    constant(&g, "table", TN_EL_F32, "70000,17", values, TABLE * sizeof(*values));
    op(&g, "Gather", "table x", "y", attrs);
    port(&g, 11, "x", TN_EL_I64, "n");
    port(&g, 12, "y", TN_EL_F32, "a,b");
    if (more) more(&g);
    number(&m, 1, 9);
    opset(&m, "", 21);
    message(&m, 7, g);
    put_bytes("p/model.onnx", m.data, m.n);
    free(values);
    free(m.data);
}

static void load(struct loaded *l)
{
    struct tn_onnx_view *view;
    memset(l, 0, sizeof(*l));
    begin();
    tn_findings_init(&l->findings, &alloc, 16);
    l->inv = open_package(in_folder("p"));
    REQUIRE(l->inv && tn_inventory_open_file(l->inv, &l->inv->files[0], &l->file, err) == TN_OK);
    l->source = tn_source_of_file(&l->file, l->inv->files[0].path);
    REQUIRE(tn_onnx_view_open(&ctx, &l->source, &view, err) == TN_OK);
    REQUIRE(tn_model_import(&ctx, l->inv, &l->source, view, &l->findings, &l->model, err) == TN_OK && l->model);
    tn_net_check(l->model, &l->findings);
    REQUIRE(tn_net_infer(l->model, &l->findings, err) == TN_OK && !l->findings.blockers);
    struct tn_program_options options = {.pool = pool, .threads = 2};
    REQUIRE(tn_program_new(l->model, &options, &l->program, err) == TN_OK && tn_exec_context_new(l->program, 0, &l->context, err) == TN_OK);
    tn_os_close(&l->file); /* as a session does */
}

static void unload(struct loaded *l)
{
    tn_exec_context_free(l->context);
    tn_program_free(l->program);
    tn_model_free(l->model);
    tn_findings_release(&l->findings);
    tn_pool_free(pool);
    close_package(l->inv);
}

static enum tn_status rows_at(struct loaded *l, const int64_t *at, int64_t count)
{
    struct tn_tensor *in = tn_tensor_new(tn_exec_heap(l->context), TN_EL_I64, 1, &count), *out[2] = {NULL};
    memcpy(in->data, at, (size_t)count * sizeof(*at));
    tn_error_clear(err);
    enum tn_status st = tn_exec_run(l->context, &in, out, NULL, NULL, err);
    for (int64_t i = 0; !st && i < count; i++) {
        int64_t row = at[i] < 0 ? at[i] + ROWS : at[i];
        for (int64_t k = 0; k < WIDTH; k++) CHECK(((const float *)out[0]->data)[i * WIDTH + k] == value_of(row * WIDTH + k));
    }
    tn_tensor_drop(in);
    tn_tensor_drop(out[0]);
    tn_tensor_drop(out[1]);
    return st;
}

static const char *touch(void)
{
    struct timespec times[2] = {{.tv_sec = 1000000, .tv_nsec = 0}, {.tv_sec = 1000000, .tv_nsec = 0}};
    const char *path = in_folder("p/model.onnx");
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
    return path;
}

static const int64_t few[] = {0, 69999, -1, 35000, 35001, 0, -70000}, others[] = {123, 456};

TEST(rows_of_a_table_come_from_its_file)
{
    struct loaded l;
    write_model("", NULL);
    load(&l);
    CHECK_INT(rows_at(&l, few, 7), TN_OK);
    uint64_t calls = alloc.calls;
    CHECK_INT(rows_at(&l, others, 2), TN_OK);
    CHECK_INT(rows_at(&l, few, 7), TN_OK);
    calls = alloc.calls - calls;
    CHECK(calls <= 2); /* the operands of this test alone: a block of another size */
    CHECK_INT(rows_at(&l, (int64_t[]){70000}, 1), TN_INVALID_REQUEST);
    unload(&l);
}

TEST(a_table_outlives_the_name_of_its_file)
{
    struct loaded l;
    write_model("", NULL);
    load(&l);
    CHECK(rename(in_folder("p/model.onnx"), in_folder("elsewhere")) == 0);
    CHECK_INT(rows_at(&l, few, 7), TN_OK);
    CHECK(unlink(in_folder("elsewhere")) == 0);
    CHECK_INT(rows_at(&l, others, 2), TN_OK);
    unload(&l);
}

TEST(a_table_whose_file_was_written_to_is_refused)
{
    for (int shrinks = 0; shrinks < 2; shrinks++) {
        struct loaded l;
        write_model("", NULL);
        load(&l);
        CHECK_INT(rows_at(&l, few, 7), TN_OK);
        const char *path = touch();
        if (shrinks) CHECK(truncate(path, 5000) == 0);
        CHECK_INT(rows_at(&l, few, 7), TN_OK); /* what is there stays */
        CHECK_INT(rows_at(&l, others, 2), TN_ARTIFACT_STALE);
        CHECK_INT(rows_at(&l, few, 7), TN_ARTIFACT_STALE);
        CHECK_CONTAINS(err->primary.found, "changed since it was loaded");
        unload(&l);
    }
}

static void along_columns(struct bytes *g)
{
    op(g, "Gather", "table x", "z", "axis=1");
    port(g, 12, "z", TN_EL_F32, "c,d");
}

static void as_output(struct bytes *g)
{
    port(g, 12, "table", TN_EL_F32, "70000,17");
}

TEST(a_table_that_something_else_reads_is_there_after_the_load)
{
    void (*const forms[])(struct bytes *) = {along_columns, as_output};
    for (size_t i = 0; i < 2; i++) {
        struct loaded l;
        write_model("", forms[i]);
        load(&l);
        CHECK(truncate(touch(), 100) == 0);
        CHECK_INT(rows_at(&l, (int64_t[]){3, 16, 0}, 3), TN_OK);
        unload(&l);
    }
}

TEST(pages_are_read_once_and_where_they_are_asked_for)
{
    struct tn_os_file file;
    enum { ALL = 3 * 4096 + 100 };
    unsigned char bytes[ALL + 7];
    for (size_t i = 0; i < sizeof(bytes); i++) bytes[i] = (unsigned char)(i * 7);
    put_bytes("b", bytes, sizeof(bytes));
    CHECK_INT(tn_os_open(in_folder("b"), &file), 0);
    struct tn_pages *p = tn_pages_new(&alloc, &file, 7, ALL);
    const unsigned char *data = tn_pages_data(p);
    for (int64_t i = ALL / 100 - 1; i >= 0; i -= 3) {
        CHECK_INT(tn_pages_need(p, &i, 1, 100), TN_OK);
        CHECK(memcmp(data + i * 100, bytes + 7 + i * 100, 100) == 0);
    }
    CHECK_INT(tn_pages_need(p, (int64_t[]){0}, 1, ALL), TN_OK);
    CHECK(memcmp(data, bytes + 7, ALL) == 0);
    CHECK_INT(tn_pages_need(p, NULL, 0, 1), TN_OK);
    tn_pages_free(p);
    tn_pages_free(NULL);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}
