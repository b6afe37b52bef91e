/* What must hold whenever a file is refused. */
#ifndef TEST_SUPPORT_REFUSED_H
#define TEST_SUPPORT_REFUSED_H

#include "builder.h"

/* Memory that opening may use for a small broken file, whatever it claims. */
#define REFUSED_PEAK (64 * 1024)

/* Fails unless strict opening refuses the file with this rule, its status, and the byte offset,
 * from memory (with little memory used and all of it given back) and in other ways; and unless a
 * lenient opening reports the same fault, survives, and can be walked. */
void check_refused(const builder *b, const char *rule, gufo_status status, uint64_t offset,
                   const char *label);

/* The same, with the mark of the builder as offset. */
void check_refused_at_mark(const builder *b, const char *rule, gufo_status status,
                           const char *label);

#endif
