/* What was assumed on opening, in sentences. */
#include "text/vocabulary/vocabulary.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"

gufo_status vocab_warn(gufo_vocab *v, gufo_error *error, const char *format, ...)
{
    char message[GUFO_MESSAGE_SIZE];
    char **warnings =
        mem_grow(&v->allocator, v->warnings, v->warning_count, &v->warning_room, sizeof *warnings);
    va_list arguments;

    if (warnings == NULL)
        return fail_memory(error);
    v->warnings = warnings;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    v->warnings[v->warning_count] = mem_text(&v->allocator, gufo_str_of(message));
    if (v->warnings[v->warning_count] == NULL)
        return fail_memory(error);
    v->warning_count++;
    return GUFO_OK;
}

const char *gufo_vocab_warning_at(const gufo_vocab *vocab, uint64_t index)
{
    return index < vocab->warning_count ? vocab->warnings[index] : NULL;
}
