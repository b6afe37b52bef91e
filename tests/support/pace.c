#include "pace.h"

#include "check.h"

bool is_emulated(void)
{
    const char *emulated = getenv("GUFO_EMULATED");

    return emulated != NULL && *emulated != '\0';
}

unsigned all_or_few(unsigned all, unsigned few)
{
    return is_emulated() ? few : all;
}

unsigned all_some_or_few(unsigned all, unsigned some, unsigned few)
{
    const char *sanitizers = getenv("GUFO_SANITIZE");

    return all_or_few(sanitizers != NULL && *sanitizers != '\0' ? some : all, few);
}

void skip_if_emulated(void)
{
    if (!is_emulated())
        return;
    print_message("skipped: a processor is emulated\n");
    skip();
}
