#include "schema/check.h"

void gufo_check_tokenizer(checker *c)
{
    (void)c;
}
