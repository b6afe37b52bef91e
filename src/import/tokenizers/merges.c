/* The merges of a byte-level vocabulary: those of tokenizer.json, or the lines of merges.txt. */
#include "import/tokenizers/merges.h"

#include "base/error.h"
#include "text/formats/tokenizer_lists.h"

/* By the specification it may have none. */
static gufo_status warn_of_atoms(tokenizer_reading *r)
{
    return import_warn(r->import, r->error,
                       "the vocabulary has no merges: its tokens are atomic, and some readers "
                       "refuse it");
}

gufo_status merges_write(tokenizer_reading *r, const tokenizer_file *vocab)
{
    json_reading reading = {.allocator = *r->allocator,
                            .document = r->document,
                            .file = vocab,
                            .merges = vocab,
                            .error = r->error};
    tokenizer_file *lines = NULL;
    gufo_status status = GUFO_OK;

    if (vocab->merge_count == 0)
        status = reading_tables(r, "merges.txt", merges_txt_read, &lines);
    if (lines != NULL)
        reading.merges = lines;
    if (status == GUFO_OK && reading.merges->merge_count == 0)
        status = warn_of_atoms(r);
    else if (status == GUFO_OK)
        status = json_check_merges(&reading);
    if (status == GUFO_OK && reading.merges->merge_count > 0)
        status = json_keep_merges(&reading);
    tokenizer_file_free(lines);
    return status;
}
