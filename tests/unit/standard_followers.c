#define _GNU_SOURCE
#include "test.h"

#include "describe/standard/judge.h"
#include "describe/standard/tables.h"
#include "standard_util.h"

static const char *const documents[] = {
    "samples/01-gemma4-text-decoder", "samples/04-whisper-encoder-decoder", "samples/05-wav2vec2-ctc",
    "samples/07-stable-diffusion-text-to-image", "samples/10-lora-adapter-selection", "samples/12-esm2-protein-encoder",
    "samples/15-windowed-attention", "samples/16-linear-attention-recurrent", "samples/18-static-cache-indexed-scatter",
    "samples/20-qwen3_5-hybrid-speculative-decoding", "samples/21-shared-prefix-pixel-flow",
    "samples/22-qwen3-chained-speculative-decoding", "samples/24-gemma4-e2b-assistant-speculative",
    "packages/adapter", "packages/codec", "packages/decoder", "packages/diffusion", "packages/masked",
    "packages/speculative", "packages/static_cache",
};
static struct tn_error err;
static size_t list_pointers(struct tn_json v, char (*out)[256], size_t max)
{
    size_t n = 0;
    struct tn_json stack[64];
    size_t depth = 0;
    for (stack[depth++] = v; depth > 0 && n < max;) {
        struct tn_json at = stack[--depth];
        if (tn_json_present(tn_json_next(at)) && at.node != v.node) stack[depth++] = tn_json_next(at);
        tn_json_pointer(at, out[n++], 256);
        if (tn_json_present(tn_json_first(at)) && depth < 63) stack[depth++] = tn_json_first(at);
    }
    return n;
}
static void judge(const char *name, const char *where, const struct tn_json_doc *doc)
{
    struct tn_findings shape, all;
    struct tn_standard standard;
    tn_findings_init(&shape, doc->alloc, 100);
    tn_findings_init(&all, doc->alloc, 100);
    tn_standard_check_tables(tn_json_root(doc), &shape);
    if (shape.blockers && tn_standard_judge(tn_json_root(doc), doc->alloc, NULL, &standard, &all, &err) == TN_OK) {
        for (size_t i = shape.count; i < all.count; i++)
            printf("FOLLOW\t%s\t%s\t%s\t%c\t%s\t%s\n", all.items[i].message, name, where, 'r', "renamed", all.items[i].element);
        tn_standard_release(&standard);
    }
    tn_findings_release(&shape);
    tn_findings_release(&all);
}
TEST(renamed)
{
    static char pointers[4000][256];
    struct tn_alloc alloc;
    tn_alloc_init(&alloc);
    for (size_t d = 0; d < sizeof(documents) / sizeof(documents[0]); d++) {
        struct tn_json_doc doc = {0};
        REQUIRE(standard_open(&doc, &alloc, documents[d]));
        size_t count = list_pointers(tn_json_root(&doc), pointers, 4000);
        for (size_t i = 1; i < count; i++) {
            struct tn_json v = tn_json_find(tn_json_root(&doc), pointers[i]);
            if (!tn_json_key(v).s) continue;
            struct standard_change change = {pointers[i], STANDARD_REMOVE, ""};
            struct tn_json_doc edited = {0}, twice = {0};
            char *text = strndup(tn_json_text(v).s, tn_json_text(v).n), to[300];
            snprintf(to, sizeof(to), "%sz", pointers[i]);
            REQUIRE(standard_edit(&edited, &alloc, tn_json_root(&doc), &change));
            struct standard_change add = {to, STANDARD_ADD, text};
            if (standard_edit(&twice, &alloc, tn_json_root(&edited), &add)) {
            judge(documents[d], to, &twice);
            tn_json_release(&twice);
            }
            tn_json_release(&edited);
            free(text);
        }
        tn_json_release(&doc);
    }
}
static struct standard_change change_of(char *edit)
{
    struct standard_change change = {.pointer = edit};
    char *blank = strchr(edit, ' ');
    if (!blank) return change;
    *blank = 0;
    change.edit = (enum standard_edit)blank[1];
    change.value = blank[2] ? blank + 3 : "";
    return change;
}
static bool edit_all(struct tn_json_doc *doc, struct tn_alloc *alloc, const char *name, char *edits)
{
    if (!standard_open(doc, alloc, name)) return false;
    for (char *edit = edits, *next; edit; edit = next) {
        struct tn_json_doc edited = {0};
        next = strstr(edit, " && ");
        if (next) { *next = 0; next += 4; }
        struct standard_change change = change_of(edit);
        bool done = standard_edit(&edited, alloc, tn_json_root(doc), &change);
        tn_json_release(doc);
        *doc = edited;
        if (!done) return false;
    }
    return true;
}
static void pair(struct tn_alloc *alloc, char *semantic, char *mutation)
{
    char a[4096], m[4096], place[512];
    snprintf(a, sizeof(a), "%s", semantic);
    snprintf(m, sizeof(m), "%s", mutation);
    char *edits = strchr(a, ' '), *arrow = strstr(a, " -> "), *other = strchr(m, ' ');
    *edits++ = *arrow = *other++ = 0;
    if (strcmp(a, m)) return;
    snprintf(place, sizeof(place), "%s", arrow + 4);
    if (place[0] == '<') { memmove(place, place + 1, strlen(place)); place[strlen(place) - 1] = 0; }
    struct tn_json_doc doc = {0}, twice = {0};
    struct standard_change change = change_of(other);
    if (!edit_all(&doc, alloc, a, edits)) { return; }
    if (!standard_edit(&twice, alloc, tn_json_root(&doc), &change)) { tn_json_release(&doc); return; }
    struct tn_findings all;
    struct tn_standard standard;
    tn_findings_init(&all, alloc, 100);
    if (tn_standard_judge(tn_json_root(&twice), alloc, NULL, &standard, &all, &err) == TN_OK) tn_standard_release(&standard);
    bool sem = false, shape = false; size_t more = 0;
    for (size_t i = 0; i < all.count; i++) {
        bool x = !strcmp(all.items[i].element, place), y = !strcmp(all.items[i].element, change.pointer);
        sem |= x; shape |= y; more += !x && !y;
    }
    printf("PAIR\t%d%d\t%zu\t%s\t%s\t%s\n", sem, shape, more, a, place, mutation);
    if (more) for (size_t i = 0; i < all.count; i++) printf("MORE\t%s\t%s\n", all.items[i].element, all.items[i].message);
    tn_findings_release(&all);
    tn_json_release(&doc); tn_json_release(&twice);
}
static size_t lines(char *text, char **out) { size_t n = 0; for (char *l = strtok(text, "\n"); l; l = strtok(NULL, "\n")) if (*l != '#' && *l) out[n++] = l; return n; }
TEST(apairs)
{
    static char *sem[400], *mut[400];
    size_t size;
    struct tn_alloc alloc;
    tn_alloc_init(&alloc);
    size_t ns = lines(test_read_file(test_path("golden/standard/semantic.txt"), &size), sem);
    size_t nm = lines(test_read_file(test_path("golden/standard/mutations.txt"), &size), mut);
    for (size_t i = 0; i < ns; i++) for (size_t k = 0; k < nm; k++) pair(&alloc, sem[i], mut[k]);
}
