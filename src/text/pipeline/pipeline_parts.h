/* What a pipeline is made of. */
#ifndef TEXT_PIPELINE_PARTS_H
#define TEXT_PIPELINE_PARTS_H

#include "text/pipeline/added_set.h"
#include "text/pipeline/steps/decoder.h"
#include "text/pipeline/steps/normalizer.h"
#include "text/pipeline/steps/post_processor.h"
#include "text/pipeline/steps/pre_tokenizer.h"
#include "text/pipeline/models/token_model.h"
#include "text/pipeline/pipeline.h"

/* A token that is found in normalized text by another text than its own: that one in the set. */
typedef struct renamed_token {
    uint32_t id, number;
} renamed_token;

struct pipeline {
    gufo_allocator allocator;
    added_token *added;
    uint32_t added_count;
    char *added_bytes;         /* contents */
    added_set raw, normalized; /* tokens found in a text as it came, and in a normalized one */
    renamed_token *renamed;    /* by id */
    uint64_t renamed_count, renamed_room;
    normalizer *normalizer;
    pre_tokenizer *pre_tokenizer;
    token_model *model;
    post_processor *post_processor;
    decoder *decoder;
};

#endif
