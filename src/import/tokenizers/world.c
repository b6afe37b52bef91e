/* Vocabularies of RWKV World, which the room text reads. */
#include "base/error.h"
#include "import/tokenizers/readers.h"
#include "text/formats/rwkv_world.h"

gufo_status read_rwkv(tokenizer_reading *r)
{
    buffer bytes = {.allocator = r->allocator};
    uint64_t size = reading_size(r, "vocab_size");
    bool found;
    gufo_status status = reading_file(r, WORLD_FILE, &bytes, &found);

    if (status == GUFO_OK && !found)
        status = reading_pass(r, WORLD_FILE, NULL);
    else if (status == GUFO_OK && size > UINT32_MAX)
        status = refuse(r->error, GUFO_E_LIMIT, "the vocabulary would be too large");
    else if (status == GUFO_OK) {
        status = rwkv_world_document((gufo_str){(const char *)bytes.data, bytes.len},
                                     (uint32_t)size, r->allocator, r->document, r->error);
        if (status != GUFO_OK)
            reading_name_file(r, WORLD_FILE);
    }
    buffer_free(&bytes);
    return status;
}
