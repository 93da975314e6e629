/* Edit distance, for "did you mean". Owns nothing; inputs are untrusted and cut to a length that bounds the work. */
#include "base/nearest.h"

enum { LONGEST = 63 };

size_t tn_edit_distance(struct tn_str a, struct tn_str b)
{
    size_t row[LONGEST + 1];
    size_t na = a.n < LONGEST ? a.n : LONGEST, nb = b.n < LONGEST ? b.n : LONGEST;
    for (size_t j = 0; j <= nb; j++) row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t replace = diagonal + (a.s[i - 1] != b.s[j - 1]);
            size_t change = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replace < change ? replace : change;
        }
    }
    return row[nb];
}

void tn_nearest_offer(struct tn_nearest *best, struct tn_str wanted, const char *name)
{
    struct tn_str known = tn_str_of(name);
    size_t allowed = known.n / 3 > 2 ? known.n / 3 : 2;
    size_t distance = tn_edit_distance(wanted, known);
    if (distance > allowed || distance >= known.n) return;
    if (best->name && distance >= best->distance) return;
    *best = (struct tn_nearest){name, distance};
}
