#include "pace.h"

#include "check.h"

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && *value != '\0';
}

bool is_emulated(void)
{
    return is_set("GUFO_EMULATED");
}

unsigned all_or_few(unsigned all, unsigned few)
{
    return is_emulated() ? few : all;
}

unsigned all_some_or_few(unsigned all, unsigned some, unsigned few)
{
    return all_or_few(is_set("GUFO_SANITIZE") ? some : all, few);
}

void skip_if_emulated(void)
{
    if (!is_emulated())
        return;
    print_message("skipped: a processor is emulated\n");
    skip();
}
