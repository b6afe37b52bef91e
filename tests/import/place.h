/* Folders and places on disk as arguments. */
#ifndef TEST_IMPORT_PLACE_H
#define TEST_IMPORT_PLACE_H

#include "import/model_folder.h"

#define FOLDER_AT(text) ((const source_folder[1]){model_folder(gufo_str_of(text), false)})
#define PLACE_AT(text) ((const model_place[1]){model_place_of(text, false)})

#endif
