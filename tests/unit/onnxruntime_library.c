/*
 * The library of ONNX Runtime that is not there, is no library, is another one, too old, too new: each has its own answer,
 * in plans and in what the doctor says, and leaves nothing behind. Libraries that are not it are built here.
 */
#include "tensor_util.h"

#include <stdlib.h>

/* NULL: no compiler here. */
static const char *build(const char *folder, const char *name, const char *source)
{
    static char library[512];
    char path[512], command[2048];
    const char *cc = getenv("CC");
    snprintf(path, sizeof(path), "%s/%s.c", folder, name);
    snprintf(library, sizeof(library), "%s/%s.so", folder, name);
    test_write_file(path, source, strlen(source));
    snprintf(command, sizeof(command), "%s -shared -fPIC -o '%s' '%s' >/dev/null 2>&1", cc && *cc ? cc : "cc", library, path);
    return system(command) == 0 ? library : NULL;
}

/* A library that says a version and has no interface. */
static const char *build_version(const char *folder, const char *name, const char *version)
{
    char source[1024];
    snprintf(source, sizeof(source),
             "typedef struct { const void *(*table)(unsigned); const char *(*version)(void); } base;\n"
             "static const void *none(unsigned v) { (void)v; return 0; }\n"
             "static const char *said(void) { return \"%s\"; }\n"
             "static const base b = {none, said};\n"
             "const base *OrtGetApiBase(void) { return &b; }\n", version);
    return build(folder, name, source);
}

static void check_doctor(struct api *a, const char *message)
{
    tn_document *d = NULL;
    REQUIRE(tn_doctor(a->runtime, &d, a->err) == TN_OK);
    const char *row = strstr(tn_document_text(d, NULL), "\"onnxruntime\"");
    CHECK(row != NULL);
    if (row) CHECK_CONTAINS(row, message);
    tn_document_free(d);
}

static void check_answer(const char *library, tn_status code, tn_decision decision, const char *message, const char *found)
{
    struct api a;
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_plan *plan = NULL;
    tn_document *document = NULL;
    tn_decision is;
    o.task = "tensor";
    o.provider = "onnxruntime";
    REQUIRE(api_begin_with(&a, 1, library));
    tn_package *package = tensor_open(&a, "add.onnx");
    REQUIRE(package);
    CHECK_INT(tn_plan_new(package, &o, &plan, a.err), code);
    CHECK_CONTAINS(tn_error_message(a.err), message);
    CHECK_CONTAINS(tn_error_found(a.err), found);
    CHECK_CONTAINS(tn_error_remedy(a.err), "deps-onnxruntime");
    CHECK_INT(tn_assess(package, &o, &is, &document, a.err), TN_OK);
    CHECK_INT(is, decision);
    tn_document_free(document);
    check_doctor(&a, message);
    /* It cannot, so that the next of the list may, and the plan says who was passed over. */
    o.provider = "onnxruntime,native";
    CHECK_INT(tn_plan_new(package, &o, &plan, a.err), TN_OK);
    tn_plan_free(plan);
    tn_package_free(package);
    api_end(&a);
}

TEST(missing)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/libonnxruntime.so", test_folder());
    check_answer(path, TN_PROVIDER_UNAVAILABLE, TN_UNKNOWN, "is not where it was said to be", "nothing at");
}

TEST(no_library)
{
    char path[512];
    const char *folder = test_folder();
    check_answer(folder, TN_PROVIDER_UNAVAILABLE, TN_UNKNOWN, "is no library", "is a folder");
    snprintf(path, sizeof(path), "%s/text.so", folder);
    test_write_file(path, "no library at all, but a text that is long enough to be looked at", 66);
    check_answer(path, TN_PROVIDER_UNAVAILABLE, TN_UNKNOWN, "no library that can be loaded here", "text.so");
    test_write_file(path, "", 0);
    check_answer(path, TN_PROVIDER_UNAVAILABLE, TN_UNKNOWN, "no library that can be loaded here", "text.so");
}

/* Bytes 18 and 19 of an ELF file are the machine: 0xF3 is RISC-V. */
TEST(another_machine)
{
    size_t n;
    const char *library = build(test_folder(), "machine", "int there_is_something;\n");
    if (!library) test_skip("no compiler for shared libraries here");
    char *bytes = test_read_file(library, &n);
    REQUIRE(bytes && n > 20);
    bytes[18] = (char)0xF3;
    bytes[19] = 0;
    test_write_file(library, bytes, n);
    free(bytes);
    check_answer(library, TN_PROVIDER_UNAVAILABLE, TN_UNKNOWN, "no library that can be loaded here", "machine.so");
}

TEST(another_library)
{
    const char *library = build(test_folder(), "other", "int there_is_something;\n");
    if (!library) test_skip("no compiler for shared libraries here");
    check_answer(library, TN_PROVIDER_UNAVAILABLE, TN_UNKNOWN, "is another one than ONNX Runtime", "without the symbol OrtGetApiBase");
}

TEST(other_versions)
{
    const char *folder = test_folder();
    const char *library = build_version(folder, "old", "1.12.1");
    if (!library) test_skip("no compiler for shared libraries here");
    check_answer(library, TN_VERSION_UNQUALIFIED, TN_UNQUALIFIED, "too old", "version 1.12.1");
    check_answer(build_version(folder, "young", "1.999.0"), TN_VERSION_UNQUALIFIED, TN_UNQUALIFIED, "newer than any that was tested", "version 1.999.0");
    check_answer(build_version(folder, "second", "2.0.0"), TN_VERSION_UNQUALIFIED, TN_UNQUALIFIED, "of no form that we know", "version 2.0.0");
    check_answer(build_version(folder, "words", "nightly"), TN_VERSION_UNQUALIFIED, TN_UNQUALIFIED, "of no form that we know", "version nightly");
    check_answer(build_version(folder, "hollow", "1.24.0"), TN_VERSION_UNQUALIFIED, TN_UNQUALIFIED, "without the interface", "version 1.24.0");
}

/* A plan for another provider does not look for the library. */
TEST(nobody_opens_what_nobody_asked_for)
{
    struct api a;
    char source[1024], mark[400];
    const char *folder = test_folder();
    size_t n;
    snprintf(mark, sizeof(mark), "%s/opened", folder);
    snprintf(source, sizeof(source), "#include <stdio.h>\n__attribute__((constructor)) static void start(void)\n{ FILE *f = fopen(\"%s\", \"w\"); if (f) fclose(f); }\n", mark);
    const char *library = build(folder, "marks", source);
    if (!library) test_skip("no compiler for shared libraries here");
    REQUIRE(api_begin_with(&a, 1, library));
    tn_session *session = tensor_session_of(&a, "add.onnx", "native");
    CHECK(session != NULL);
    CHECK(test_read_file(mark, &n) == NULL);
    tn_session_free(session);
    session = tensor_session_of(&a, "add.onnx", "onnxruntime");
    CHECK(session == NULL);
    char *opened = test_read_file(mark, &n);
    CHECK(opened != NULL);
    free(opened);
    api_end(&a);
}
