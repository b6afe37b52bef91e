/* What general.* says of the tensors: a part of schema_check_general. */
#ifndef GUFO_SCHEMA_CHECK_WEIGHTS_H
#define GUFO_SCHEMA_CHECK_WEIGHTS_H

#include "schema/check.h"

void schema_check_weights(checker *c);

#endif
