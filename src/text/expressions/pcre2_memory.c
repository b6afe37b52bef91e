/* Memory for PCRE2 from the caller's allocator. */
#include "text/expressions/pcre2_memory.h"

#include "base/memory.h"

/* Zeroed: sanitizers do not see what compiled expressions write. */
static void *take(size_t size, void *allocator)
{
    return mem_zero(allocator, size);
}

static void give_back(void *block, void *allocator)
{
    mem_free(allocator, block);
}

pcre2_general_context *pcre2_memory_new(gufo_allocator *allocator)
{
    return pcre2_general_context_create(take, give_back, allocator);
}
