#include "schema/check.h"

void gufo_check_architecture(checker *c)
{
    (void)c;
}
