/* A build without Jansson and PCRE2 reads no tokenizer.json: no vocabulary has a pipeline. */
#include "text/opening/opening.h"

#include "base/error.h"
#include "text/pipeline/pipeline.h"

gufo_status original_fill(gufo_vocab *v, gufo_str json, gufo_str config, unsigned threads,
                          gufo_error *error)
{
    (void)v, (void)json, (void)config, (void)threads;
    return refuse(error, GUFO_E_TYPE, "this program does not read tokenizer.json");
}

void pipeline_free(pipeline *p)
{
    (void)p;
}

const char *pipeline_model_name(const pipeline *p)
{
    (void)p;
    return "";
}

gufo_status pipeline_decode(const pipeline *p, const gufo_vocab *v, const uint32_t *ids,
                            size_t count, uint32_t flags, gufo_text *out, gufo_error *error)
{
    (void)p, (void)v, (void)ids, (void)count, (void)flags, (void)out;
    return refuse(error, GUFO_E_TYPE, "there is no tokenizer.json");
}
