/* Which kind of embedding a package gives, and the kinds that are not one dense vector. */
#ifndef CLI_EMBED_OTHER_H
#define CLI_EMBED_OTHER_H

#include "app.h"

#define CLI_EMBED_DENSE "embedding.dense"

/*
 * The task of --task, of the plan, or the one that the open package serves; embedding.dense when it serves none, so that its
 * refusal is told, unless another kind is nearer: its own refusal is then about the package and not about the task.
 */
tn_status cli_embed_task(struct cli *cli, const char **task);
/* embedding.sparse or embedding.multi of the open package. */
int cli_embed_other(struct cli *cli, const char *task);

#endif
