/* Golden files: what is read, what is refused and where, and that a golden of another package never counts. */
#include "test.h"

#include "qualify/golden.h"

#include <stdlib.h>
#include <sys/stat.h>

struct place {
    struct tn_alloc alloc;
    struct tn_context ctx;
    struct tn_error err;
    char folder[4096], golden[4096];
};

static struct place *place_new(void)
{
    static struct place p;
    tn_alloc_init(&p.alloc);
    tn_error_clear(&p.err);
    p.ctx = (struct tn_context){.alloc = &p.alloc, .limits = tn_limits_default()};
    snprintf(p.folder, sizeof(p.folder), "%s/package", test_folder());
    snprintf(p.golden, sizeof(p.golden), "%s/golden.json", test_folder());
    mkdir(p.folder, 0700);
    return &p;
}

static void put(struct place *p, const char *name, const char *text)
{
    char path[8192];
    snprintf(path, sizeof(path), "%s/%s", p->folder, name);
    test_write_file(path, text, strlen(text));
}

static enum tn_status open_text(struct place *p, const char *text, struct tn_golden *g)
{
    test_write_file(p->golden, text, strlen(text));
    return tn_golden_open(g, &p->ctx, p->golden, &p->err);
}

static enum tn_status belongs(struct place *p, const struct tn_golden *g)
{
    struct tn_inventory *inv = NULL;
    enum tn_status status = tn_inventory_open(&p->ctx, p->folder, &inv, &p->err);
    if (!status) status = tn_golden_belongs(g, inv, NULL, &p->err);
    tn_inventory_free(inv);
    return status;
}

static const char case_text[] = "{\"text\":\"a\",\"ids\":[1],\"embedding\":[0.5]}";

TEST(files_that_are_no_goldens_are_refused_by_place)
{
    static const struct {
        const char *text, *element;
        enum tn_status status;
    } cases[] = {
        {"{", "", TN_ARTIFACT_MALFORMED},
        {"[]", "/certificate", TN_METADATA_INVALID},
        {"{\"certificate\":{}}", "/cases", TN_METADATA_INVALID},
        {"{\"certificate\":{},\"cases\":[]}", "/cases", TN_METADATA_INVALID},
        {"{\"certificate\":\"me\",\"cases\":[1]}", "/certificate", TN_METADATA_INVALID},
        {"{\"certificate\":{},\"cases\":[1],\"stages\":[]}", "/stages", TN_METADATA_INVALID},
        {"{\"certificate\":{},\"cases\":[1],\"stages\":{}}", "/stages/ids", TN_METADATA_INVALID},
        {"{\"certificate\":{},\"cases\":[1],\"stages\":{\"ids\":[],\"embeddings\":7}}", "/stages/embeddings",
         TN_METADATA_INVALID},
        {"{\"certificate\":{},\"cases\":[1],\"stages\":{\"ids\":[],\"embeddings\":[],\"modules\":[]}}", "/stages/layers",
         TN_METADATA_INVALID},
    };
    struct place *p = place_new();
    struct tn_golden g;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_INT(open_text(p, cases[i].text, &g), cases[i].status);
        if (cases[i].element[0]) CHECK_STR(p->err.primary.element, cases[i].element);
        tn_golden_release(&g);
    }
    CHECK_INT(tn_golden_open(&g, &p->ctx, "/does/not/exist.json", &p->err), TN_ARTIFACT_MISSING);
    CHECK_STR(p->err.primary.file, "/does/not/exist.json");
    tn_golden_release(&g);
    CHECK_INT(tn_golden_open(&g, &p->ctx, p->folder, &p->err), TN_ARTIFACT_MISSING);
    tn_golden_release(&g);
    CHECK_INT(tn_alloc_current(&p->alloc), 0);
}

TEST(named_files_decide_whose_golden_it_is)
{
    struct place *p = place_new();
    struct tn_golden g;
    char text[1024];
    put(p, "config.json", "abc");
    put(p, "README.md", "one");
    /* SHA-256 of "abc": FIPS 180-2, appendix B.1 */
    static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    snprintf(text, sizeof(text), "{\"certificate\":{},\"package_files\":{\"config.json\":\"%s\"},\"cases\":[%s]}", abc,
             case_text);
    REQUIRE(open_text(p, text, &g) == TN_OK);
    CHECK_INT(belongs(p, &g), TN_OK);
    put(p, "README.md", "two"); /* nothing that answers depend on */
    CHECK_INT(belongs(p, &g), TN_OK);
    put(p, "config.json", "abd");
    CHECK_INT(belongs(p, &g), TN_ARTIFACT_STALE);
    CHECK_STR(p->err.primary.file, "config.json");
    CHECK_CONTAINS(p->err.primary.expected, abc);
    CHECK_CONTAINS(p->err.primary.found, "a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9");
    tn_golden_release(&g);

    snprintf(text, sizeof(text), "{\"certificate\":{},\"package_files\":{\"model.bin\":\"%s\"},\"cases\":[%s]}", abc,
             case_text);
    REQUIRE(open_text(p, text, &g) == TN_OK);
    CHECK_INT(belongs(p, &g), TN_ARTIFACT_STALE);
    CHECK_STR(p->err.primary.file, "model.bin");
    tn_golden_release(&g);
    static const char *const bad[] = {"{}", "[]", "{\"config.json\":1}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(text, sizeof(text), "{\"certificate\":{},\"package_files\":%s,\"cases\":[%s]}", bad[i], case_text);
        REQUIRE(open_text(p, text, &g) == TN_OK);
        CHECK_INT(belongs(p, &g), TN_METADATA_INVALID);
        tn_golden_release(&g);
    }
    CHECK_INT(tn_alloc_current(&p->alloc), 0);
}

TEST(a_golden_that_names_no_package_is_refused)
{
    struct place *p = place_new();
    struct tn_golden g;
    char text[1024];
    put(p, "config.json", "abc");
    snprintf(text, sizeof(text), "{\"certificate\":{},\"cases\":[%s]}", case_text);
    REQUIRE(open_text(p, text, &g) == TN_OK);
    CHECK_INT(belongs(p, &g), TN_METADATA_INVALID);
    CHECK_STR(p->err.primary.element, "/certificate/input_sha256");
    tn_golden_release(&g);
}

/* The goldens of tests/golden/embed carry the digest of the folder that their script wrote. */
TEST(the_committed_goldens_belong_to_their_packages)
{
    static const char *const names[] = {"bert_mean_normalize", "bert_sharded", "bert_dense_chain", "distilbert_cls",
                                        "mpnet_mean_normalize"};
    struct place *p = place_new();
    struct tn_golden g;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char golden[128], other[128];
        snprintf(golden, sizeof(golden), "golden/embed/%s.json", names[i]);
        snprintf(other, sizeof(other), "golden/packages/%s", names[(i + 1) % 5]);
        REQUIRE(tn_golden_open(&g, &p->ctx, test_path(golden), &p->err) == TN_OK);
        snprintf(golden, sizeof(golden), "golden/packages/%s", names[i]);
        snprintf(p->folder, sizeof(p->folder), "%s", test_path(golden));
        CHECK_INT(belongs(p, &g), TN_OK);
        snprintf(p->folder, sizeof(p->folder), "%s", test_path(other));
        CHECK_INT(belongs(p, &g), TN_ARTIFACT_STALE);
        tn_golden_release(&g);
    }
    CHECK_INT(tn_alloc_current(&p->alloc), 0);
}

TEST(cases_are_read_with_their_options)
{
    static const struct {
        const char *text, *element;
    } bad[] = {
        {"{}", "/cases/0/text"},
        {"{\"text\":\"a\"}", "/cases/0/ids"},
        {"{\"text\":\"a\",\"ids\":[],\"type_ids\":3}", "/cases/0/type_ids"},
        {"{\"text\":\"a\",\"ids\":[]}", "/cases/0/embedding"},
        {"{\"text\":\"a\",\"ids\":[],\"embedding\":[],\"prompt_name\":1}", "/cases/0/prompt_name"},
        {"{\"text\":\"a\",\"ids\":[],\"embedding\":[],\"normalize_embeddings\":1}", "/cases/0/normalize_embeddings"},
        {"{\"text\":\"a\",\"ids\":[],\"embedding\":[],\"truncate_dim\":0}", "/cases/0/truncate_dim"},
        {"{\"text\":\"a\",\"ids\":[],\"embedding\":[],\"truncate_dim\":2.5}", "/cases/0/truncate_dim"},
    };
    struct place *p = place_new();
    struct tn_golden g;
    struct tn_golden_case c;
    char text[1024];
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(text, sizeof(text), "{\"certificate\":{},\"cases\":[%s]}", bad[i].text);
        REQUIRE(open_text(p, text, &g) == TN_OK);
        CHECK_INT(tn_golden_read_case(tn_json_first(g.cases), &c, &p->err), TN_METADATA_INVALID);
        CHECK_STR(p->err.primary.element, bad[i].element);
        tn_golden_release(&g);
    }
    snprintf(text, sizeof(text), "{\"certificate\":{},\"cases\":[{\"text\":\"hi\",\"ids\":[1,2],\"type_ids\":null,"
             "\"embedding\":[1],\"prompt_name\":\"q\",\"normalize_embeddings\":true,\"truncate_dim\":5}]}");
    REQUIRE(open_text(p, text, &g) == TN_OK);
    REQUIRE(tn_golden_read_case(tn_json_first(g.cases), &c, &p->err) == TN_OK);
    CHECK(tn_str_is(c.text, "hi") && c.prompt_named && tn_str_is(c.prompt_name, "q") && c.normalize);
    CHECK_INT(c.truncate_dim, 5);
    tn_golden_release(&g);
    CHECK_INT(tn_alloc_current(&p->alloc), 0);
}
