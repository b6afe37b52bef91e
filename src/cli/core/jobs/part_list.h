/* Lists of parts of a plan, as tables and JSON. */
#ifndef CLI_CORE_JOBS_PART_LIST_H
#define CLI_CORE_JOBS_PART_LIST_H

#include "cli/core/records/record.h"

#include "gufo/plan.h"

/* Which parts, by their state: a bit each. */
#define PART_BIT(state) (1U << (unsigned)(state))
enum { PART_ALL_STATES = 31, PART_MISSING = 31 & ~(1 << GUFO_PART_COMPLETE) };

/* Parts of a plan. */
typedef struct part_list {
    const gufo_plan *plan;
    uint64_t *numbers; /* owned */
    uint64_t count;
    char **files; /* owned: where the outputs are here, in their order */
    size_t file_count;
} part_list;

/* Those whose state is one of these, and that worker `share` makes (NULL: all).  The files are those that workers write to,
 * beside `out`, or in the folder that it is; where that is NULL, part_list_name has to be called.  CODE_OK, or another
 * code after a report; part_list_free in any case. */
int part_list_find(part_list *list, const gufo_plan *plan, const char *out, unsigned states,
                   const gufo_part *share);
/* Lets the files be the outputs as a plan of the same job spells them. */
int part_list_name(part_list *list, const gufo_plan *here);
void part_list_free(part_list *list);

/* A table; `planned`: nothing is done yet, and what they write is shown. */
void part_list_print(const part_list *list, bool planned);
/* A member of a JSON object. */
void part_list_write(json_writer *j, const char *key, const part_list *list, bool planned);

#endif
