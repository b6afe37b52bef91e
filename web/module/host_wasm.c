/* The host of the module is JavaScript, which answers at once (web/page/worker.js). */
#include "module.h"

__attribute__((import_module("host"), import_name("read"))) int host_import_read(uint32_t number,
                                                                                 double offset,
                                                                                 void *buffer,
                                                                                 size_t size);

bool host_read(uint32_t number, double offset, void *buffer, size_t size)
{
    return host_import_read(number, offset, buffer, size) != 0;
}
