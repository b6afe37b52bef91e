#include "schema/check.h"

void gufo_check_adapter(checker *c)
{
    (void)c;
}
