/* Pre-tokenizers in a build without PCRE2, which only looks at vocabularies: they can be opened, and cut nothing. */
#include "text/pretokenizers/pretokenizer.h"

#include "base/error.h"
#include "base/memory.h"

struct pretokenizer {
    gufo_allocator allocator;
};

pretokenizer *pretokenizer_new(const char *shape, const gufo_allocator *allocator,
                               gufo_error *error)
{
    (void)shape;
    return mem_object(allocator, sizeof(pretokenizer), error);
}

void pretokenizer_free(pretokenizer *p)
{
    gufo_allocator allocator;

    if (p == NULL)
        return;
    allocator = p->allocator;
    mem_free(&allocator, p);
}
