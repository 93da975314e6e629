/*
 * A folder that keeps the state of a sequence from one run of the program to the next: NAME.npy for each state. All states
 * change or none, also when the program ends in between: new files are written beside the old ones, then a mark says that
 * they are whole, then they take their places; whoever finds the mark finishes that.
 */
#ifndef CLI_STATE_H
#define CLI_STATE_H

#include "app.h"

/* Makes the folder where it is missing, and puts what it holds into the sequence; an empty one leaves it at its beginning. */
tn_status cli_state_load(struct cli *cli, const char *folder, tn_sequence *sequence);
tn_status cli_state_save(struct cli *cli, const char *folder, tn_sequence *sequence);

/*
 * "a/b" and ".npy" to "a_b.npy": letters, digits, dot, dash and underscore stay. A name that one of `taken` has already gets
 * a number; file systems that do not tell cases apart count. Free it.
 */
char *cli_safe_name(tn_string name, const char *end, char *const *taken, size_t count);
/* The folder, made where it is missing. */
tn_status cli_make_folder(struct cli *cli, const char *option, const char *folder);

#endif
