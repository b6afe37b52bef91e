/* A list of findings. */
#include "findings.h"

void findings_init(findings *f)
{
    memset(f, 0, sizeof *f);
}

void findings_free(findings *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->items[i].subject);
        free(f->items[i].message);
    }
    free(f->items);
    memset(f, 0, sizeof *f);
}

void findings_add(void *context, const gufo_finding *finding)
{
    findings *f = context;
    kept_finding *items = realloc(f->items, (f->count + 1) * sizeof *items);
    kept_finding *kept;

    if (items == NULL)
        abort();
    f->items = items;
    kept = &items[f->count++];
    kept->rule = finding->rule;
    kept->offset = finding->offset;
    kept->subject_len = finding->subject.len;
    kept->subject = calloc(1, finding->subject.len + 1);
    kept->message = calloc(1, strlen(finding->message) + 1);
    if (kept->subject == NULL || kept->message == NULL)
        abort();
    if (finding->subject.len > 0)
        memcpy(kept->subject, finding->subject.data, finding->subject.len);
    strcpy(kept->message, finding->message);
}

size_t findings_of(const findings *f, const char *rule)
{
    size_t count = 0;

    for (size_t i = 0; i < f->count; i++)
        count += strcmp(f->items[i].rule->name, rule) == 0;
    return count;
}

const kept_finding *findings_get(const findings *f, const char *rule, size_t nth)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->items[i].rule->name, rule) == 0 && nth-- == 0)
            return &f->items[i];
    return NULL;
}

size_t findings_of_severity(const findings *f, gufo_severity severity)
{
    size_t count = 0;

    for (size_t i = 0; i < f->count; i++)
        count += f->items[i].rule->severity == severity;
    return count;
}

void findings_print(const findings *f)
{
    for (size_t i = 0; i < f->count; i++)
        print_error("    %s %s at %" PRIu64 ": %s\n",
                    gufo_severity_name(f->items[i].rule->severity), f->items[i].rule->name,
                    f->items[i].offset, f->items[i].message);
}

gufo_status validate_file(const char *path, const gufo_open_options *options,
                          gufo_finding_fn *found, void *context, gufo_error *error)
{
    const gufo_input input = gufo_input_path(path);

    return gufo_validate(&input, options, found, context, error);
}

gufo_status validate_fd(int fd, const gufo_open_options *options, gufo_finding_fn *found,
                        void *context, gufo_error *error)
{
    const gufo_input input = gufo_input_fd(fd);

    return gufo_validate(&input, options, found, context, error);
}
