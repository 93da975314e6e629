/* Reading ensembles of trees; see the header. Attributes are untrusted: every index is checked, a node is used once. */
#include "ops/ml_forest.h"

#include <math.h>
#include <string.h>

/* ---- attributes --------------------------------------------------------------------------------------------------- */

/* Numbers as floats or, of the newer form, as a tensor. */
struct numbers {
    const float *floats;
    const struct tn_constant *tensor;
    size_t count;
};

static struct numbers numbers_of(const struct tn_node *node, const char *name, const char *tensor_name)
{
    struct numbers n = {.floats = NULL};
    const struct tn_attr *t = tn_node_attr(node, tensor_name), *a = name ? tn_node_attr(node, name) : NULL;
    uint64_t count;
    if (t && t->type == TN_ATTR_TENSOR && t->as.tensors->data && tn_shape_count(t->as.tensors->dims, t->as.tensors->rank, &count)) {
        n.tensor = t->as.tensors;
        n.count = (size_t)count;
    } else if (a && a->type == TN_ATTR_FLOATS) {
        n.floats = a->as.floats;
        n.count = a->count;
    }
    return n;
}

static double number_at(const struct numbers *n, size_t i)
{
    return n->tensor ? tn_element_get(n->tensor->element, n->tensor->data, i) : (double)n->floats[i];
}

struct source {
    const int64_t *ids, *trees, *features, *yes, *no, *missing, *yes_leaf, *no_leaf;
    const struct tn_str *mode_names;
    struct numbers modes, splits, members;
    size_t count, missing_count;
    uint8_t *mode; /* [count] */
};

enum mode { LEQ, LT, GTE, GT, EQ, NEQ, MEMBER, LEAF, MODES };

static enum mode read_mode(const struct source *s, size_t i)
{
    static const char *const names[MODES] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
    if (!s->mode_names) {
        double m = number_at(&s->modes, i);
        return m >= 0 && m <= MEMBER ? (enum mode)m : MODES;
    }
    for (unsigned m = 0; m < MODES; m++) {
        if (tn_str_is(s->mode_names[i], names[m])) return (enum mode)m;
    }
    return MODES;
}

/* Names that follow each other are often one text of the reader. */
static void read_modes(struct source *s)
{
    for (size_t i = 0; i < s->count; i++) {
        size_t back = 1;
        while (s->mode_names && back <= 2 && back <= i && s->mode_names[i - back].s != s->mode_names[i].s) back++;
        s->mode[i] = s->mode_names && back <= 2 && back <= i && s->mode_names[i - back].n == s->mode_names[i].n ? s->mode[i - back] : (uint8_t)read_mode(s, i);
    }
}

static enum mode mode_of(const struct source *s, size_t i)
{
    return (enum mode)s->mode[i];
}

/* ---- nodes -------------------------------------------------------------------------------------------------------- */

struct reading {
    struct tn_forest *f;
    struct source s;
    const char *wrong;
    uint32_t *place; /* [count] of the file's nodes: node of the forest, UINT32_MAX: not yet */
    size_t *order;   /* older form: nodes sorted by tree and id */
    const int64_t *leaf_targets; /* newer form */
    struct numbers leaf_weights;
    size_t leaf_count;
    uint64_t targets;
    bool narrow; /* rows are float32 */
};

static bool fail(struct reading *r, const char *wrong)
{
    if (!r->wrong) r->wrong = wrong;
    return false;
}

/* x < t is x <= the number below t; for rows of float, splits of double are rounded down to what rows can be. */
static double split_of(const struct reading *r, double t, bool strict)
{
    if (!r->narrow) return strict ? nextafter(t, -INFINITY) : t;
    float f = (float)t;
    if ((double)f > t || (strict && (double)f == t)) f = nextafterf(f, -INFINITY);
    return strict && t == -(double)INFINITY ? (double)NAN : (double)f;
}

static bool set_node(struct reading *r, size_t i, struct tn_branch_node *n)
{
    enum mode m = mode_of(&r->s, i);
    int64_t feature = r->s.features[i];
    if (m == MODES || m == LEAF) return fail(r, "modes BRANCH_LEQ, _LT, _GTE, _GT, _EQ, _NEQ, _MEMBER or LEAF");
    if (feature < 0 || feature > INT32_MAX) return fail(r, "features from 0");
    if ((uint64_t)feature >= r->f->features) r->f->features = (uint32_t)feature + 1;
    double t = number_at(&r->s.splits, i);
    *n = (struct tn_branch_node){.split = t, .feature = (uint32_t)feature, .missing = r->s.missing_count && r->s.missing[i] != 0, .yes = UINT32_MAX, .no = UINT32_MAX};
    if (m == LEQ || m == GT) n->split = split_of(r, t, false);
    if (m == LT || m == GTE) n->split = split_of(r, t, true);
    if (m == EQ || m == NEQ) n->how = TN_BRANCH_EQ;
    if (m == MEMBER) n->how = TN_BRANCH_MEMBER;
    return true;
}

/* The file's "true" side is our `no` of these. */
static bool swapped(enum mode m)
{
    return m == GTE || m == GT || m == NEQ;
}

static bool add_leaf(struct reading *r, uint32_t *out)
{
    struct tn_forest *f = r->f;
    f->leaves[f->leaf_count] = f->vote_count;
    *out = f->leaf_count++ | TN_LEAF;
    return true;
}

static void link_child(struct reading *r, uint32_t parent, bool yes, uint32_t child)
{
    if (parent == UINT32_MAX) r->f->roots[r->f->tree_count] = child;
    else if (yes) r->f->nodes[parent].yes = child;
    else r->f->nodes[parent].no = child;
}

/* A node of the file that waits to be placed, and where it hangs. */
struct pending {
    size_t at;
    uint32_t parent;
    bool yes, leaf;
};

static bool push(struct reading *r, struct pending *stack, size_t *depth, struct pending p)
{
    if (*depth >= r->s.count + 1) return fail(r, "nodes that are used once");
    stack[(*depth)++] = p;
    return true;
}

/* ---- the older form: nodes by tree and id, leaves among them ------------------------------------------------------- */

static int compare(const struct source *s, size_t a, size_t b)
{
    if (s->trees[a] != s->trees[b]) return s->trees[a] < s->trees[b] ? -1 : 1;
    return s->ids[a] < s->ids[b] ? -1 : s->ids[a] > s->ids[b];
}

static void sift(const struct source *s, size_t *order, size_t i, size_t n)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n) return;
        if (child + 1 < n && compare(s, order[child], order[child + 1]) < 0) child++;
        if (compare(s, order[i], order[child]) >= 0) return;
        size_t t = order[i];
        order[i] = order[child];
        order[child] = t;
        i = child;
    }
}

static bool sort_nodes(struct reading *r)
{
    size_t n = r->s.count;
    bool sorted = true;
    for (size_t i = 0; i < n; i++) r->order[i] = i;
    for (size_t i = 1; sorted && i < n; i++) sorted = compare(&r->s, i - 1, i) < 0;
    for (size_t i = n / 2; !sorted && i-- > 0;) sift(&r->s, r->order, i, n);
    for (size_t i = n; !sorted && i-- > 1;) {
        size_t t = r->order[0];
        r->order[0] = r->order[i];
        r->order[i] = t;
        sift(&r->s, r->order, 0, i);
    }
    for (size_t i = 1; i < n; i++) {
        if (compare(&r->s, r->order[i - 1], r->order[i]) == 0) return fail(r, "nodes of different ids in a tree");
    }
    return true;
}

/* Where a node stands among the sorted ones, or would. */
static size_t place_of(const struct reading *r, int64_t tree, int64_t id)
{
    size_t low = 0, high = r->s.count;
    while (low < high) {
        size_t mid = low + (high - low) / 2, at = r->order[mid];
        bool before = r->s.trees[at] != tree ? r->s.trees[at] < tree : r->s.ids[at] < id;
        if (before) low = mid + 1;
        else high = mid;
    }
    return low;
}

/* Most files number a tree's nodes from 0: then the node stands at `first + id`, where the tree begins. */
static bool find(const struct reading *r, int64_t tree, int64_t id, size_t first, size_t *out)
{
    size_t at = id >= 0 && (uint64_t)id < r->s.count - first ? first + (size_t)id : r->s.count;
    if (at >= r->s.count || r->s.trees[r->order[at]] != tree || r->s.ids[r->order[at]] != id) at = place_of(r, tree, id);
    if (at == r->s.count) return false;
    *out = r->order[at];
    return r->s.trees[*out] == tree && r->s.ids[*out] == id;
}

static bool place_old(struct reading *r, struct pending *stack, size_t first)
{
    size_t depth = 0;
    struct tn_forest *f = r->f;
    push(r, stack, &depth, (struct pending){r->order[first], UINT32_MAX, true, false});
    while (depth > 0 && !r->wrong) {
        struct pending p = stack[--depth];
        enum mode m = mode_of(&r->s, p.at);
        size_t yes, no;
        uint32_t self;
        if (r->place[p.at] != UINT32_MAX) return fail(r, "nodes that are used once");
        if (m == LEAF) {
            add_leaf(r, &self);
            r->place[p.at] = self;
            link_child(r, p.parent, p.yes, self);
            continue;
        }
        if (!set_node(r, p.at, &f->nodes[f->node_count])) return false;
        self = f->node_count++;
        r->place[p.at] = self;
        link_child(r, p.parent, p.yes, self);
        int64_t tree = r->s.trees[p.at], left = r->s.yes[p.at], right = r->s.no[p.at];
        if (!find(r, tree, left, first, &yes) || !find(r, tree, right, first, &no)) return fail(r, "children that are nodes of the tree");
        bool turn = swapped(m);
        if (turn) f->nodes[self].missing = !f->nodes[self].missing;
        push(r, stack, &depth, (struct pending){no, self, turn, false});
        push(r, stack, &depth, (struct pending){yes, self, !turn, false});
    }
    return !r->wrong;
}

/* Votes come in any order: counted by leaf, then put behind each other. */
static bool place_votes(struct reading *r, const struct tn_node *node, const char *prefix)
{
    char name[40], tensor[48];
    size_t n[4], first = 0;
    const int64_t *v[3];
    static const char *const parts[3] = {"treeids", "nodeids", "ids"};
    struct tn_forest *f = r->f;
    for (unsigned i = 0; i < 3; i++) {
        size_t at = strlen(prefix);
        memcpy(name, prefix, at);
        name[at] = '_';
        memcpy(name + at + 1, parts[i], strlen(parts[i]) + 1);
        v[i] = tn_attr_ints(node, name, &n[i]);
    }
    size_t at = strlen(prefix);
    memcpy(name, prefix, at);
    memcpy(name + at, "_weights", 9);
    memcpy(tensor, name, at + 8);
    memcpy(tensor + at + 8, "_as_tensor", 11);
    struct numbers w = numbers_of(node, name, tensor);
    if (n[1] != n[0] || n[2] != n[0] || w.count != n[0] || n[0] > INT32_MAX) return fail(r, "votes of one length");
    f->votes = tn_calloc(f->alloc, n[0] + 1, sizeof(*f->votes));
    uint32_t *begin = tn_calloc(f->alloc, (size_t)f->leaf_count + 2, sizeof(*begin));
    if (!f->votes || !begin) {
        tn_free(f->alloc, begin);
        return fail(r, NULL);
    }
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n[0] && !r->wrong; i++) {
            size_t where;
            if (i == 0 || v[0][i] != v[0][i - 1]) first = place_of(r, v[0][i], INT64_MIN);
            bool good = find(r, v[0][i], v[1][i], first, &where) && v[2][i] >= 0 && (uint64_t)v[2][i] < r->targets;
            if (!good) fail(r, "votes of leaves for targets that there are");
            if (!good || r->place[where] == UINT32_MAX || !(r->place[where] & TN_LEAF)) continue; /* a vote that nobody casts */
            uint32_t leaf = r->place[where] & ~(uint32_t)TN_LEAF;
            if (pass == 0) begin[leaf + 1]++;
            else f->votes[begin[leaf]++] = (struct tn_vote){(uint32_t)v[2][i], number_at(&w, i)};
        }
        for (uint32_t i = 0; pass == 0 && i < f->leaf_count; i++) {
            begin[i + 1] += begin[i];
            f->leaves[i] = begin[i];
        }
        if (pass == 0) f->leaves[f->leaf_count] = f->vote_count = begin[f->leaf_count];
    }
    tn_free(f->alloc, begin);
    return !r->wrong;
}

static bool read_old(struct reading *r, const struct tn_node *node, const char *votes, struct pending *stack)
{
    struct source *s = &r->s;
    size_t n[7], modes;
    s->ids = tn_attr_ints(node, "nodes_nodeids", &n[0]);
    s->trees = tn_attr_ints(node, "nodes_treeids", &n[1]);
    s->features = tn_attr_ints(node, "nodes_featureids", &n[2]);
    s->yes = tn_attr_ints(node, "nodes_truenodeids", &n[3]);
    s->no = tn_attr_ints(node, "nodes_falsenodeids", &n[4]);
    s->mode_names = tn_attr_texts(node, "nodes_modes", &modes);
    for (unsigned i = 0; i < 5; i++) {
        if (n[i] != s->count) return fail(r, "attributes of nodes of one length");
    }
    if (modes != s->count || s->splits.count != s->count || (s->missing_count && s->missing_count != s->count)) return fail(r, "attributes of nodes of one length");
    read_modes(s);
    if (!sort_nodes(r)) return false;
    for (size_t i = 0; i < s->count && !r->wrong; i++) {
        if (i && s->trees[r->order[i]] == s->trees[r->order[i - 1]]) continue;
        if (place_old(r, stack, i)) r->f->tree_count++;
    }
    return !r->wrong && place_votes(r, node, votes);
}

/* ---- the newer form: inner nodes and leaves apart ----------------------------------------------------------------- */

static bool place_leaf(struct reading *r, size_t at, uint32_t *out)
{
    struct tn_forest *f = r->f;
    int64_t target = r->leaf_targets[at];
    if (target < 0 || (uint64_t)target >= r->targets) return fail(r, "leaves for targets that there are");
    add_leaf(r, out);
    f->votes[f->vote_count++] = (struct tn_vote){(uint32_t)target, number_at(&r->leaf_weights, at)};
    return true;
}

static bool place_new(struct reading *r, struct pending *stack, size_t root)
{
    size_t depth = 0;
    struct tn_forest *f = r->f;
    push(r, stack, &depth, (struct pending){root, UINT32_MAX, true, false});
    while (depth > 0 && !r->wrong) {
        struct pending p = stack[--depth];
        uint32_t self;
        if (p.leaf) {
            if (p.at >= r->leaf_count || f->leaf_count > 2 * r->s.count) return fail(r, "leaves that there are");
            if (place_leaf(r, p.at, &self)) link_child(r, p.parent, p.yes, self);
            continue;
        }
        if (p.at >= r->s.count || r->place[p.at] != UINT32_MAX) return fail(r, "nodes that there are, and that are used once");
        if (!set_node(r, p.at, &f->nodes[f->node_count])) return false;
        self = f->node_count++;
        r->place[p.at] = self;
        link_child(r, p.parent, p.yes, self);
        if (r->s.yes[p.at] < 0 || r->s.no[p.at] < 0) return fail(r, "children from 0");
        bool turn = swapped(mode_of(&r->s, p.at));
        if (turn) f->nodes[self].missing = !f->nodes[self].missing;
        push(r, stack, &depth, (struct pending){(size_t)r->s.no[p.at], self, turn, r->s.no_leaf[p.at] != 0});
        push(r, stack, &depth, (struct pending){(size_t)r->s.yes[p.at], self, !turn, r->s.yes_leaf[p.at] != 0});
    }
    return !r->wrong;
}

/* Sets stand in the order of the nodes that ask for membership, with a NaN between them. */
static bool place_members(struct reading *r)
{
    struct tn_forest *f = r->f;
    size_t at = 0;
    f->members = tn_calloc(f->alloc, r->s.members.count + 1, sizeof(*f->members));
    if (!f->members) return fail(r, NULL);
    for (size_t i = 0; i < r->s.members.count; i++) f->members[i] = number_at(&r->s.members, i);
    for (size_t i = 0; i < r->s.count; i++) {
        if (mode_of(&r->s, i) != MEMBER) continue;
        size_t begin = at;
        while (at < r->s.members.count && !isnan(f->members[at])) at++;
        if (r->place[i] != UINT32_MAX) {
            f->nodes[r->place[i]].members = (uint32_t)begin;
            f->nodes[r->place[i]].member_count = (uint32_t)(at - begin);
        }
        if (at < r->s.members.count) at++;
    }
    return true;
}

static bool read_new(struct reading *r, const struct tn_node *node, struct pending *stack)
{
    struct source *s = &r->s;
    size_t n[6], roots;
    const int64_t *root = tn_attr_ints(node, "tree_roots", &roots);
    s->features = tn_attr_ints(node, "nodes_featureids", &n[0]);
    s->yes = tn_attr_ints(node, "nodes_truenodeids", &n[1]);
    s->no = tn_attr_ints(node, "nodes_falsenodeids", &n[2]);
    s->yes_leaf = tn_attr_ints(node, "nodes_trueleafs", &n[3]);
    s->no_leaf = tn_attr_ints(node, "nodes_falseleafs", &n[4]);
    s->modes = numbers_of(node, NULL, "nodes_modes");
    s->members = numbers_of(node, NULL, "membership_values");
    r->leaf_targets = tn_attr_ints(node, "leaf_targetids", &n[5]);
    r->leaf_weights = numbers_of(node, NULL, "leaf_weights");
    r->leaf_count = n[5];
    for (unsigned i = 0; i < 5; i++) {
        if (n[i] != s->count) return fail(r, "attributes of nodes of one length");
    }
    if (s->modes.count != s->count || s->splits.count != s->count || (s->missing_count && s->missing_count != s->count)) return fail(r, "attributes of nodes of one length");
    read_modes(s);
    if (r->leaf_weights.count != n[5] || s->members.count > INT32_MAX) return fail(r, "a target and a weight for each leaf");
    if (roots > s->count) return fail(r, "roots that are nodes");
    r->f->votes = tn_calloc(r->f->alloc, 2 * s->count + 2, sizeof(*r->f->votes));
    if (!r->f->votes) return fail(r, NULL);
    for (size_t i = 0; i < roots && !r->wrong; i++) {
        if (root[i] < 0) return fail(r, "roots from 0");
        if (place_new(r, stack, (size_t)root[i])) r->f->tree_count++;
    }
    r->f->leaves[r->f->leaf_count] = r->f->vote_count;
    return !r->wrong && place_members(r);
}

/* ---- whole -------------------------------------------------------------------------------------------------------- */

void tn_forest_free(struct tn_forest *f)
{
    if (!f) return;
    void *const all[] = {f->nodes, f->roots, f->leaves, f->votes, f->members, f->splits, f->columns, f->missing, f->values, f->targets, f->used, f->leaf_of, f->steps, f->step_roots};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) tn_free(f->alloc, all[i]);
    tn_free(f->alloc, f);
}

/* Zeros, which large ones get in huge pages. */
static void *zeros(struct tn_alloc *alloc, size_t count, size_t each)
{
    void *p = tn_malloc_aligned(alloc, count * each, 64);
    if (p) memset(p, 0, count * each);
    return p;
}

struct tn_forest *tn_forest_new(struct tn_alloc *alloc, const struct tn_node *node, const char *votes, enum tn_element row, uint64_t targets,
                                const char **wrong)
{
    struct tn_forest *f = tn_calloc(alloc, 1, sizeof(*f));
    struct reading r = {.f = f, .targets = targets, .narrow = row != TN_EL_F64};
    *wrong = NULL;
    if (!f) return NULL;
    f->alloc = alloc;
    f->wide = row == TN_EL_F64;
    r.s.splits = votes ? numbers_of(node, "nodes_values", "nodes_values_as_tensor") : numbers_of(node, NULL, "nodes_splits");
    r.s.count = r.s.splits.count;
    r.s.missing = tn_attr_ints(node, "nodes_missing_value_tracks_true", &r.s.missing_count);
    size_t n = r.s.count;
    bool good = n <= INT32_MAX / 4;
    if (!good) *wrong = "fewer nodes";
    f->nodes = good ? zeros(alloc, n + 1, sizeof(*f->nodes)) : NULL;
    f->roots = good ? tn_malloc(alloc, (n + 1) * sizeof(*f->roots)) : NULL;
    f->leaves = good ? zeros(alloc, 2 * n + 4, sizeof(*f->leaves)) : NULL;
    r.place = good ? tn_calloc(alloc, n + 1, sizeof(*r.place)) : NULL;
    r.order = good ? tn_malloc(alloc, (n + 1) * sizeof(*r.order)) : NULL;
    r.s.mode = good ? tn_malloc(alloc, n + 1) : NULL;
    struct pending *stack = good ? tn_malloc(alloc, (n + 2) * sizeof(*stack)) : NULL;
    good = f->nodes && f->roots && f->leaves && r.place && r.order && r.s.mode && stack;
    for (size_t i = 0; good && i < n; i++) r.place[i] = UINT32_MAX;
    good = good && (votes ? read_old(&r, node, votes, stack) : read_new(&r, node, stack)) && tn_forest_lay(f);
    if (r.wrong) *wrong = r.wrong;
    tn_free(alloc, r.place);
    tn_free(alloc, r.order);
    tn_free(alloc, r.s.mode);
    tn_free(alloc, stack);
    if (good) return f;
    tn_forest_free(f);
    return NULL;
}
