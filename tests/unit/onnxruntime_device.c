/*
 * Devices, with a stand-in: a library built here that hands everything on to the real one but says that it has CUDA. Asked
 * for, its own attempt to make the device gives the reason; where it pretends to have made one, nodes that ran on the CPU are
 * found out. What asks for the CPU looks at no device.
 */
#include "onnxruntime_util.h"

#include <stdlib.h>

static const char source[] =
    "#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "typedef struct { const void *const *(*table)(unsigned); const char *(*version)(void); } base;\n"
    "static const void *changed[1024];\n"
    "static char cuda[] = \"CUDAExecutionProvider\", cpu[] = \"CPUExecutionProvider\", *list[] = {cuda, cpu};\n"
    "static void *devices(char ***out, int *n) { *out = list; *n = 2; return 0; }\n"
    "static void *devices_release(char **l, int n) { (void)l; (void)n; return 0; }\n"
    "static void *(*make)(void **);\n"
    "static void *made(void **out) { FILE *f = fopen(MARK, \"w\"); if (f) fclose(f); if (PRETEND) { *out = 0; return 0; } return make(out); }\n"
    "static void *appended(void *o, const void *c) { (void)o; (void)c; return 0; }\n"
    "static const base *real(void)\n"
    "{ void *l = dlopen(LIBRARY, RTLD_NOW); const base *(*f)(void); void *s = l ? dlsym(l, \"OrtGetApiBase\") : 0; memcpy(&f, &s, sizeof f); return f(); }\n"
    "static const void *const *table(unsigned v)\n"
    "{ const void *const *t = real()->table(v); void *(*d)(char ***, int *) = devices, *(*r)(char **, int) = devices_release;\n"
    "  void *(*m)(void **) = made, *(*a)(void *, const void *) = appended;\n"
    "  memcpy(changed, t, 300 * sizeof *t); memcpy(&make, &changed[205], sizeof make); memcpy(&changed[125], &d, sizeof d);\n"
    "  memcpy(&changed[126], &r, sizeof r); memcpy(&changed[205], &m, sizeof m); if (PRETEND) memcpy(&changed[204], &a, sizeof a);\n"
    "  return changed; }\n"
    "static const char *said(void) { static char v[] = \"1.22.0\"; return v; }\n"
    "static const base b = {table, said};\n"
    "const base *OrtGetApiBase(void) { return &b; }\n";

/* False: no compiler here. `mark`: a file that appears once the device is looked at. */
static bool begin(struct api *a, bool pretend, char *mark, size_t cap)
{
    char path[512], command[3072];
    static char library[512];
    const char *folder = test_folder(), *real = ort_path(), *cc = getenv("CC");
    if (!real) test_skip("no library of ONNX Runtime here: make deps-onnxruntime");
    snprintf(mark, cap, "%.400s/looked", folder);
    snprintf(path, sizeof(path), "%.400s/stand_in.c", folder);
    snprintf(library, sizeof(library), "%.400s/stand_in.so", folder);
    test_write_file(path, source, strlen(source));
    snprintf(command, sizeof(command), "%s -shared -fPIC '-DMARK=\"%.400s\"' '-DLIBRARY=\"%.900s\"' -DPRETEND=%d -o '%.400s' '%.400s' >/dev/null 2>&1",
             cc && *cc ? cc : "cc", mark, real, pretend, library, path);
    return system(command) == 0 && api_begin_with(a, 1, library);
}

static bool exists(const char *path)
{
    size_t n;
    char *text = test_read_file(path, &n);
    free(text);
    return text != NULL;
}

static tn_status plan_for(struct api *a, const char *device, const char *placement, const char *providers, tn_plan **plan)
{
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_package *package = tensor_open(a, "add.onnx");
    o.task = "tensor";
    o.provider = providers;
    o.device = device;
    o.placement = placement;
    tn_status st = package ? tn_plan_new(package, &o, plan, a->err) : TN_ARTIFACT_MISSING;
    tn_package_free(package);
    return st;
}

TEST(a_device_that_cannot_be_made_gives_the_loaders_reason)
{
    struct api a;
    char mark[512];
    tn_plan *plan = NULL;
    if (!begin(&a, false, mark, sizeof(mark))) test_skip("no compiler for shared libraries here");
    CHECK_INT(plan_for(&a, NULL, NULL, "onnxruntime", &plan), TN_OK);
    tn_session *session = plan ? api_load(&a, plan) : NULL;
    CHECK(!exists(mark)); /* the CPU was asked for, and nothing else was looked at */
    tn_session_free(session);
    tn_plan_free(plan);
    CHECK_INT(plan_for(&a, "gpu", NULL, "onnxruntime", &plan), TN_PLACEMENT_REFUSED);
    CHECK(plan == NULL && exists(mark));
    CHECK_CONTAINS(tn_error_message(a.err), "has no device gpu here");
    CHECK_CONTAINS(tn_error_found(a.err), "CUDAExecutionProvider: ");
    CHECK(strlen(tn_error_found(a.err)) > strlen("CUDAExecutionProvider: ") + 10); /* its own words */
    /* The next of the list has no such device either: nothing is dropped so that something runs. */
    CHECK_INT(plan_for(&a, "gpu", NULL, "onnxruntime,native", &plan), TN_PLACEMENT_REFUSED);
    api_end(&a);
}

TEST(a_device_that_is_not_used_is_found_out)
{
    struct api a;
    char mark[512];
    tn_plan *plan = NULL;
    tn_session *session = NULL;
    if (!begin(&a, true, mark, sizeof(mark))) test_skip("no compiler for shared libraries here");
    CHECK_INT(plan_for(&a, "gpu", "strict", "onnxruntime", &plan), TN_OK);
    CHECK_INT(tn_session_load(plan, NULL, &session, a.err), TN_PLACEMENT_REFUSED);
    CHECK(session == NULL);
    tn_plan_free(plan);
    api_end(&a);
}
