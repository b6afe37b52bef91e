/* Memory for PCRE2 from the caller's allocator. */
#ifndef TEXT_PCRE2_MEMORY_H
#define TEXT_PCRE2_MEMORY_H

#include <pcre2.h>

#include "gufo/base.h"

/* NULL without memory.  `allocator` must live as long. */
pcre2_general_context *pcre2_memory_new(gufo_allocator *allocator);

#endif
