/* The interpreter as a whole: what its lower parts ask of the upper ones. */
#include "template/library/natives.h"

const language jinja = {
    .tables = {&filter_table, &test_table, &global_table},
    .methods = method_table,
    .evaluate = evaluate,
    .execute = execute,
    .assign = assign,
    .run_loop = execute_loop,
    .loop_length = loop_length,
    .loop_attribute = loop_attribute,
    .macro_attribute = macro_attribute,
};
