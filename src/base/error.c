/* Errors: code, offset and one sentence, in plain data that needs no freeing. */
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gufo/print.h"

static const char *const status_names[] = {
    [GUFO_OK] = "ok",
    [GUFO_E_MEMORY] = "out of memory",
    [GUFO_E_IO] = "input/output",
    [GUFO_E_ARGUMENT] = "argument",
    [GUFO_E_NOT_GGUF] = "not GGUF",
    [GUFO_E_VERSION] = "version",
    [GUFO_E_TRUNCATED] = "truncated",
    [GUFO_E_MALFORMED] = "malformed",
    [GUFO_E_LIMIT] = "limit",
    [GUFO_E_NOT_FOUND] = "not found",
    [GUFO_E_TYPE] = "type",
    [GUFO_E_RANGE] = "range",
    [GUFO_E_EXISTS] = "exists",
    [GUFO_E_CHANGED] = "changed",
    [GUFO_E_SHARDS] = "shards",
    [GUFO_E_STOPPED] = "stopped",
};

const char *gufo_status_name(gufo_status status)
{
    size_t index = (size_t)status;

    return index < sizeof status_names / sizeof *status_names ? status_names[index] : "unknown";
}

const char *gufo_version(void)
{
    return GUFO_VERSION_STRING;
}

gufo_str gufo_str_of(const char *text)
{
    return (gufo_str){text, text != NULL ? strlen(text) : 0};
}

bool gufo_str_equal(gufo_str a, gufo_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static void fill(gufo_error *error, gufo_status code, int system, uint64_t offset,
                 const char *format, va_list args)
{
    if (error == NULL)
        return;
    error->code = code;
    error->system = system;
    error->offset = offset;
    error->rule = NULL;
    error->advice = 0;
    error->role = GUFO_FILE_NONE;
    error->file_index = 0;
    error->file[0] = '\0';
    memset(error->reserved, 0, sizeof error->reserved);
    (void)vsnprintf(error->message, sizeof error->message, format, args);
}

gufo_status fail_with(gufo_error *error, gufo_status code, uint64_t offset, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill(error, code, 0, offset, format, args);
    va_end(args);
    return code;
}

gufo_status refuse(gufo_error *error, gufo_status code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill(error, code, 0, GUFO_NO_OFFSET, format, args);
    va_end(args);
    return code;
}

gufo_status fail_io(gufo_error *error, int system, const char *format, ...)
{
    char reason[128];
    size_t used;
    va_list args;

    if (error == NULL)
        return GUFO_E_IO;
    va_start(args, format);
    fill(error, GUFO_E_IO, system, GUFO_NO_OFFSET, format, args);
    va_end(args);
    if (strerror_r(system, reason, sizeof reason) != 0)
        (void)snprintf(reason, sizeof reason, "error %d", system);
    used = strlen(error->message);
    (void)snprintf(error->message + used, sizeof error->message - used, ": %s", reason);
    return GUFO_E_IO;
}

gufo_status fail_memory(gufo_error *error)
{
    return refuse(error, GUFO_E_MEMORY, "out of memory");
}

gufo_status fail_as(gufo_error *error, const gufo_error *reason)
{
    if (error != NULL)
        *error = *reason;
    return reason->code;
}

void fail_in(gufo_error *error, gufo_file_role role, uint32_t index, const char *name)
{
    static const char cut[] = "...";
    const size_t room = sizeof error->file - 1;
    size_t len = name != NULL ? strlen(name) : 0;

    if (error == NULL || error->file[0] != '\0' || (error->role != GUFO_FILE_NONE && len == 0))
        return;
    error->role = role;
    error->file_index = index;
    if (len > room)
        (void)snprintf(error->file, sizeof error->file, "%s%s", cut,
                       name + len - (room - (sizeof cut - 1)));
    else
        (void)snprintf(error->file, sizeof error->file, "%s", name != NULL ? name : "");
}

gufo_status reserved_check(const uint64_t reserved[4], const char *what, gufo_error *error)
{
    if ((reserved[0] | reserved[1] | reserved[2] | reserved[3]) == 0)
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT, "reserved fields of %s are not zero", what);
}

gufo_status parse_options_check(const gufo_parse_options *options, gufo_error *error)
{
    return options == NULL ? GUFO_OK
                           : reserved_check(options->reserved, "gufo_parse_options", error);
}

gufo_status flags_check(uint32_t flags, uint32_t known, const char *what, gufo_error *error)
{
    if ((flags & ~known) == 0)
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT,
                  "%s has flags that this version does not know: 0x%" PRIx32, what, flags & ~known);
}

/* Writes the escaped form of the character at the start of `text`; returns the bytes it took.
 * Quotes and backslashes are escaped only inside quotes. */
static size_t escape_one(char out[16], gufo_str text, bool quoted)
{
    uint32_t c;
    size_t len = gufo_utf8_decode(text, &c);

    if (len == 0) {
        (void)snprintf(out, 16, "\\x%02x", (unsigned char)text.data[0]);
        return 1;
    }
    if (quoted && (c == '"' || c == '\\')) {
        (void)snprintf(out, 16, "\\%c", (char)c);
    } else if (gufo_utf8_is_hidden(text)) {
        (void)snprintf(out, 16, "\\u{%x}", (unsigned)c);
    } else { /* most are: printing each of them takes longer than the rest of a check */
        memcpy(out, text.data, len);
        out[len] = '\0';
    }
    return len;
}

/* Escapes what a terminal would act on, in double quotes if `quoted`; what does not fit is cut, with
 * "...". */
static void escape(char *out, size_t room, gufo_str text, bool quoted)
{
    const char *cut = quoted ? "...\"" : "...";
    const size_t cut_size = strlen(cut) + 1;
    size_t used = 0;

    if (quoted)
        out[used++] = '"';
    for (size_t i = 0; i < text.len;) {
        char piece[16];
        size_t step = escape_one(piece, (gufo_str){text.data + i, text.len - i}, quoted);
        size_t len = strlen(piece);

        if (used + len + cut_size > room) {
            memcpy(out + used, cut, cut_size);
            return;
        }
        memcpy(out + used, piece, len);
        used += len;
        i += step;
    }
    if (quoted)
        out[used++] = '"';
    out[used] = '\0';
}

const char *quote_name(char out[GUFO_QUOTE_SIZE], gufo_str text)
{
    escape(out, GUFO_QUOTE_SIZE, text, true);
    return out;
}

gufo_status fail_from_callback(gufo_error *error, gufo_status status, const gufo_error *reason)
{
    if ((size_t)status >= sizeof status_names / sizeof *status_names)
        status = GUFO_E_IO;
    if (error == NULL)
        return status;
    *error = (gufo_error){.code = status,
                          .system = status == GUFO_E_IO ? reason->system : 0,
                          .offset = reason->offset,
                          .rule = reason->rule};
    escape(error->message, sizeof error->message,
           (gufo_str){reason->message, strnlen(reason->message, sizeof reason->message)}, false);
    if ((unsigned)reason->role <= GUFO_FILE_JOURNAL)
        error->role = reason->role;
    error->file_index = reason->file_index;
    memcpy(error->file, reason->file, strnlen(reason->file, sizeof error->file - 1));
    return status;
}
