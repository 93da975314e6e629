/*
 * tn_error as a handle. It exists without a runtime, because making a runtime can fail: its memory is the host's, through
 * an allocator that lives for one call.
 */
#include "base/error.h"

#include "base/json_write.h"

#include <string.h>

enum { JSON_MAX = 4 << 20 };

TN_API tn_error *tn_error_new(void)
{
    struct tn_alloc host;
    tn_alloc_init(&host);
    struct tn_error *err = tn_calloc(&host, 1, sizeof(*err));
    tn_error_clear(err);
    return err;
}

TN_API void tn_error_free(tn_error *err)
{
    struct tn_alloc host;
    if (!err) return;
    tn_alloc_init(&host);
    host.current = sizeof(*err);
    host.blocks = 1;
    tn_free(&host, err);
}

TN_API tn_status tn_error_code(const tn_error *err)
{
    return err ? err->primary.code : TN_OK;
}

TN_API const char *tn_error_phase(const tn_error *err)
{
    return err && err->primary.code ? tn_phase_name(err->primary.phase) : "";
}

TN_API const char *tn_error_message(const tn_error *err)
{
    return err ? err->primary.message : "";
}

TN_API const char *tn_error_file(const tn_error *err)
{
    return err ? err->primary.file : "";
}

TN_API const char *tn_error_element(const tn_error *err)
{
    return err ? err->primary.element : "";
}

TN_API const char *tn_error_found(const tn_error *err)
{
    return err ? err->primary.found : "";
}

TN_API const char *tn_error_expected(const tn_error *err)
{
    return err ? err->primary.expected : "";
}

TN_API const char *tn_error_remedy(const tn_error *err)
{
    return err ? err->primary.remedy : "";
}

TN_API bool tn_error_retryable(const tn_error *err)
{
    return err && err->retryable;
}

TN_API int64_t tn_error_item(const tn_error *err)
{
    return err && err->primary.code ? err->primary.item : -1;
}

TN_API size_t tn_error_finding_count(const tn_error *err)
{
    return err ? err->count : 0;
}

TN_API tn_status tn_error_finding_code(const tn_error *err, size_t index)
{
    return err && index < err->count ? err->findings[index].code : TN_OK;
}

TN_API const char *tn_error_finding_message(const tn_error *err, size_t index)
{
    return err && index < err->count ? err->findings[index].message : "";
}

TN_API size_t tn_error_json(const tn_error *err, char *buf, size_t size)
{
    struct tn_alloc host;
    struct tn_buf text;
    struct tn_json_writer w;
    if (!err) return 0;
    tn_alloc_init(&host);
    tn_buf_init(&text, &host, JSON_MAX);
    tn_jw_init(&w, &text, false);
    tn_error_write(&w, err);
    size_t length = tn_buf_status(&text) ? 0 : text.len;
    if (buf && length > 0 && length < size) {
        memcpy(buf, text.data, length + 1);
    } else if (buf && size > 0) {
        buf[0] = 0;
    }
    tn_buf_release(&text);
    return length;
}
