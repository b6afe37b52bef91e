/* A plan as a file of --tensor-type-file: a line for each tensor that does not keep its type, and first a
 * comment with the command that makes the same files.
 *
 *     # gufo quantize --tensor-type-file plan.txt model.gguf OUT Q4_K_M
 *     ^output\.weight$=Q6_K
 *     ^blk\.0\.attn_q\.weight$=Q3_K
 *
 * Rules for types do not hold where TYPE is a plain type: then TYPE is another one, and the file type is
 * set. */
#include "cli/quantize/quantize.h"

#include "base/error.h"
#include "gufo/print.h"
#include "cli/core/terminal/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Patterns match characters: what is not a letter, a digit or a mark without a meaning is escaped.  Blanks
 * would divide the item. */
static void put_pattern(FILE *out, gufo_str name)
{
    putc('^', out);
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.data[i];

        if (isalpha(c) || isdigit(c) || strchr("_-/:,", c) != NULL || c >= 0x80)
            putc(c, out);
        else if (c > ' ' && c < 0x7f)
            fprintf(out, "\\%c", c);
        else
            fprintf(out, "\\x%02x", c);
    }
    putc('$', out);
}

int size_check_names(const quantize_options *o, const gufo_model *input)
{
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(input, i, &tensor); i++)
        if (gufo_utf8_valid_prefix(tensor.name) < tensor.name.len)
            return report_as(
                CODE_USAGE, o->input,
                "the name of tensor %s is not UTF-8: no pattern of --save-plan would match it",
                QUOTED(tensor.name));
    return CODE_OK;
}

/* The types for which rules do not hold. */
static bool is_plain(const gufo_element_type *type)
{
    return type->block_elements == 1;
}

static void put_head(FILE *out, const quantize_options *o, const gufo_size_result *result)
{
    const gufo_file_type *type = result->file_type;
    const char *command = o->base.shared->command;
    bool is_made = type != NULL && (type->flags & GUFO_FILE_TYPE_NOT_MADE) == 0;
    bool merges = strcmp(command, "lora") == 0;

    fprintf(out, "# gufo %s --tensor-type-file THIS", merges ? "lora merge" : command);
    if (is_plain(result->main_type) && type != NULL)
        fprintf(out, " --override-kv general.file_type=int:%u", (unsigned)type->id);
    if (o->imatrix != NULL)
        fputs(" --imatrix IMATRIX", out);
    fprintf(out, "%s %s\n", merges ? " BASE ADAPTER -o OUT --type" : " IN OUT",
            is_plain(result->main_type) ? "Q8_0"
            : is_made                   ? type->name
                                        : result->main_type->name);
}

char *size_plan_text(const quantize_options *o, size_t *len)
{
    gufo_size_result result;
    gufo_size_tensor tensor;
    text_stream text;
    char *bytes;

    *len = 0;
    if (!text_stream_open(&text)) {
        (void)report_memory(NULL);
        return NULL;
    }
    (void)gufo_size_plan_at(o->size.plan, 0, &result);
    put_head(text.out, o, &result);
    for (uint64_t i = 0; gufo_size_plan_tensor_at(o->size.plan, 0, i, &tensor); i++) {
        if (tensor.is_kept)
            continue;
        put_pattern(text.out, tensor.name);
        fprintf(text.out, "=%s\n", tensor.loss.type->name);
    }
    bytes = text_stream_close(&text);
    *len = text.len;
    if (bytes == NULL)
        (void)report_memory(NULL);
    return bytes;
}
