#include "schema/check.h"

void gufo_check_general(checker *c)
{
    (void)c;
}
