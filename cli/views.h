/* The library's documents as pages for people. Each takes the root of the document and shows what is there. */
#ifndef CLI_VIEWS_H
#define CLI_VIEWS_H

#include "app.h"

void cli_view_package(struct cli_view *v, const struct cli_json *root);
void cli_view_assessment(struct cli_view *v, const struct cli_json *root);
void cli_view_task_list(struct cli_view *v, const struct cli_json *root);
void cli_view_plan(struct cli_view *v, const struct cli_json *root);
void cli_view_record(struct cli_view *v, const struct cli_json *root);
void cli_view_comparison(struct cli_view *v, const struct cli_json *root);
void cli_view_why(struct cli_view *v, const struct cli_json *root);
void cli_view_records(struct cli_view *v, const struct cli_json *root);
void cli_view_doctor(struct cli_view *v, const struct cli_json *root);
void cli_view_capabilities(struct cli_view *v, const struct cli_json *root);
void cli_view_families(struct cli_view *v, const struct cli_json *root);
void cli_view_tasks(struct cli_view *v, const struct cli_json *root);
void cli_view_schemas(struct cli_view *v, const struct cli_json *root);
void cli_view_schema(struct cli_view *v, const struct cli_json *root);

/* Findings with place, found, expected and remedy; nothing when there are none. */
void cli_view_findings(struct cli_view *v, const char *heading, const struct cli_json *findings);
void cli_view_finding(struct cli_view *v, const struct cli_json *finding);
/* What an import left out; nothing when it lost nothing. */
void cli_view_losses(struct cli_view *v, const struct cli_json *losses);
/* "key  value"; a size where the key ends with _bytes. */
void cli_view_member(struct cli_view *v, const struct cli_json *m);
/* A line per member; nested values on one line. */
void cli_view_members(struct cli_view *v, const struct cli_json *object);
/* "90.9 MB (90868376 bytes)"; nothing when it is not a number. */
void cli_view_size(struct cli_view *v, const char *label, const struct cli_json *bytes);

/* For check, plan and qualify: the package, and what to ask of the planner. */
tn_status cli_open_for_task(struct cli *cli, bool limited, tn_plan_options *options);

#endif
