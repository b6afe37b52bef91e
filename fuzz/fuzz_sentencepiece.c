/* Fuzz target: read anything as a SentencePiece model. */
#include "walk.h"

#include "base/memory.h"
#include "import/tokenizers/sentencepiece.h"

static void look(const sentencepiece *model, gufo_str file)
{
    must(model->count > 0, "a model has pieces");
    must(model->model_type >= 1 && model->model_type <= 4, "the type of a model is known");
    for (uint64_t i = 0; i < model->count; i++) {
        gufo_str text = model->pieces[i].text;

        must(text.len == 0 || (text.data >= file.data && text.data < file.data + file.len &&
                               text.len <= (size_t)(file.data + file.len - text.data)),
             "a piece is in the file");
        must(model->pieces[i].type >= 1 && model->pieces[i].type <= 6,
             "the type of a piece is known");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gufo_str file = {(const char *)data, size};
    sentencepiece model;
    gufo_error error;

    if (sentencepiece_read(file, &default_allocator, &model, &error) == GUFO_OK) {
        look(&model, file);
    } else {
        must(error.message[0] != '\0', "a failure says why");
        must(error.offset == GUFO_NO_OFFSET || error.offset <= size, "its place is in the file");
    }
    sentencepiece_free(&model);
    return 0;
}
