#include "schema/check.h"

void gufo_check_name(checker *c)
{
    (void)c;
}
