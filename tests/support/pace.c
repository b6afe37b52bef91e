#include "pace.h"

#include "check.h"

static bool is_pace(const char *name)
{
    const char *pace = getenv("GUFO_PACE");

    return pace != NULL && strcmp(pace, name) == 0;
}

unsigned all_some_or_few(unsigned all, unsigned some, unsigned few)
{
    if (is_pace("few"))
        return few;
    return is_pace("some") ? some : all;
}

unsigned all_or_few(unsigned all, unsigned few)
{
    return all_some_or_few(all, all, few);
}

void skip_if_emulated(void)
{
    if (!is_pace("few"))
        return;
    print_message("skipped: a processor is emulated\n");
    skip();
}
