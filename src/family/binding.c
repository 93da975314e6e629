/*
 * Binding by rules, and the audit. Every tensor of the component is accounted for: bound to a role, accepted as unused by
 * a named rule, or unexpected. Names come from the package and are untrusted; rules are ours.
 *
 * The surprising decision: an unexpected tensor refuses the package. Weights that the published forward pass would have
 * read and ours does not are a wrong answer that looks right.
 */
#include "family/family.h"

#include "base/checked.h"
#include "base/json_write.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 320, MISFITS = 12, NAMED = 3 };

/* A size of the configuration that tensors contradict, all in the same way: one fault, however many they are. */
struct misfit {
    const struct tn_tensor_rule *rule; /* of the first */
    char role[NAME_SIZE];
    const char *size;
    uint64_t stated, found;
    uint32_t count;
    const struct tn_tensor_info *tensors[NAMED];
};

struct binder {
    const struct tn_description *d;
    const struct tn_component *c;
    const struct tn_family *family;
    const struct tn_head *head;           /* that is run behind the encoder; NULL: none */
    const struct tn_inventory *inv;
    struct tn_findings *findings;
    struct tn_binding *out;
    bool *seen; /* by tensor of the variant: bound or reported */
    bool silent; /* one finding has said it all */
    bool headless; /* one finding has said that the head is not there, or that the class names none of the family's */
    uint64_t first_absent_layer; /* from here on no layer has any tensor */
    uint32_t extra_layers; /* tensors of layers that the configuration does not have */
    uint32_t ignored; /* tensors of trained heads that are not run */
    uint32_t audit_cap;
    struct misfit misfits[MISFITS];
    uint32_t misfit_count;
};

const char *tn_audit_kind_name(enum tn_audit_kind kind)
{
    static const char *const names[TN_AUDIT_KINDS] = {
#define X(name, text) text,
        TN_AUDIT_LIST(X)
#undef X
    };
    return (unsigned)kind < TN_AUDIT_KINDS ? names[kind] : "unknown";
}

/* prefix + pattern with '%' replaced by layer, into buf. */
static struct tn_str expand(char *buf, const char *prefix, const char *pattern, uint64_t layer)
{
    const char *mark = strchr(pattern, '%');
    int n = mark ? snprintf(buf, NAME_SIZE, "%s%.*s%llu%s", prefix, (int)(mark - pattern), pattern,
                            (unsigned long long)layer, mark + 1)
                 : snprintf(buf, NAME_SIZE, "%s%s", prefix, pattern);
    return (struct tn_str){buf, n > 0 && n < NAME_SIZE ? (size_t)n : 0};
}

/* '%' matches one or more digits, a final '*' any rest. */
static bool matches(const char *pattern, struct tn_str name)
{
    size_t i = 0;
    for (; *pattern; pattern++) {
        if (*pattern == '*' && pattern[1] == 0) return true;
        if (*pattern == '%') {
            size_t digits = i;
            while (i < name.n && name.s[i] >= '0' && name.s[i] <= '9') i++;
            if (i == digits) return false;
        } else if (i < name.n && name.s[i] == *pattern) {
            i++;
        } else {
            return false;
        }
    }
    return i == name.n;
}

static bool add_audit(struct binder *b, enum tn_audit_kind kind, struct tn_str role, struct tn_str tensor, const char *rule)
{
    struct tn_binding *out = b->out;
    if (out->audit_count == b->audit_cap) return false;
    struct tn_arena *arena = b->out->arena;
    struct tn_str own_role = tn_arena_str(arena, role), own_name = tn_arena_str(arena, tensor);
    if (!own_role.s || !own_name.s) return false;
    out->audit[out->audit_count++] = (struct tn_audit_row){kind, own_role, own_name, rule};
    return true;
}

/* Whether the configuration has this tensor in this layer. */
static bool in_force(const struct binder *b, const struct tn_tensor_rule *rule, uint64_t layer)
{
    unsigned condition = rule->flags >> 8;
    return condition == 0 || b->family->conditions[condition - 1].holds(b->c, layer);
}

/* The rules of the encoder, then those of the head. */
static const struct tn_tensor_rule *rule_at(const struct tn_binding *b, size_t i)
{
    size_t own = b->family->tensor_count;
    return i < own ? &b->family->tensors[i] : &b->family_head->tensors[i - own];
}

static size_t rule_count(const struct tn_binding *b)
{
    return b->family->tensor_count + (b->family_head ? b->family_head->tensor_count : 0);
}

static const char *prefix_of(const struct binder *b, const struct tn_tensor_rule *rule)
{
    return rule->flags & TN_TENSOR_BARE ? "" : b->out->prefix;
}

static uint64_t dim_of(const struct binder *b, const char *name)
{
    if (strcmp(name, TN_DIM_OUTPUTS) == 0) return b->head ? b->head->outputs : 0;
    const struct tn_value *value = tn_component_value(b->c, name);
    return value->present || !b->family->size ? value->u : b->family->size(b->c, name);
}

static const struct tn_tensor_info *find(const struct binder *b, const char *prefix, const char *pattern, uint64_t layer,
                                         char *buf)
{
    struct tn_str name = expand(buf, prefix, pattern, layer);
    return tn_variant_tensor(b->inv, b->c->variant, name);
}

static void mark_seen(struct binder *b, const struct tn_tensor_info *t)
{
    b->seen[t - (b->inv->tensors + b->c->variant->first_tensor)] = true;
}

static bool is_seen(const struct binder *b, const struct tn_tensor_info *t)
{
    return b->seen[t - (b->inv->tensors + b->c->variant->first_tensor)];
}

static struct tn_str file_of(const struct binder *b, const struct tn_tensor_info *t)
{
    return b->inv->files[t->file].path;
}

/* Whether the tensor of a rule is there under some prefix, which is then taken; two at once are a contradiction. */
static bool take_prefix(struct binder *b, const struct tn_tensor_rule *first)
{
    char buf[NAME_SIZE], other[NAME_SIZE];
    const struct tn_tensor_info *found = NULL;
    for (const char *const *prefix = b->family->prefixes; *prefix; prefix++) {
        const struct tn_tensor_info *t = find(b, *prefix, first->name, 0, buf);
        if (!t) continue;
        if (!found) {
            found = t;
            b->out->prefix = *prefix;
            memcpy(other, buf, sizeof(other));
            continue;
        }
        struct tn_finding *f = tn_findings_add(b->findings, TN_BLOCKER, TN_DUPLICATE_TENSOR, TN_PHASE_ASSESS,
                                               "role %s is there under two names", first->role);
        tn_at_tensor(f, file_of(b, t), t->name);
        tn_found(f, "%s and %s", other, buf);
        tn_expected(f, "one of them");
        tn_remedy(f, "remove the weights of the model that is not meant");
        b->silent = true; /* under either prefix the other's tensors would be faults */
    }
    return found != NULL;
}

/* By the first tensor of the family's list that is there: the very first may be what is missing. */
static void choose_prefix(struct binder *b)
{
    b->out->prefix = "";
    for (size_t r = 0; r < b->family->tensor_count; r++) {
        if (take_prefix(b, &b->family->tensors[r])) return;
    }
}

static bool is_float(enum tn_dtype dtype)
{
    return dtype == TN_DTYPE_F32 || dtype == TN_DTYPE_F16 || dtype == TN_DTYPE_BF16;
}

static void shape_text(char *out, size_t cap, const uint64_t *shape, uint32_t rank)
{
    size_t n = (size_t)snprintf(out, cap, "[");
    for (uint32_t i = 0; i < rank && n < cap; i++) {
        n += (size_t)snprintf(out + n, cap - n, i ? ", %llu" : "%llu", (unsigned long long)shape[i]);
    }
    if (n < cap) snprintf(out + n, cap - n, "]");
}

/* Where the values stand that say what the tensors must be: in a document as a whole, or in a part of it. */
static const char *place_of_values(const struct binder *b, char *out, size_t cap)
{
    const struct tn_component *c = b->c;
    if (c->document.n == 0) return "the configuration";
    snprintf(out, cap, "%.*s%s%.*s", TN_FMT_ARG(c->document), c->values_at.n ? "#" : "", TN_FMT_ARG(c->values_at));
    return out;
}

/* As many outputs as labels: where the two differ, what speaks for which head belongs to the finding. */
static bool counts_labels(const char *size)
{
    return size && strcmp(size, "head.outputs") == 0;
}

/* What people find in the configuration under the name. */
static const char *size_text(const char *size)
{
    return counts_labels(size) ? "the number of labels (num_labels, id2label)" : size;
}

/* "; class ..." or nothing. */
static const char *evidence_of(const struct binder *b, bool labels, char *out, size_t cap)
{
    out[0] = 0;
    if (!labels) return out;
    memcpy(out, "; ", 3);
    tn_head_evidence(b->d, out + 2, cap - 2);
    return out;
}

static void report_misfit(struct binder *b, const struct tn_tensor_rule *rule, struct tn_str role,
                          const struct tn_tensor_info *t, bool same)
{
    uint64_t shape[2] = {0};
    uint32_t rank = rule->dims[1] ? 2 : 1;
    for (uint32_t i = 0; i < rank; i++) shape[i] = dim_of(b, rule->dims[i]);
    struct tn_finding *f = tn_findings_add(b->findings, TN_BLOCKER, TN_TENSOR_MISMATCH, TN_PHASE_ASSESS,
                                           "%s does not fit role %.*s",
                                           same ? "element type" : "shape", TN_FMT_ARG(role));
    char found[160], expected[160], place[160], evidence[TN_HEAD_EVIDENCE_BYTES];
    bool labels = !same && (counts_labels(rule->dims[0]) || counts_labels(rule->dims[1]));
    shape_text(found, sizeof(found), t->shape, t->rank);
    shape_text(expected, sizeof(expected), shape, rank);
    tn_at_tensor(f, file_of(b, t), t->name);
    tn_found(f, "%s %s%s", tn_dtype_name(t->dtype), found, evidence_of(b, labels, evidence, sizeof(evidence)));
    tn_expected(f, "f32, f16 or bf16 %s ([%s%s%s] of %s)", expected, rule->dims[0], rank == 2 ? ", " : "",
                rank == 2 ? rule->dims[1] : "", place_of_values(b, place, sizeof(place)));
    tn_remedy(f, same ? "convert the tensor to a floating type" : "configuration and weights belong to different models");
}

/* "2 intermediate_size" is a multiple of a size, and contradicts that one. */
static struct misfit *misfit_of(struct binder *b, const char *size, uint64_t stated, uint64_t found)
{
    uint64_t times = *size >= '2' && *size <= '9' && size[1] == ' ' ? (uint64_t)(*size - '0') : 1;
    if (times > 1 && stated % times == 0 && found % times == 0) size += 2, stated /= times, found /= times;
    for (uint32_t i = 0; i < b->misfit_count; i++) {
        struct misfit *m = &b->misfits[i];
        if (strcmp(m->size, size) == 0 && m->found == found) return m;
    }
    if (b->misfit_count == MISFITS) return NULL;
    struct misfit *m = &b->misfits[b->misfit_count++];
    *m = (struct misfit){.size = size, .stated = stated, .found = found};
    return m;
}

/* Puts a tensor to the size that it contradicts. False: it contradicts several, or there is no room. */
static bool keep_misfit(struct binder *b, const struct tn_tensor_rule *rule, struct tn_str role,
                        const struct tn_tensor_info *t, const uint64_t *shape, uint32_t rank)
{
    const char *size = NULL;
    uint64_t stated = 0, found = 0;
    if (t->rank != rank || !is_float(t->dtype)) return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (t->shape[i] == shape[i]) continue;
        if (size && (strcmp(size, rule->dims[i]) != 0 || found != t->shape[i])) return false;
        size = rule->dims[i], stated = shape[i], found = t->shape[i];
    }
    struct misfit *m = size ? misfit_of(b, size, stated, found) : NULL;
    if (!m) return false;
    if (m->count == 0) {
        m->rule = rule;
        snprintf(m->role, sizeof(m->role), "%.*s", TN_FMT_ARG(role));
    }
    if (m->count < NAMED) m->tensors[m->count] = t;
    m->count++;
    return true;
}

static void report_misfits(struct binder *b)
{
    for (uint32_t i = 0; i < b->misfit_count; i++) {
        const struct misfit *m = &b->misfits[i];
        char names[200], place[160], evidence[TN_HEAD_EVIDENCE_BYTES];
        size_t n = 0;
        if (m->count == 1) {
            report_misfit(b, m->rule, tn_str_of(m->role), m->tensors[0], false);
            continue;
        }
        names[0] = 0;
        for (uint32_t k = 0; k < m->count && k < NAMED && n < sizeof(names); k++)
            n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%.*s", k ? ", " : "", TN_FMT_ARG(m->tensors[k]->name));
        struct tn_finding *f = tn_findings_add(b->findings, TN_BLOCKER, TN_TENSOR_MISMATCH, TN_PHASE_ASSESS,
                                               "%u tensors whose shape does not fit %s", (unsigned)m->count, size_text(m->size));
        tn_at_tensor(f, file_of(b, m->tensors[0]), m->tensors[0]->name);
        tn_found(f, "%llu in %u tensors: %s%s%s", (unsigned long long)m->found, (unsigned)m->count, names,
                 m->count > NAMED ? ", ..." : "", evidence_of(b, counts_labels(m->size), evidence, sizeof(evidence)));
        tn_expected(f, "%llu (%s of %s)", (unsigned long long)m->stated, size_text(m->size), place_of_values(b, place, sizeof(place)));
        tn_remedy(f, "correct %s there; or configuration and weights belong to different models", size_text(m->size));
    }
}

/* Whether dtype and shape are what the configuration says; reports when not. */
static bool check_tensor(struct binder *b, const struct tn_tensor_rule *rule, struct tn_str role,
                         const struct tn_tensor_info *t)
{
    uint64_t shape[2] = {0};
    uint32_t rank = rule->dims[1] ? 2 : 1;
    for (uint32_t i = 0; i < rank; i++) shape[i] = dim_of(b, rule->dims[i]);
    if (shape[0] == 0 || (rank == 2 && shape[1] == 0)) return true; /* the size itself was refused: nothing to hold against */
    bool same = t->rank == rank && t->shape[0] == shape[0] && (rank == 1 || t->shape[1] == shape[1]);
    if (same && is_float(t->dtype)) return true;
    if (!b->silent && (same || !keep_misfit(b, rule, role, t, shape, rank))) report_misfit(b, rule, role, t, same);
    return false;
}

static struct tn_str first_file(const struct binder *b)
{
    return b->c->variant->file_count ? b->inv->files[b->c->variant->files[0]].path : TN_STR("");
}

static bool is_tied(const struct binder *b, const struct tn_tensor_rule *rule)
{
    return rule->flags & TN_TENSOR_TIED && tn_component_value(b->c, "tie_word_embeddings")->b;
}

/* The matrix of a head that is this role's tensor as long as both are tied; *off: it is there and they are not. */
static const struct tn_tensor_info *find_tied(const struct binder *b, const struct tn_tensor_rule *rule, bool *off)
{
    *off = false;
    if (!b->family->tied.role || strcmp(b->family->tied.role, rule->role) != 0) return NULL;
    const struct tn_tensor_info *t = tn_variant_tensor(b->inv, b->c->variant, tn_str_of(b->family->tied.name));
    *off = t && !tn_component_value(b->c, "tie_word_embeddings")->b;
    return *off ? NULL : t;
}

static void report_missing(struct binder *b, const struct tn_tensor_rule *rule, struct tn_str role, struct tn_str name,
                           const char *alias)
{
    bool off;
    (void)find_tied(b, rule, &off);
    struct tn_finding *f = tn_findings_add(b->findings, TN_BLOCKER, TN_MISSING_TENSOR, TN_PHASE_ASSESS,
                                           "no tensor for role %.*s",
                                           TN_FMT_ARG(role));
    tn_at_tensor(f, first_file(b), name);
    if (rule->flags & TN_TENSOR_TIED && rule->dims[1] && !is_tied(b, rule)) {
        tn_found(f, "%s, which is not the same: tie_word_embeddings is false", b->family->tied.role);
    } else if (off) {
        tn_found(f, "%s of a head, which is not the same: tie_word_embeddings is false", b->family->tied.name);
    } else {
        tn_found(f, "%u tensors, none with this name", (unsigned)b->c->variant->tensor_count);
    }
    tn_expected(f, "%.*s%s%s", TN_FMT_ARG(name), alias ? " or " : "", alias ? alias : "");
    tn_remedy(f, "fetch the package again; its weights are not complete");
}

/* Layers [first, end) of which not one tensor is there: one fault, not one for each tensor. */
static void report_layers(struct binder *b, uint64_t first, uint64_t end)
{
    char place[160];
    struct tn_finding *f = tn_findings_add(b->findings, TN_BLOCKER, TN_MISSING_TENSOR, TN_PHASE_ASSESS,
                                           "layers %llu to %llu are not there: none of their tensors is in the package",
                                           (unsigned long long)first, (unsigned long long)end - 1);
    tn_at_file(f, first_file(b));
    tn_found(f, "tensors of %llu layers", (unsigned long long)first);
    tn_expected(f, "%llu layers (%s of %s)", (unsigned long long)b->out->layers, b->family->layer_count,
                place_of_values(b, place, sizeof(place)));
    tn_remedy(f, "correct %s there, or fetch the package again", b->family->layer_count);
}

/* Not one tensor is there under the family's names. */
static void report_none(struct binder *b)
{
    const struct tn_variant *v = b->c->variant;
    char name[NAME_SIZE];
    struct tn_finding *f = tn_findings_add(b->findings, TN_BLOCKER, TN_MISSING_TENSOR, TN_PHASE_ASSESS,
                                           "none of the tensors has a name that family %s knows", b->family->name);
    struct tn_str found = v->tensor_count ? b->inv->tensors[v->first_tensor].name : TN_STR("");
    tn_at_tensor(f, first_file(b), found);
    tn_found(f, "%u tensors, the first is %.*s", (unsigned)v->tensor_count, TN_FMT_ARG(found));
    struct tn_str expected = expand(name, "", b->family->tensors[0].name, 0);
    tn_expected(f, "%.*s and others, with or without the prefix %s", TN_FMT_ARG(expected),
                b->family->prefixes[1] ? b->family->prefixes[1] : "");
    tn_remedy(f, "the weights belong to another architecture, or were saved under another prefix");
}

/* Both names of one tensor present. */
static void report_twice(struct binder *b, const struct tn_tensor_info *a, const struct tn_tensor_info *c)
{
    struct tn_finding *f = tn_findings_add(b->findings, TN_BLOCKER, TN_DUPLICATE_TENSOR, TN_PHASE_ASSESS,
                                           "a tensor is there under its name and its older name");
    tn_at_tensor(f, file_of(b, a), a->name);
    tn_found(f, "%.*s and %.*s", TN_FMT_ARG(a->name), TN_FMT_ARG(c->name));
    tn_expected(f, "one of them");
}

/* Whether a tensor belongs to the head that is run, so that no rule about other tasks excuses it. */
static bool of_this_head(const struct binder *b, struct tn_str name)
{
    const struct tn_family_head *h = b->out->family_head;
    for (size_t i = 0; h && i < sizeof(h->own) / sizeof(h->own[0]) && h->own[i]; i++)
        if (matches(h->own[i], name)) return true;
    return false;
}

static const struct tn_unused_rule *unused_rule(const struct binder *b, struct tn_str name)
{
    if (of_this_head(b, name)) return NULL;
    for (const char *const *prefix = b->family->prefixes; *prefix; prefix++) {
        size_t n = strlen(*prefix);
        if (!tn_str_starts(name, *prefix)) continue;
        struct tn_str rest = {name.s + n, name.n - n};
        for (size_t i = 0; i < b->family->unused_count; i++) {
            if (matches(b->family->unused[i].pattern, rest)) return &b->family->unused[i];
        }
        for (size_t i = 0; b->head && i < b->out->family_head->unused_count; i++) {
            if (matches(b->out->family_head->unused[i].pattern, rest)) return &b->out->family_head->unused[i];
        }
    }
    return NULL;
}

/*
 * A tensor that the configuration says is not there, although it is: which of the two is wrong cannot be told. A rule that
 * leaves another head's tensors unread does not excuse those of the head that is run.
 */
static bool refuse_out_of_force(struct binder *b, size_t rule_index, uint64_t layer)
{
    char name[NAME_SIZE], role[NAME_SIZE];
    const struct tn_tensor_rule *rule = rule_at(b->out, rule_index);
    bool of_head = rule_index >= b->family->tensor_count;
    const struct tn_tensor_info *t = find(b, prefix_of(b, rule), rule->name, layer, name);
    if (!t && rule->alias) t = find(b, prefix_of(b, rule), rule->alias, layer, name);
    if (!t || is_seen(b, t) || (!of_head && unused_rule(b, t->name))) return true; /* seen: another rule has bound it */
    mark_seen(b, t);
    struct tn_str full_role = expand(role, "", rule->role, layer);
    struct tn_finding *f = tn_findings_add(b->findings, TN_BLOCKER, TN_UNEXPECTED_TENSOR, TN_PHASE_ASSESS,
                                           "a tensor for role %.*s, which this configuration does not have",
                                           TN_FMT_ARG(full_role));
    tn_at_tensor(f, file_of(b, t), t->name);
    tn_found(f, "the tensor");
    tn_expected(f, "it only where the configuration has %s", b->family->conditions[(rule->flags >> 8) - 1].text);
    tn_remedy(f, "configuration and weights belong to different models");
    return add_audit(b, TN_AUDIT_UNEXPECTED, full_role, t->name, NULL);
}

/* ---- tied tensors ------------------------------------------------------------------------------------------------ */

/* What is bound to the family's tied role: rules of the encoder come before those of its head. */
static const struct tn_tensor_info *tied_table(const struct binder *b, const struct tn_tensor_rule *rule)
{
    if (!rule->dims[1] || !is_tied(b, rule) || !b->family->tied.role) return NULL;
    for (size_t r = 0; r < b->family->tensor_count; r++) {
        if (strcmp(b->family->tensors[r].role, b->family->tied.role) == 0) return b->out->bound[r * b->out->layers];
    }
    return NULL;
}

/* Two tensors that are said to be one; which of them counts is settled by their contents, or not at all. */
static void note_pair(struct binder *b, const struct tn_tensor_info *read, const struct tn_tensor_info *other)
{
    struct tn_binding *out = b->out;
    if (read == other || out->pair_count == sizeof(out->pairs) / sizeof(out->pairs[0])) return;
    out->pairs[out->pair_count++] = (struct tn_tied_pair){read, other};
}

/* The second of two names of one tensor. False: out of memory. */
static bool add_twin(struct binder *b, const struct tn_tensor_rule *rule, struct tn_str role, const struct tn_tensor_info *twin)
{
    if (!(rule->flags & TN_TENSOR_TIED)) return true;
    if (!is_tied(b, rule))
        return add_audit(b, TN_AUDIT_ACCEPTED_UNUSED, role, twin->name, "read only with tie_word_embeddings");
    (void)check_tensor(b, rule, role, twin);
    return add_audit(b, TN_AUDIT_TIED, role, twin->name, "one tensor under two names, by tie_word_embeddings");
}

/* Binds one rule for one layer. False: out of memory. */
static bool bind_one(struct binder *b, size_t rule_index, uint64_t layer)
{
    const struct tn_tensor_rule *rule = rule_at(b->out, rule_index);
    if (!in_force(b, rule, layer)) return refuse_out_of_force(b, rule_index, layer);
    char name[NAME_SIZE], alias[NAME_SIZE], role[NAME_SIZE];
    const struct tn_tensor_info *t = find(b, prefix_of(b, rule), rule->name, layer, name);
    const struct tn_tensor_info *older = rule->alias ? find(b, prefix_of(b, rule), rule->alias, layer, alias) : NULL;
    struct tn_str full_role = expand(role, "", rule->role, layer);
    if (t && older && !(rule->flags & TN_TENSOR_TIED)) report_twice(b, t, older);
    if (t && older && is_tied(b, rule)) note_pair(b, t, older);
    enum tn_audit_kind kind = t ? TN_AUDIT_LOADED : older ? TN_AUDIT_ALIASED : TN_AUDIT_MISSING;
    if (t && older && !add_twin(b, rule, full_role, older)) return false;
    if (!t) t = older;
    if (older) mark_seen(b, older);
    bool off;
    const struct tn_tensor_info *table = tied_table(b, rule);
    if (!t && ((t = find_tied(b, rule, &off)) || (t = table))) kind = TN_AUDIT_TIED;
    if (t && table) note_pair(b, table, t);
    if (!t) {
        if (rule->flags & TN_TENSOR_OPTIONAL) {
            kind = TN_AUDIT_OPTIONAL_ABSENT;
        } else if (!b->silent && !(rule->flags & TN_TENSOR_PER_LAYER && layer >= b->first_absent_layer) &&
                   !(rule->flags & TN_TENSOR_BARE && b->headless)) {
            report_missing(b, rule, full_role, tn_str_of(name), rule->alias ? alias : NULL);
        }
        return add_audit(b, kind, full_role, tn_str_of(name), NULL);
    }
    mark_seen(b, t);
    if (!check_tensor(b, rule, full_role, t)) kind = TN_AUDIT_MISMATCHED;
    b->out->bound[rule_index * b->out->layers + layer] = t;
    return add_audit(b, kind, full_role, t->name,
                     kind == TN_AUDIT_ALIASED ? (rule->flags & TN_TENSOR_TIED ? "the head's name of the same tensor" : "older name of the same tensor")
                     : kind == TN_AUDIT_TIED  ? (t == table ? "the embedding table, tied by tie_word_embeddings"
                                                            : "the head's matrix, tied by tie_word_embeddings")
                                              : NULL);
}

/* How many of the rules (of one layer, or those of no layer) have their tensor. */
static uint64_t count_present(const struct binder *b, bool per_layer, uint64_t layer)
{
    char buf[NAME_SIZE];
    uint64_t present = 0;
    for (size_t r = 0; r < b->family->tensor_count; r++) {
        const struct tn_tensor_rule *rule = &b->family->tensors[r];
        if (((rule->flags & TN_TENSOR_PER_LAYER) != 0) != per_layer || !in_force(b, rule, layer)) continue;
        if (find(b, b->out->prefix, rule->name, layer, buf) ||
            (rule->alias && find(b, b->out->prefix, rule->alias, layer, buf)))
            present++;
    }
    return present;
}

/* Looks at the whole before the parts, so that one fault stays one finding. */
static void survey(struct binder *b)
{
    if (b->silent) return;
    uint64_t present = count_present(b, false, 0);
    b->first_absent_layer = 0;
    for (uint64_t layer = 0; layer < b->out->layers; layer++) {
        if (count_present(b, true, layer) == 0) continue;
        present++;
        b->first_absent_layer = layer + 1;
    }
    if (present == 0) {
        b->silent = true;
        report_none(b);
    } else if (b->first_absent_layer < b->out->layers) {
        report_layers(b, b->first_absent_layer, b->out->layers);
    }
}

/* The class promises a head and not one of its tensors is there: the promise, not each tensor, is what is wrong. */
static void survey_head(struct binder *b)
{
    char buf[NAME_SIZE];
    if (b->silent || !b->head) return;
    const struct tn_family_head *h = b->out->family_head;
    const char *first = NULL;
    for (size_t r = 0; r < h->tensor_count; r++) {
        const struct tn_tensor_rule *rule = &h->tensors[r];
        if (!(rule->flags & TN_TENSOR_BARE) || !in_force(b, rule, 0)) continue;
        if (find(b, "", rule->name, 0, buf) || (rule->alias && find(b, "", rule->alias, 0, buf))) return;
        if (!first) first = rule->name;
    }
    if (!first) return;
    b->headless = true;
    struct tn_finding *f = tn_findings_add(b->findings, TN_BLOCKER, TN_TASK_HEAD_MISMATCH, TN_PHASE_ASSESS,
                                           "the class says that the weights have a head, and none of its tensors is there");
    tn_at_tensor(f, first_file(b), tn_str_of(first));
    char evidence[TN_HEAD_EVIDENCE_BYTES];
    tn_head_evidence(b->d, evidence, sizeof(evidence));
    tn_found(f, "%s; none of the %s head's", evidence, tn_head_kind_name(h->kind));
    tn_expected(f, "%s and the head's other tensors", first);
    tn_remedy(f, "fetch the weights that were saved with their head, or correct /architectures");
}

/* Whether a tensor's name is that of a layer's tensor, whatever the layer's number. */
static bool of_some_layer(const struct binder *b, struct tn_str name)
{
    size_t n = strlen(b->out->prefix);
    if (!tn_str_starts(name, b->out->prefix)) return false;
    struct tn_str rest = {name.s + n, name.n - n};
    for (size_t r = 0; r < b->family->tensor_count; r++) {
        const struct tn_tensor_rule *rule = &b->family->tensors[r];
        if (!(rule->flags & TN_TENSOR_PER_LAYER)) continue;
        if (matches(rule->name, rest) || (rule->alias && matches(rule->alias, rest))) return true;
    }
    return false;
}

static void report_extra_layers(struct binder *b, const struct tn_tensor_info *t)
{
    char place[160];
    struct tn_finding *f = tn_findings_add(b->findings, TN_BLOCKER, TN_UNEXPECTED_TENSOR, TN_PHASE_ASSESS,
                                           "tensors of layers that the configuration does not have");
    tn_at_tensor(f, file_of(b, t), t->name);
    tn_found(f, "%u such tensors, this is the first", (unsigned)b->extra_layers);
    tn_expected(f, "%llu layers (%s of %s)", (unsigned long long)b->out->layers, b->family->layer_count,
                place_of_values(b, place, sizeof(place)));
    tn_remedy(f, "correct %s there, or fetch the package again", b->family->layer_count);
}

static bool has_tensor(const struct tn_family_head *h, struct tn_str name)
{
    for (size_t r = 0; r < h->tensor_count; r++)
        if (h->tensors[r].flags & TN_TENSOR_BARE && matches(h->tensors[r].name, name)) return true;
    return false;
}

/* A tensor of heads that are not run, and not of the one that is. */
static bool of_another_head(const struct binder *b, struct tn_str name)
{
    bool found = false;
    for (size_t k = 0; k < b->family->head_count; k++) found |= has_tensor(&b->family->heads[k], name);
    return found && (b->headless || !b->out->family_head || !has_tensor(b->out->family_head, name));
}

/* Weights of a head that was trained and is not run: allowed, and told. */
static void tell_ignored(struct binder *b, const struct tn_tensor_info *t, const struct tn_unused_rule *rule)
{
    char evidence[TN_HEAD_EVIDENCE_BYTES];
    tn_head_evidence(b->d, evidence, sizeof(evidence));
    struct tn_finding *f = tn_findings_add(b->findings, TN_WARNING, TN_TASK_HEAD_MISMATCH, TN_PHASE_ASSESS,
                                           "the weights hold a trained head that this task does not run (%s)", rule->why);
    tn_at_tensor(f, file_of(b, t), t->name);
    tn_found(f, "%u such tensors; %s", (unsigned)b->ignored, evidence);
    tn_remedy(f, "`tenon check` lists the tasks that read a head");
}

static void report_unexpected(struct binder *b, const struct tn_tensor_info *t)
{
    bool head = of_another_head(b, t->name);
    struct tn_finding *f = tn_findings_add(b->findings, TN_BLOCKER, TN_UNEXPECTED_TENSOR, TN_PHASE_ASSESS,
                                           head ? "a tensor of a head of family %s that is not run here" : "a tensor that family %s does not read",
                                           b->family->name);
    char shape[160];
    shape_text(shape, sizeof(shape), t->shape, t->rank);
    tn_at_tensor(f, file_of(b, t), t->name);
    tn_found(f, "%s %s", tn_dtype_name(t->dtype), shape);
    tn_expected(f, "only tensors of the architecture and of heads known to be separate");
    tn_remedy(f, head ? "use the package for the task that its head is for (`tenon check`), or weights without the head"
                      : "the model may be a variant of the family that changes answers; a reader for it is needed");
}

/* "module.N.weight" and the like for a tensor among the encoder's that a module of the chain reads; else empty. */
static struct tn_str role_in_chain(const struct tn_description *d, const struct tn_tensor_info *t, char *buf)
{
    for (uint32_t i = 0; i < d->module_count; i++) {
        const struct tn_module *m = &d->modules[i];
        const char *part = m->weight == t ? "weight" : m->bias_tensor == t ? "bias" : m->residual_weight == t ? "residual" : NULL;
        if (!part) continue;
        int n = snprintf(buf, NAME_SIZE, "module.%u.%s", (unsigned)i, part);
        return (struct tn_str){buf, n > 0 ? (size_t)n : 0};
    }
    return TN_STR("");
}

/* Accounts for every tensor that no rule has bound. False: out of memory. */
static bool audit_rest(struct binder *b)
{
    const struct tn_variant *v = b->c->variant;
    const struct tn_tensor_info *extra = NULL, *ignored = NULL;
    const struct tn_unused_rule *why = NULL;
    for (uint32_t i = 0; i < v->tensor_count; i++) {
        if (b->seen[i]) continue;
        const struct tn_tensor_info *t = &b->inv->tensors[v->first_tensor + i];
        char buf[NAME_SIZE];
        struct tn_str role = role_in_chain(b->d, t, buf);
        if (role.n) {
            if (!add_audit(b, TN_AUDIT_LOADED, role, t->name, NULL)) return false;
            continue;
        }
        const struct tn_unused_rule *rule = unused_rule(b, t->name);
        if (rule && rule->trained_head && b->ignored++ == 0) ignored = t, why = rule;
        if (!rule && of_some_layer(b, t->name)) {
            if (b->extra_layers++ == 0) extra = t;
        } else if (!rule && !b->silent && !(b->headless && of_another_head(b, t->name))) { /* a headless package's were quoted */
            report_unexpected(b, t);
        }
        enum tn_audit_kind kind = rule ? TN_AUDIT_ACCEPTED_UNUSED : TN_AUDIT_UNEXPECTED;
        if (!add_audit(b, kind, TN_STR(""), t->name, rule ? rule->why : NULL)) return false;
    }
    if (extra && !b->silent) report_extra_layers(b, extra);
    if (ignored && !b->silent && !b->headless) tell_ignored(b, ignored, why);
    return true;
}

static enum tn_status prepare(struct binder *b, struct tn_arena *arena)
{
    struct tn_binding *out = b->out;
    out->arena = arena;
    out->family = b->family;
    out->layers = tn_component_value(b->c, b->family->layer_count)->u;
    if (out->layers == 0) out->layers = 1;
    size_t rows = 0, most;
    if (!tn_mul(rule_count(out), (size_t)out->layers, &rows) || !tn_add(rows, b->c->variant->tensor_count, &most) ||
        most > UINT32_MAX) {
        return TN_RESOURCE_LIMIT;
    }
    b->audit_cap = (uint32_t)most;
    out->bound = tn_arena_array(arena, rows, sizeof(*out->bound));
    out->audit = tn_arena_array(arena, most, sizeof(*out->audit));
    b->seen = tn_arena_array(arena, (size_t)b->c->variant->tensor_count + 1, sizeof(*b->seen));
    return out->bound && out->audit && b->seen ? TN_OK : TN_INSUFFICIENT_MEMORY;
}

/* Without a class that holds nobody can say whose the tensors of a head are. */
static bool class_is_refused(const struct tn_description *d)
{
    for (size_t i = 0; i < d->findings.count; i++) {
        const struct tn_finding *f = &d->findings.items[i];
        if (f->severity == TN_BLOCKER && tn_str_starts(tn_str_of(f->element), "/architectures")) return true;
    }
    return false;
}

enum tn_status tn_bind(const struct tn_description *d, const struct tn_component *c, const struct tn_family *family,
                       const struct tn_head *head, struct tn_arena *arena, struct tn_findings *findings,
                       struct tn_binding *out, struct tn_error *err)
{
    *out = (struct tn_binding){.family_head = head ? tn_family_head_of(family, head->kind) : NULL};
    struct binder b = {.d = d, .c = c, .family = family, .inv = d->inv, .findings = findings, .out = out};
    if (out->family_head) b.head = head;
    b.headless = !b.head && class_is_refused(d);
    if (prepare(&b, arena)) return tn_error_memory(err, TN_PHASE_ASSESS, "binding tensors");
    choose_prefix(&b);
    survey(&b);
    survey_head(&b);
    for (size_t r = 0; r < rule_count(out); r++) {
        uint64_t layers = rule_at(out, r)->flags & TN_TENSOR_PER_LAYER ? out->layers : 1;
        for (uint64_t layer = 0; layer < layers; layer++) {
            if (!bind_one(&b, r, layer)) return tn_error_memory(err, TN_PHASE_ASSESS, "binding tensors");
        }
    }
    report_misfits(&b);
    return audit_rest(&b) ? TN_OK : tn_error_memory(err, TN_PHASE_ASSESS, "binding tensors");
}

uint32_t tn_bound_weight(struct tn_graph *g, const struct tn_binding *b, const char *role, uint64_t layer)
{
    for (size_t r = 0; r < rule_count(b); r++) {
        if (strcmp(rule_at(b, r)->role, role) != 0) continue;
        const struct tn_tensor_info *t = b->bound[r * b->layers + layer];
        char full[NAME_SIZE];
        if (t) return tn_graph_weight(g, expand(full, "", role, layer), t);
    }
    return TN_NO_WEIGHT;
}

static void write_rows(struct tn_json_writer *w, const struct tn_binding *b, enum tn_audit_kind kind)
{
    tn_jw_key(w, tn_audit_kind_name(kind));
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < b->audit_count; i++) {
        const struct tn_audit_row *row = &b->audit[i];
        if (row->kind != kind) continue;
        tn_jw_begin_object(w);
        if (row->role.n) tn_jw_member_str(w, "role", row->role);
        tn_jw_member_str(w, "tensor", row->tensor);
        if (row->rule) tn_jw_member_cstr(w, "rule", row->rule);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

void tn_audit_write(struct tn_json_writer *w, const struct tn_binding *b)
{
    uint64_t loaded = 0;
    for (uint32_t i = 0; i < b->audit_count; i++) loaded += b->audit[i].kind == TN_AUDIT_LOADED;
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "prefix", b->prefix);
    tn_jw_member_u64(w, "loaded", loaded);
    for (int kind = TN_AUDIT_ALIASED; kind < TN_AUDIT_KINDS; kind++) write_rows(w, b, (enum tn_audit_kind)kind);
    tn_jw_end_object(w);
}
