/* Reporting faults: to the error of a strict open, or to the findings of a lenient one. */
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "format/file/file.h"

/* The fixes are certain: each has one right answer. */
static gufo_fix fix_of(rule_number rule)
{
    static const rule_number rewritten[] = {RULE_PADDING_NONZERO, RULE_DATA_GAP, RULE_DATA_ORDER,
                                            RULE_TRAILING_BYTES, RULE_VERSION_OLD};

    if (rule == RULE_QUANTIZATION_VERSION_MISSING)
        return (gufo_fix){.kind = GUFO_FIX_SET,
                          .certain = true,
                          .key = gufo_str_of("general.quantization_version"),
                          .value = {.type = GUFO_VALUE_UINT32, .as.u = GUFO_QUANTIZATION_VERSION}};
    for (size_t i = 0; i < sizeof rewritten / sizeof *rewritten; i++)
        if (rewritten[i] == rule)
            return (gufo_fix){.kind = GUFO_FIX_REWRITE, .certain = true};
    return (gufo_fix){.kind = GUFO_FIX_NONE};
}

void finding_report(gufo_finding_fn *found, void *context, size_t shard, rule_number number,
                    uint64_t offset, gufo_str subject, const char *message)
{
    gufo_finding finding = {.rule = gufo_rule_at((size_t)number),
                            .offset = offset,
                            .subject = subject,
                            .message = message,
                            .fix = fix_of(number),
                            .shard = shard};

    if (found != NULL)
        found(context, &finding);
}

/* What GUFO_OPEN_AS_GGML lets through. */
static bool is_tolerated(const gguf_file *file, rule_number rule)
{
    return file->as_ggml &&
           (rule == RULE_KEY_LENGTH || rule == RULE_KEY_ASCII || rule == RULE_BOOL_VALUE);
}

bool file_fault(gguf_file *file, rule_number number, uint64_t offset, gufo_str subject,
                const char *format, ...)
{
    const gufo_rule *rule = gufo_rule_at((size_t)number);
    gufo_error fault = {.code = rule->status, .offset = offset, .rule = rule};
    va_list args;

    if (is_tolerated(file, number))
        return true;
    va_start(args, format);
    (void)vsnprintf(fault.message, sizeof fault.message, format, args);
    va_end(args);
    if (!file->lenient) {
        file->status = fault.code;
        if (file->error != NULL)
            *file->error = fault;
        return false;
    }
    if (!file->damaged)
        file->damage = fault;
    file->damaged = true;
    if (file->on_finding != NULL)
        finding_report(file->on_finding, file->finding_context, file->number, number, offset,
                       subject, fault.message);
    return true;
}
