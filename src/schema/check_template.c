#include "schema/check.h"

void gufo_check_templates(checker *c)
{
    (void)c;
}
