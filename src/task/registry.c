/* The tasks, one row each. Adding one is adding its file and a row. */
#include "base/json_write.h"
#include "task/contract.h"
#include "task/task.h"

#include <string.h>

static const struct tn_task *const tasks[] = {
    &tn_task_classify_text,
    &tn_task_embedding_dense,
    &tn_task_embedding_multi,
    &tn_task_embedding_sparse,
    &tn_task_fill,
    &tn_task_question_answer,
    &tn_task_rerank,
    &tn_task_tag,
    &tn_task_tensor,
};

const struct tn_task *tn_task_at(size_t index)
{
    return index < sizeof(tasks) / sizeof(tasks[0]) ? tasks[index] : NULL;
}

const struct tn_task *tn_task_find(const char *name)
{
    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
        if (strcmp(tasks[i]->name, name) == 0) return tasks[i];
    }
    return NULL;
}

void tn_tasks_write(struct tn_json_writer *w)
{
    tn_jw_begin_array(w);
    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
        const struct tn_task *t = tasks[i];
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "name", t->name);
        tn_jw_member_cstr(w, "contract", t->contract);
        tn_jw_key(w, "recipe");
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "name", t->recipe->name);
        tn_jw_member_cstr(w, "version", t->recipe->version);
        tn_jw_end_object(w);
        tn_jw_member_cstr(w, "what", t->what);
        tn_contract_request(w, t->request);
        t->write(w);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}
