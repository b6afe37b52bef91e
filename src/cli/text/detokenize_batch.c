/* gufo detokenize --batch: lists of ids in, texts out, a line of JSON each, in the same order.
 *
 *     [15043, 3186]       {"text":"Hello world"}
 *     [258, 257]          {"base64":"//4="} */
#include "cli/text/detokenize.h"

#include "cli/core/terminal/stdout.h"
#include "cli/text/blocks.h"
#include "text/formats/json_tree.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

/* The ids of a line, which the caller frees; *count of them.  NULL after a report. */
static uint32_t *read_list(const detokenization *d, const blocks *in, const json_t *list,
                           size_t *count)
{
    uint32_t *ids;

    *count = json_array_size(list);
    ids = malloc((*count + 1) * sizeof *ids);
    if (ids == NULL)
        report_memory(in->path);
    for (size_t i = 0; ids != NULL && i < *count; i++) {
        const json_t *item = json_array_get(list, i);
        json_int_t id = json_integer_value(item);

        if (!json_is_integer(item) || id < 0 || (uint64_t)id >= d->size) {
            report_message(in->path,
                           "line %" PRIu64 ": element %zu of the list is not one of the ids 0 to "
                           "%" PRIu32 " of the vocabulary",
                           in->line, i + 1, d->size - 1);
            free(ids);
            return NULL;
        }
        ids[i] = (uint32_t)id;
    }
    return ids;
}

static int answer(detokenization *d, const uint32_t *ids, size_t count)
{
    json_writer j = json_writer_start(stdout);
    gufo_error error;
    gufo_str text;

    d->text.len = 0;
    if (gufo_detokenize(d->vocab, ids, count, d->options->flags, &d->text, &error) != GUFO_OK)
        return report_error(d->path, &error);
    text = (gufo_str){d->text.data, d->text.len};
    if (gufo_utf8_valid_prefix(text) == text.len) {
        json_begin_object(&j, NULL);
        json_write_str(&j, "text", text);
        json_end_object(&j);
    } else
        json_write_str(&j, NULL, text);
    json_writer_line(&j);
    return CODE_OK;
}

static int answer_line(detokenization *d, const blocks *in, gufo_str line)
{
    json_error_t error;
    json_t *list;
    uint32_t *ids = NULL;
    size_t count = 0;
    gufo_error reason;
    int code = CODE_FAILED;

    if (json_tree_check(line, JSON_TREE_MEMORY, NULL, &reason) != GUFO_OK)
        return report_as(CODE_FAILED, in->path, "line %" PRIu64 ": %s", in->line, reason.message);
    list = json_loadb(line.data, line.len, 0, &error);
    if (!json_is_array(list))
        report_message(in->path, "line %" PRIu64 ": %s", in->line,
                       list == NULL ? error.text : "an array of ids is expected");
    else
        ids = read_list(d, in, list, &count);
    if (ids != NULL)
        code = answer(d, ids, count);
    free(ids);
    json_decref(list);
    return code;
}

int detokenize_batch(detokenization *d)
{
    gufo_str line = {0};
    blocks in;
    int code = blocks_open(&in, d->options->file);

    if (code == CODE_OK)
        code = blocks_next_line(&in, &line);
    while (code == CODE_OK && line.data != NULL && !stdout_broken()) {
        code = answer_line(d, &in, line);
        if (code == CODE_OK)
            code = blocks_next_line(&in, &line);
    }
    blocks_close(&in);
    return code;
}
