/* Addresses in a build without libgufo_remote: they are known, so that the report says what is missing. */
#include "cli/core/files/remote.h"

#include "cli/core/terminal/report.h"

#include <string.h>
#include <strings.h>

bool remote_is(const char *path)
{
    static const char *const schemes[] = {"https://", "http://", "hf://", "ollama://", "ms://"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncasecmp(path, schemes[i], strlen(schemes[i])) == 0)
            return true;
    return false;
}

bool remote_is_folder(const char *path)
{
    (void)path;
    return false;
}

gufo_remote *remote_client(gufo_error *error)
{
    (void)error_set(error, GUFO_E_ARGUMENT, 0,
                    "this is a minimal build of gufo, without libcurl, which reads addresses: "
                    "install the package "
                    "libcurl4-openssl-dev and build it without -DGUFO_MINIMAL=ON");
    return NULL;
}

const char *remote_spelled(const char *path)
{
    return path;
}

const char *remote_shown(const char *path)
{
    return path;
}

bool remote_refuse_edit(const char *path)
{
    (void)path;
    return false;
}

gufo_model *remote_open(const char *path, const gufo_open_options *options, gufo_error *error)
{
    (void)path, (void)options;
    (void)remote_client(error);
    return NULL;
}

gufo_status remote_list(const char *path, gufo_remote_file_fn *use, void *context,
                        uint64_t *left_out, gufo_error *error)
{
    (void)path, (void)use, (void)context, (void)left_out;
    (void)remote_client(error);
    return error->code;
}

size_t remote_begin(const char *path, void *bytes, size_t size)
{
    (void)path, (void)bytes, (void)size;
    return 0;
}
