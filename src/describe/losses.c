/*
 * What the import of a convention left out and somebody accepted: a list of the description, which stands in
 * tenon_package.json and is read from there again, so that a package without its original still says what it lost.
 * The document is untrusted; its shape was checked.
 */
#include "describe/losses.h"

#include "describe/package_parts.h"

#include <string.h>

/* The list moves into the arena with every doubling: losses are few, and the arena is the description's. */
static struct tn_loss *next(struct tn_builder *b)
{
    struct tn_description *d = b->d;
    uint32_t count = d->loss_count;
    if (b->failed != TN_OK) return NULL;
    if (count == 0 || (count >= 4 && (count & (count - 1)) == 0)) {
        struct tn_loss *losses = tn_builder_array(b, count ? (size_t)count * 2 : 4, sizeof(*losses));
        if (!losses) return NULL;
        if (count) memcpy(losses, d->losses, count * sizeof(*losses));
        d->losses = losses;
    }
    return &d->losses[d->loss_count++];
}

struct tn_loss *tn_loss_keep(struct tn_builder *b, enum tn_loss_kind kind, struct tn_str file, struct tn_str pointer,
                             struct tn_str reason)
{
    struct tn_loss *loss = next(b);
    if (!loss) return NULL;
    *loss = (struct tn_loss){kind, tn_builder_str(b, file), tn_builder_str(b, pointer), tn_builder_str(b, reason)};
    return loss;
}

const char *tn_loss_kind_name(enum tn_loss_kind kind)
{
    return kind == TN_LOSS_DROPPED ? "dropped" : "unknown";
}

/* ---- read again -------------------------------------------------------------------------------------------------- */

static bool check_place(struct tn_builder *b, struct tn_json entry, struct tn_str pointer)
{
    bool good;
    (void)tn_package_path(b, entry, "file", &good);
    if (pointer.n > 0 && pointer.s[0] == '/') return good;
    tn_expected(tn_package_refuse(b, tn_json_get(entry, "pointer"), TN_METADATA_INVALID, "is no place in a document"),
                "a JSON pointer, which begins with /");
    return false;
}

static void read_one(struct tn_builder *b, struct tn_json entry)
{
    struct tn_str class = tn_package_text(b, entry, "class"), pointer = tn_package_text(b, entry, "pointer");
    bool dropped = tn_str_is(class, tn_loss_kind_name(TN_LOSS_DROPPED));
    if (!check_place(b, entry, pointer)) return;
    tn_loss_keep(b, dropped ? TN_LOSS_DROPPED : TN_LOSS_UNKNOWN, tn_package_text(b, entry, "file"), pointer,
                 tn_package_text(b, entry, "reason"));
    tn_fact_of_json(b, entry, TN_PACKAGE_RULE, true, "loss.%.*s", TN_FMT_ARG(pointer));
}

void tn_losses_read(struct tn_builder *b, struct tn_json list)
{
    for (struct tn_json v = tn_json_first(list); tn_json_present(v) && b->failed == TN_OK; v = tn_json_next(v))
        if (!tn_doc_is_touched(b->marks, v)) read_one(b, v);
}

/* ---- written ----------------------------------------------------------------------------------------------------- */

void tn_description_write_losses(struct tn_json_writer *w, const struct tn_description *d)
{
    tn_jw_key(w, "losses");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < d->loss_count; i++) {
        const struct tn_loss *loss = &d->losses[i];
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "file", loss->file);
        tn_jw_member_str(w, "pointer", loss->pointer);
        tn_jw_member_cstr(w, "class", tn_loss_kind_name(loss->kind));
        tn_jw_member_str(w, "reason", loss->reason);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}
