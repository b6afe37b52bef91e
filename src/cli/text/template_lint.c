/* gufo template --lint: one line per finding, or one document. */
#include "cli/text/template.h"

#include "cli/core/values/json.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"

#include <inttypes.h>

typedef struct listing {
    const char *path;
    json_writer *json; /* NULL: lines */
    uint64_t count;
} listing;

static bool write_finding(void *context, const gufo_template_finding *found)
{
    listing *l = context;

    l->count++;
    if (l->json == NULL) {
        text_print("%s:%" PRIu64 ":%" PRIu64 ": %s: %s\n", l->path, found->line, found->column,
                   found->dangerous ? "danger" : "fault", found->message);
        return true;
    }
    json_begin_object(l->json, NULL);
    json_write_bool(l->json, "dangerous", found->dangerous);
    json_write_u64(l->json, "line", found->line);
    json_write_u64(l->json, "column", found->column);
    json_write_offset(l->json, found->offset);
    json_write_text(l->json, "message", found->message);
    json_end_object(l->json);
    return true;
}

int template_lint(templating *t)
{
    listing l = {.path = t->path};
    gufo_status status;
    gufo_error error;
    json_writer j;

    if (t->options->base.shared->json) {
        j = json_begin_document(t->path);
        if (t->options->name != NULL)
            json_write_text(&j, "name", t->options->name);
        json_begin_array(&j, "findings");
        l.json = &j;
    }
    status = gufo_template_lint(t->source, NULL, write_finding, &l, &error);
    if (l.json != NULL) {
        json_end_array(&j);
        json_end_document(&j);
    }
    if (status != GUFO_OK)
        return report_error(t->path, &error);
    return l.count == 0 ? CODE_OK : CODE_NO;
}
