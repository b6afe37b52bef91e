/* Fuzz target: anything as the journal of an interrupted edit, beside a small model that is whole
 * and beside one that is half written.  It must be distinguished from other files, and recovery changes the file
 * only into one that can be opened. */
#include "place.h"
#include "walk.h"

#include "gufo/edit.h"

#include <string.h>
#include <unistd.h>

/* Version 3, no tensors, one key: "k", a uint32; padding. */
static const uint8_t model[64] = {'G', 'G', 'U', 'F', 3,   0, 0, 0, 0, 0, 0, 0, 0, 0,
                                  0,   0,   1,   0,   0,   0, 0, 0, 0, 0, 1, 0, 0, 0,
                                  0,   0,   0,   0,   'k', 4, 0, 0, 0, 7, 0, 0, 0};

/* `half`: as an edit leaves it that has cleared the magic. */
static void recover(const uint8_t *data, size_t size, bool half)
{
    const path_text path = place_file("m.gguf"), journal = place_file("m.gguf.gufo-journal");
    uint8_t before[sizeof model];
    gufo_edit_state state;
    gufo_edit_recovery recovery;
    gufo_status status;
    gufo_error error;
    gufo_model *file;

    memcpy(before, model, sizeof model);
    if (half)
        memset(before, 0, 4);
    place_put("m.gguf", before, sizeof before);
    place_put("m.gguf.gufo-journal", data, size);
    state = gufo_edit_pending(path.text);
    must(state != GUFO_EDIT_STATE_LIVE, "nobody edits it");
    status = gufo_edit_recover(path.text, NULL, &recovery, &error);
    must(status == GUFO_OK || access(journal.text, F_OK) == 0, "a journal that was not used stays");
    must(status != GUFO_OK || gufo_edit_pending(path.text) == GUFO_EDIT_STATE_SETTLED,
         "what is recovered is settled");
    must(state != GUFO_EDIT_STATE_SETTLED || recovery != GUFO_EDIT_RECOVERED_NEW,
         "what is settled is not changed");
    if (status == GUFO_OK && recovery == GUFO_EDIT_RECOVERED_NEW) {
        file = gufo_model_open(path.text, NULL, NULL);
        must(file != NULL || size < sizeof model, "an edit that is complete leaves a model");
        gufo_model_free(file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    recover(data, size, false);
    recover(data, size, true);
    return 0;
}
