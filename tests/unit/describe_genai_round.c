/*
 * Every import as documents: what is written for a package of onnxruntime-genai holds by our own check, is read back with
 * nothing left of the convention, and is written again as it stands.
 */
#include "genai_kit.h"

#include "describe/serial.h"

#define CONTRACT "inference_metadata.yaml"
#define CONTENT "tenon_package.json"

struct pair {
    struct tn_buf contract, content;
};

/* Texts outlive the packages that they are of, whose memory is counted. */
static struct tn_alloc texts;

static bool write_pair(const struct tn_description *d, struct pair *p, const char *package)
{
    struct tn_serial_options serial = {.yaml = true};
    tn_buf_init(&p->contract, &texts, 1 << 22);
    tn_buf_init(&p->content, &texts, 1 << 22);
    tn_error_clear(err);
    if (tn_description_documents(d, &serial, &p->contract, &p->content, err) == TN_OK) return true;
    test_fail(__FILE__, __LINE__, "%s: %s (%s, %s)", package, err->primary.message, err->primary.element, err->primary.found);
    return false;
}

static void release_pair(struct pair *p)
{
    tn_buf_release(&p->contract);
    tn_buf_release(&p->content);
}

/* Faults of the documents; what nothing here executes is none. */
static void expect_valid(const struct tn_description *d, const char *package)
{
    for (size_t i = 0; i < d->findings.count; i++) {
        const struct tn_finding *f = &d->findings.items[i];
        bool runs = f->code == TN_PROVIDER_UNAVAILABLE || f->code == TN_UNSUPPORTED_CONFIG || f->code == TN_MISSING_CAPABILITY;
        if (f->severity == TN_BLOCKER && !runs)
            test_fail(__FILE__, __LINE__, "%s: %s at %s %s", package, f->message, f->file, f->element);
    }
}

static void round_trip(const char *package)
{
    struct pair first, again;
    bool folders = strcmp(package, "two_folders") == 0;
    tn_alloc_init(&texts);
    genai_new(package);
    kit_options.accept_loss = true;
    if (folders) kit_options.variant = "gpu/model.onnx";
    struct tn_description *d = kit_describe();
    REQUIRE(d && has_contract(d));
    expect_valid(d, package);
    uint32_t losses = d->loss_count;
    size_t components = d->standard.workflow.component_count;
    bool ok = write_pair(d, &first, package);
    if (ok) {
        kit_put(CONTRACT, first.contract.data);
        kit_put(CONTENT, first.content.data);
        kit_remove(folders ? "gpu/" DOCUMENT : DOCUMENT);
        if (folders) kit_remove("cpu/" DOCUMENT);
    }
    kit_close(d);
    if (!ok) {
        release_pair(&first);
        return;
    }
    kit_options.accept_loss = false;
    kit_options.variant = NULL;
    d = kit_describe();
    REQUIRE(d);
    CHECK_TSTR(d->dialect, "inference_metadata");
    expect_valid(d, package);
    CHECK_INT(d->loss_count, losses);
    CHECK_INT(d->standard.workflow.component_count, components);
    if (write_pair(d, &again, package)) {
        if (!tn_str_eq(tn_buf_str(&first.contract), tn_buf_str(&again.contract)))
            test_fail(__FILE__, __LINE__, "%s: another contract the second time", package);
        if (!tn_str_eq(tn_buf_str(&first.content), tn_buf_str(&again.content)))
            test_fail(__FILE__, __LINE__, "%s: another " CONTENT " the second time", package);
    }
    release_pair(&again);
    release_pair(&first);
    kit_close(d);
}

TEST(every_import_comes_back_from_its_documents)
{
    unsigned count = 0;
    DIR *folder = opendir(test_path("golden/genai/packages"));
    REQUIRE(folder != NULL);
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        if (e->d_name[0] == '.' || strcmp(e->d_name, "stages_apart") == 0) continue; /* has no contract: see below */
        round_trip(e->d_name);
        count++;
    }
    closedir(folder);
    CHECK(count >= 11);
}

/* What the form has no words for is refused, and nothing else is written in its place. */
TEST(an_import_that_stops_short_is_not_written)
{
    struct tn_buf contract, content;
    struct tn_serial_options serial = {.yaml = true};
    tn_alloc_init(&texts);
    genai_new("stages_apart");
    kit_options.accept_loss = true;
    struct tn_description *d = kit_describe();
    REQUIRE(d && !has_contract(d));
    tn_buf_init(&contract, &texts, 1 << 22);
    tn_buf_init(&content, &texts, 1 << 22);
    tn_error_clear(err);
    CHECK_INT(tn_description_documents(d, &serial, &contract, &content, err), TN_UNSUPPORTED_CONFIG);
    CHECK_CONTAINS(err->primary.message, "some steps of generation only");
    CHECK_INT(tn_buf_str(&contract).n, 0);
    CHECK_INT(tn_buf_str(&content).n, 0);
    tn_buf_release(&contract);
    tn_buf_release(&content);
    kit_close(d);
}
