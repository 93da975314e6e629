/*
 * Every value of the two documents that are written for a package: each is changed, one at a time, to something else, and
 * the package is described again from the documents alone. The change must be refused at its own place, or change what the
 * package does; what may do neither is listed with the reason.
 */
#define _GNU_SOURCE
#include "describe_kit.h"

#include "base/json.h"
#include "describe/serial.h"
#include "family/family.h"

#include <dirent.h>
#include <sys/stat.h>

enum { PATH = 1024, POINTER = 256, KEYS = 65536 };

/* ---- the package ---------------------------------------------------------------------------------------------------- */

static bool is_convention(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".json") == 0 && strcmp(name, "tokenizer.json") != 0;
}

/* The files that the documents name, and no configuration. */
static void copy_tree(const char *from, const char *to)
{
    DIR *dir = opendir(from);
    struct dirent *entry;
    mkdir(to, 0700);
    while (dir && (entry = readdir(dir))) {
        char source[PATH + 256], target[PATH + 256];
        struct stat st;
        size_t size = 0;
        if (entry->d_name[0] == '.' || is_convention(entry->d_name)) continue;
        snprintf(source, sizeof(source), "%s/%s", from, entry->d_name);
        snprintf(target, sizeof(target), "%s/%s", to, entry->d_name);
        if (stat(source, &st) != 0) continue;
        if (S_ISDIR(st.st_mode)) {
            copy_tree(source, target);
            continue;
        }
        char *bytes = test_read_file(source, &size);
        if (bytes) test_write_file(target, bytes, size);
        free(bytes);
    }
    if (dir) closedir(dir);
}

struct subject {
    struct tn_buf text[2]; /* inference_metadata.json, tenon_package.json */
    struct tn_json_doc doc[2];
    struct tn_digest digest;
    char name[64], schema[128], chain[128], end[64]; /* the family and class, its modules, what comes out */
    int source;                                    /* of the tokenizer's stages */
};

static struct tn_alloc own; /* of the documents: a package that is closed must leave nothing in the other */

static const char *const names[2] = {"inference_metadata.json", "tenon_package.json"};

static struct tn_digest digest_of(const struct tn_description *d)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_description_fingerprint(d, &h);
    return tn_sha256_finish(&h);
}

static void close_subject(struct subject *s)
{
    for (int i = 0; i < 2; i++) {
        tn_json_release(&s->doc[i]);
        tn_buf_release(&s->text[i]);
    }
}

static void keep_kind(struct subject *s, const struct tn_description *d)
{
    const struct tn_component *c = d->components;
    char kinds[64] = "";
    for (uint32_t i = 0; i < d->module_count && i + 1 < sizeof(kinds); i++) kinds[i] = (char)('0' + d->modules[i].kind);
    snprintf(s->schema, sizeof(s->schema), "%s %.*s", c->schema->id, TN_FMT_ARG(c->architecture));
    snprintf(s->chain, sizeof(s->chain), "%s %.*s", kinds, TN_FMT_ARG(c->architecture));
    snprintf(s->end, sizeof(s->end), "%d %d", d->head ? (int)d->head->kind : -1, kinds[0] != 0);
    s->source = (int)d->tokenizer.source;
}

static bool open_subject(struct subject *s, const char *path)
{
    struct tn_serial_options serial = {.yaml = false};
    size_t count;
    memset(s, 0, sizeof(*s));
    tn_alloc_init(&own);
    kit_empty();
    kit_options.schemas = tn_family_schemas(&count);
    kit_options.schema_count = count;
    for (int i = 0; i < 2; i++) tn_buf_init(&s->text[i], &own, 1 << 22);
    struct tn_description *d = kit_describe_at(path);
    if (!d) return false;
    bool good = tn_description_documents(d, &serial, &s->text[0], &s->text[1], NULL) == TN_OK;
    kit_close(d);
    copy_tree(path, in_folder("%s", kit_root));
    for (int i = 0; i < 2 && good; i++) {
        kit_put(names[i], s->text[i].data);
        good = tn_json_parse_copy(&s->doc[i], &own, &ctx.limits, tn_str_of(names[i]), tn_buf_str(&s->text[i]), NULL) == TN_OK;
    }
    d = good ? kit_describe() : NULL;
    if (!d) return false;
    if (d->findings.blockers > 0) {
        test_fail(__FILE__, __LINE__, "%s is refused as written", path);
        print_findings(&d->findings);
        good = false;
    }
    s->digest = digest_of(d);
    keep_kind(s, d);
    kit_close(d);
    return good;
}

/* ---- one change ------------------------------------------------------------------------------------------------------ */

enum verdict { UNNOTICED, ELSEWHERE, REFUSED, CHANGED };

/* The last part of a pointer that is a name and no position. */
static struct tn_str name_in(const char *pointer)
{
    size_t end = strlen(pointer), begin;
    for (;;) {
        for (begin = end; begin > 0 && pointer[begin - 1] != '/'; begin--) {}
        if (begin == 0 || end == begin || pointer[begin] < '0' || pointer[begin] > '9') break;
        end = begin - 1;
    }
    return (struct tn_str){pointer + begin, end - begin};
}

static bool mentions(const char *text, struct tn_str part)
{
    return part.n > 0 && memmem(text, strlen(text), part.s, part.n) != NULL;
}

/* At the value, above it or below it. */
static bool is_place(const char *element, const char *pointer)
{
    size_t n = strlen(pointer), m = strlen(element);
    if (strncmp(element, pointer, n < m ? n : m) != 0 || m == 0) return false;
    return n == m || (m > n ? element[n] : pointer[m]) == '/';
}

/*
 * At the value's place, or with the value's name or the value itself among its words. Of a workflow, whose parts say one
 * thing twice, anywhere in the document: which of two contracts is the wrong one cannot be told.
 */
static bool names_it(const struct tn_finding *f, const char *file, const char *pointer, struct tn_str value)
{
    struct tn_str name = name_in(pointer);
    if (strcmp(f->file, file) == 0 && (is_place(f->element, pointer) || strncmp(pointer, "/pipeline/", 10) == 0)) return true;
    const char *const texts[] = {f->element, f->message, f->found, f->expected};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (mentions(texts[i], name) || mentions(texts[i], value)) return true;
    return false;
}

static struct tn_description *describe_changed(const struct subject *s, int which, struct tn_json v, const char *text)
{
    struct tn_str whole = tn_buf_str(&s->text[which]), old = tn_json_text(v);
    size_t at = (size_t)tn_json_offset(v), n = strlen(text);
    char *out = malloc(whole.n + n + 1);
    memcpy(out, whole.s, at);
    memcpy(out + at, text, n);
    memcpy(out + at + n, whole.s + at + old.n, whole.n - at - old.n);
    test_write_file(in_folder("%s", kit_name(names[which])), out, whole.n + n - old.n);
    free(out);
    return kit_describe();
}

/* A string without its quotes; other values are too short to be told from chance. */
static struct tn_str bare(const char *text)
{
    size_t n = strlen(text);
    return text[0] == '"' && n > 4 ? (struct tn_str){text + 1, n - 2} : (struct tn_str){NULL, 0};
}

static enum verdict judge(const struct subject *s, int which, struct tn_json v, const char *pointer, const char *text)
{
    struct tn_description *d = describe_changed(s, which, v, text);
    enum verdict verdict = UNNOTICED;
    if (!d) return verdict;
    for (size_t i = 0; i < d->findings.count; i++) {
        const struct tn_finding *f = &d->findings.items[i];
        if (f->severity != TN_BLOCKER) continue;
        if (verdict == UNNOTICED) verdict = ELSEWHERE;
        if (names_it(f, names[which], pointer, bare(text))) verdict = REFUSED;
    }
    if (verdict == ELSEWHERE) print_findings(&d->findings);
    if (verdict == UNNOTICED) {
        struct tn_digest digest = digest_of(d);
        if (memcmp(digest.bytes, s->digest.bytes, sizeof(digest.bytes)) != 0) verdict = CHANGED;
    }
    kit_close(d);
    return verdict;
}

/* ---- what may go unnoticed ------------------------------------------------------------------------------------------- */

/* The end of a pointer, the value that it may take ("" any), and why nothing has to notice. */
static const struct {
    const char *end, *value, *why;
} silent[] = {
    {"/index", "", "only the order counts: it is above the one before, and nothing else reads it"},
    {"/tokenizer/class", "\"\"", "for people; a class that is named must be known and go with the source"},
    {"/tokenizer/cls_token", "\"\"", "of a file's own stages: nothing is stated, and the file says which it is"},
    {"/tokenizer/sep_token", "\"\"", "of a file's own stages: nothing is stated, and the file says which it is"},
    {"/tokenizer/pad_token", "\"\"", "nothing is stated, and no text is padded"},
    {"/tokenizer/model_max_length", "", "what the original stated, for people; max_seq_length is what counts"},
    {"/shape/0", "", "a symbol: the name of an axis says nothing, batch_layout says what it is"},
    {"/shape/1", "", "the symbol of the tokens' axis, in the same way"},
    {"/undetermined", "", "an open point is a refusal of its own, whatever its words"},
    {"/profiles/embedding/batch_invariance", "null", "absent, it promises nothing"},
};

static bool is_silent(struct tn_json v, const char *pointer, const char *text)
{
    size_t n = strlen(pointer);
    for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
        size_t m = strlen(silent[i].end);
        if (m > n || strcmp(pointer + n - m, silent[i].end) != 0) continue;
        bool symbol = silent[i].end[1] != 's' || silent[i].end[2] != 'h' || tn_json_is(v, TN_JSON_STRING);
        if (symbol && (silent[i].value[0] == 0 || strcmp(silent[i].value, text) == 0)) return true;
    }
    return false;
}

/* ---- every value ------------------------------------------------------------------------------------------------------ */

enum { MUTANTS = 6, TEXT = 640 };

struct mutants {
    char text[MUTANTS][TEXT];
    size_t count;
};

static void add(struct mutants *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct mutants *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(m->text[m->count], TEXT, format, args);
    va_end(args);
    if (n > 0 && n < TEXT) m->count++;
}

/* Other values of the same type, and what no name may hold. */
static void mutate(struct tn_json v, struct mutants *m)
{
    double number = 0;
    struct tn_str old = tn_json_text(v);
    m->count = 0;
    switch (tn_json_type(v)) {
    case TN_JSON_BOOL: add(m, "%s", tn_str_is(old, "true") ? "false" : "true"); break;
    case TN_JSON_NUMBER:
        (void)tn_json_f64(v, &number);
        add(m, "%.17g", number + 1);
        add(m, "%.17g", number == 0 ? 7 : number * 2);
        add(m, "1000");
        if (number != 0) add(m, "0");
        break;
    case TN_JSON_STRING:
        add(m, "\"nowhere\"");
        if (old.n > 2) add(m, "\"\"");
        add(m, "\"../%.*s", (int)old.n - 1, old.s + 1);
        add(m, "%.*s\\u0000\"", (int)old.n - 1, old.s);
        break;
    case TN_JSON_NULL:
        add(m, "true");
        add(m, "false");
        add(m, "7");
        add(m, "\"nowhere\"");
        break;
    case TN_JSON_ARRAY:
    case TN_JSON_OBJECT: break;
    }
}

/* What other values of the package a value has to do with, besides what comes out of it. */
static const char *kind_of(const struct subject *s, int which, const char *pointer)
{
    static const char *const sources[] = {"file", "class", "vocab"};
    if (which == 1 && strncmp(pointer, "/components", 11) == 0) return s->schema;
    if (which == 1 && strncmp(pointer, "/modules", 8) == 0) return s->chain;
    if (which == 1 && strncmp(pointer, "/tokenizer", 10) == 0) return sources[s->source];
    return s->end;
}

/* What has been looked at: the same value of the same kind counts once, in whichever package it is. */
static uint64_t seen[KEYS];
static size_t seen_count;

static bool is_new(const char *kind, const char *pointer)
{
    struct tn_sha256 h;
    uint64_t key;
    tn_sha256_init(&h);
    tn_sha256_update_str(&h, tn_str_of(kind));
    tn_sha256_update_str(&h, tn_str_of(pointer));
    struct tn_digest digest = tn_sha256_finish(&h);
    memcpy(&key, digest.bytes, sizeof(key));
    for (size_t i = 0; i < seen_count; i++)
        if (seen[i] == key) return false;
    if (seen_count < KEYS) seen[seen_count++] = key;
    return true;
}

struct tally {
    size_t looked_at, refused, changed, silent;
};

static void try_value(struct subject *s, int which, struct tn_json v, const char *pointer, struct tally *t)
{
    struct mutants m;
    mutate(v, &m);
    for (size_t i = 0; i < m.count; i++) {
        char kind[512];
        snprintf(kind, sizeof(kind), "%s %d %s %zu", kind_of(s, which, pointer), which, tn_json_type_name(tn_json_type(v)), i);
        if (!is_new(kind, pointer)) continue;
        enum verdict verdict = judge(s, which, v, pointer, m.text[i]);
        bool allowed = verdict == UNNOTICED && is_silent(v, pointer, m.text[i]);
        t->looked_at++;
        t->refused += verdict == REFUSED;
        t->changed += verdict == CHANGED;
        t->silent += allowed;
        if (verdict == REFUSED || verdict == CHANGED || allowed) continue;
        test_fail(__FILE__, __LINE__, "%s: %s#%s, %.*s as %s: %s", s->name, names[which], pointer,
                  TN_FMT_ARG(tn_json_text(v)), m.text[i],
                  verdict == UNNOTICED ? "nothing notices" : "refused without a word of it");
    }
}

static void walk(struct subject *s, int which, struct tn_json v, struct tally *t)
{
    char pointer[POINTER];
    if (!tn_json_is(v, TN_JSON_ARRAY) && !tn_json_is(v, TN_JSON_OBJECT)) {
        (void)tn_json_pointer(v, pointer, sizeof(pointer));
        try_value(s, which, v, pointer, t);
    }
    for (struct tn_json c = tn_json_first(v); tn_json_present(c); c = tn_json_next(c)) walk(s, which, c, t);
}

static void try_package(const char *folder, const char *name, struct tally *t)
{
    struct subject s;
    char path[PATH];
    snprintf(path, sizeof(path), "golden/%s/%s", folder, name);
    if (open_subject(&s, test_path(path))) {
        snprintf(s.name, sizeof(s.name), "%s", name);
        for (int which = 0; which < 2; which++) {
            walk(&s, which, tn_json_root(&s.doc[which]), t);
            kit_put(names[which], s.text[which].data);
        }
    }
    close_subject(&s);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each package of a folder. */
static void try_folder(const char *folder)
{
    char path[PATH], *list[256];
    size_t count = 0;
    struct tally t = {0};
    snprintf(path, sizeof(path), "golden/%s", folder);
    snprintf(path, sizeof(path), "%s", test_path(path));
    DIR *dir = opendir(path);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)) && count < 256) {
        struct stat st;
        char whole[PATH + 512];
        snprintf(whole, sizeof(whole), "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' && stat(whole, &st) == 0 && S_ISDIR(st.st_mode)) list[count++] = strdup(entry->d_name);
    }
    if (dir) closedir(dir);
    qsort(list, count, sizeof(list[0]), by_name);
    for (size_t i = 0; i < count; i++) {
        try_package(folder, list[i], &t);
        free(list[i]);
    }
    printf("    %zu changes: %zu refused by name, %zu change what the package does, %zu listed\n", t.looked_at, t.refused,
           t.changed, t.silent);
    CHECK(count > 4 && t.refused > t.silent && t.changed > t.silent);
}

TEST(every_value_of_the_packages)
{
    try_folder("packages");
}

TEST(every_value_of_the_heads)
{
    try_folder("heads");
}

TEST(every_value_of_the_answers)
{
    try_folder("answers");
}

TEST(every_value_of_the_vectors)
{
    try_folder("vectors");
}

/* ---- parts that are broken ---------------------------------------------------------------------------------------------- */

/* What is told of a document of which one part has the wrong form, or is not there: that, and nothing else. */
static void expect_alone(struct subject *s, int which, const char *pointer, size_t least, const char *text)
{
    test_write_file(in_folder("%s", kit_name(names[which])), text, strlen(text));
    struct tn_description *d = kit_describe();
    if (!d) return;
    if (d->findings.blockers > 1 || d->findings.blockers < least) {
        test_fail(__FILE__, __LINE__, "%s: %s#%s %s: %zu blockers", s->name, names[which], pointer,
                  least ? "with another form" : "left out", d->findings.blockers);
        print_findings(&d->findings);
    }
    kit_close(d);
}

static void break_value(struct subject *s, int which, struct tn_json v, const char *pointer)
{
    struct tn_str whole = tn_buf_str(&s->text[which]), old = tn_json_text(v);
    size_t at = (size_t)tn_json_offset(v);
    const char *other = tn_json_is(v, TN_JSON_OBJECT) ? "7" : "{\"zz\": 1}";
    char *out = malloc(whole.n + 32);
    sprintf(out, "%.*s%s%s", (int)at, whole.s, other, whole.s + at + old.n);
    expect_alone(s, which, pointer, 1, out);
    free(out);
}

/* With the comma behind it, or else the one before it. */
static void leave_out(struct subject *s, int which, struct tn_json v, const char *pointer)
{
    struct tn_str whole = tn_buf_str(&s->text[which]);
    size_t from = (size_t)tn_json_offset(v), to = from + tn_json_text(v).n;
    while (whole.s[from] != ':') from--;
    while (whole.s[from] != '"') from--;
    for (from--; whole.s[from] != '"';) from--;
    if (whole.s[to] == ',') to++;
    else while (from > 0 && whole.s[from] != ',' && whole.s[from] != '{') from--;
    if (whole.s[from] == '{') from++;
    char *out = malloc(whole.n + 1);
    sprintf(out, "%.*s%s", (int)from, whole.s, whole.s + to);
    expect_alone(s, which, pointer, 0, out);
    free(out);
}

/* Not where null stands: another object there would have members to miss. */
static void break_each(struct subject *s, struct tn_json v, size_t *count)
{
    char pointer[POINTER];
    (void)tn_json_pointer(v, pointer, sizeof(pointer));
    if (pointer[0] && tn_json_type(v) != TN_JSON_NULL && is_new(kind_of(s, 1, pointer), pointer)) {
        break_value(s, 1, v, pointer);
        bool whole = strcmp(pointer, "/head") != 0; /* without it this is another package, with several contradictions */
        if (tn_json_key(v).n > 0 && whole) leave_out(s, 1, v, pointer);
        (*count)++;
    }
    for (struct tn_json c = tn_json_first(v); tn_json_present(c); c = tn_json_next(c)) break_each(s, c, count);
}

TEST(a_broken_part_is_told_alone)
{
    static const char *const list[] = {
        "packages/bert_mean_normalize", "packages/bert_class_tokenizer", "packages/bert_dense_residual",
        "packages/bert_layernorm",      "heads/bert_single",             "heads/bert_scorer",
        "answers/bert",                 "vectors/multi_bert",            "vectors/multi_stanford",
        "vectors/sparse_bert",
    };
    size_t count = 0;
    seen_count = 0;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        struct subject s;
        char path[PATH];
        snprintf(path, sizeof(path), "golden/%s", list[i]);
        if (open_subject(&s, test_path(path))) {
            snprintf(s.name, sizeof(s.name), "%s", list[i]);
            break_each(&s, tn_json_root(&s.doc[1]), &count);
        }
        close_subject(&s);
    }
    printf("    %zu parts\n", count);
    CHECK(count > 200);
}
