/* The file that contains a function. To be included first. */
#ifndef STANDIN_HOME_H
#define STANDIN_HOME_H

#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* The name of the file that contains a function. */
static const char *home_of(void *function)
{
    const char *slash;
    Dl_info info;

    if (dladdr(function, &info) == 0)
        return "nowhere";
    slash = strrchr(info.dli_fname, '/');
    return slash != NULL ? slash + 1 : info.dli_fname;
}

#endif
