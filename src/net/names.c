/* Open addressing; the hash is seeded with the table's address, so that a file cannot prepare collisions. */
#include "net/names.h"

static uint64_t hash(const struct tn_names *names, struct tn_str s)
{
    uint64_t h = (uint64_t)(uintptr_t)names * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < s.n; i++) h = (h ^ (unsigned char)s.s[i]) * UINT64_C(0x100000001b3);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

static struct tn_name *slot(const struct tn_names *names, struct tn_str name)
{
    size_t mask = names->cap - 1;
    for (size_t i = (size_t)hash(names, name) & mask;; i = (i + 1) & mask) {
        if (!names->slots[i].used || tn_str_eq(names->slots[i].name, name)) return &names->slots[i];
    }
}

struct tn_name *tn_names_find(const struct tn_names *names, struct tn_str name)
{
    if (names->cap == 0) return NULL;
    struct tn_name *s = slot(names, name);
    return s->used ? s : NULL;
}

static bool grow(struct tn_names *names)
{
    struct tn_names old = *names;
    names->cap = old.cap ? old.cap * 2 : 64;
    names->slots = tn_arena_array(names->arena, names->cap, sizeof(*names->slots));
    if (!names->slots) {
        *names = old;
        return false;
    }
    for (size_t i = 0; i < old.cap; i++) {
        if (old.slots[i].used) *slot(names, old.slots[i].name) = old.slots[i];
    }
    return true;
}

struct tn_name *tn_names_add(struct tn_names *names, struct tn_str name, bool *added)
{
    if (names->count * 2 >= names->cap && !grow(names)) return NULL;
    struct tn_name *s = slot(names, name);
    *added = !s->used;
    if (!s->used) {
        *s = (struct tn_name){.name = name, .used = true};
        names->count++;
    }
    return s;
}
