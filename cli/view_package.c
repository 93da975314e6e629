#include "views.h"
void cli_view_package(struct cli_view *v, const struct cli_json *root)
{
    cli_view_members(v, root);
}
