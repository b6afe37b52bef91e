#include "schema/check.h"

void gufo_check_imatrix(checker *c)
{
    (void)c;
}
