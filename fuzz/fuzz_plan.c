/* Fuzz target: anything as the plan of a job in parts, as it is and with the hash that it needs at its end.  What is read
 * can be asked for everything, and its text is read again as the same plan. */
#include "walk.h"

#include "base/hash.h"
#include "gufo/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ask_parts(const gufo_plan *plan)
{
    gufo_plan_output output;
    gufo_part_range range;
    gufo_part_info info;
    uint64_t size;

    for (size_t i = 0; gufo_plan_output_at(plan, i, &output); i++)
        must(output.name != NULL && !output.complete, "an output has a name, and no part yet");
    for (uint64_t p = 0; gufo_plan_part_at(plan, p, &info); p++) {
        must(p < gufo_plan_part_count(plan), "parts end");
        must(info.state == GUFO_PART_WAITING && info.bytes_done == 0, "nobody has looked");
        size = 0;
        for (size_t i = 0; gufo_plan_range_at(plan, p, i, &range); i++) {
            must(gufo_plan_output_at(plan, range.output, &output), "a range is of an output");
            must(range.from < range.to && range.to <= output.size, "a range is in its output");
            size += range.to - range.from;
        }
        must(size == info.size, "the size of a part is that of its ranges");
    }
}

static void ask(const gufo_plan *plan)
{
    gufo_text text = {0};
    gufo_plan *again;
    gufo_error error;

    must(gufo_plan_part_count(plan) > 0, "a plan has parts");
    ask_parts(plan);
    for (size_t i = 0; gufo_plan_argument(plan, i) != NULL; i++)
        (void)gufo_plan_note_find(plan, gufo_plan_argument(plan, i));
    (void)gufo_plan_folder(plan);
    must(gufo_plan_write(plan, &text, &error) == GUFO_OK, "there is memory");
    again = gufo_plan_read(text.data, text.len, &error);
    must(again != NULL, "what was read is read again");
    must(gufo_plan_compare(plan, again, &error) == GUFO_OK, "it is the same plan");
    gufo_plan_free(again);
    gufo_text_free(&text);
}

static void try_text(const char *text, size_t size)
{
    gufo_error error;
    gufo_plan *plan = gufo_plan_read(text, size, &error);

    if (plan != NULL)
        ask(plan);
    gufo_plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { END = 32 };
    char *text = malloc(size + END);

    must(text != NULL, "there is memory");
    memcpy(text, data, size);
    try_text(text, size);
    try_text(text, size + (size_t)snprintf(text + size, END, "end\t%016" PRIx64 "\n",
                                           xxh64_of((gufo_str){text, size})));
    free(text);
    return 0;
}
