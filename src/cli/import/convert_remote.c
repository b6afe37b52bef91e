/* Folders of models elsewhere, for gufo convert: a cache of this machine comes first. */
#include "cli/import/convert_remote.h"

#include <stdlib.h>
#include <string.h>

#include "cli/core/files/path.h"
#include "cli/core/files/remote.h"
#include "cli/core/terminal/report.h"

/* A repository is called as one in a cache is, so that both become the same file. */
static char *name_of(const char *address)
{
    static const char scheme[] = "hf://", models[] = "models/";
    const char *name = address + sizeof scheme - 1, *slash;

    if (strncmp(address, scheme, sizeof scheme - 1) != 0)
        return NULL;
    if (strncmp(name, models, sizeof models - 1) == 0)
        name += sizeof models - 1;
    slash = strchr(name, '/');
    /* A folder in a repository has a name of its own. */
    if (slash == NULL || strchr(slash + 1, '/') != NULL)
        return NULL;
    return path_format("https://huggingface.co/%.*s", (int)strcspn(name, "@"), name);
}

int convert_remote_open(convert_remote *remote, const char *address)
{
    gufo_error error;
    gufo_remote *client = remote_client(&error);
    gufo_place place;

    *remote = (convert_remote){.path = NULL};
    if (client == NULL || gufo_remote_find(client, address, &place, &error) != GUFO_OK)
        return report_refusal(remote_shown(address), &error);
    if (place.is_local) {
        remote->path = path_format("%s", place.path);
        return remote->path != NULL ? CODE_OK : CODE_FAILED;
    }
    if (gufo_remote_folder(client, address, &remote->folder, &error) != GUFO_OK)
        return report_refusal(remote_shown(address), &error);
    remote->called = name_of(address);
    return CODE_OK;
}

void convert_remote_close(convert_remote *remote)
{
    if (remote->folder.close != NULL)
        remote->folder.close(remote->folder.context);
    free(remote->path);
    free(remote->called);
    *remote = (convert_remote){.path = NULL};
}
