/* Entries that tie the shards of a set together. */
#include "format/document/document.h"

#include <inttypes.h>

#include "base/error.h"

static const char *const shard_keys[] = {GUFO_SPLIT_NO_KEY, GUFO_SPLIT_COUNT_KEY,
                                         GUFO_SPLIT_TENSORS_KEY, GUFO_SPLIT_ID_KEY};

enum { SHARD_KEYS = sizeof shard_keys / sizeof *shard_keys };

static gufo_status check_shard(uint64_t index, uint64_t count, uint64_t tensors, gufo_error *error)
{
    if (count > GUFO_MAX_SHARDS)
        return refuse(error, GUFO_E_LIMIT, "more than %s shards would be needed",
                      GROUPED(GUFO_MAX_SHARDS));
    if (index >= count)
        return refuse(error, GUFO_E_ARGUMENT, "the model has no shard %" PRIu64 " of %" PRIu64,
                      index, count);
    if (tensors > INT32_MAX)
        return refuse(error, GUFO_E_LIMIT, "split.tensors.count cannot hold so many tensors");
    return GUFO_OK;
}

gufo_status gufo_document_set_shard(gufo_document *document, uint64_t index, uint64_t count,
                                    uint64_t tensors, uint64_t id, gufo_error *error)
{
    const gufo_value values[SHARD_KEYS] = {{.type = GUFO_VALUE_UINT16, .as.u = index},
                                           {.type = GUFO_VALUE_UINT16, .as.u = count},
                                           {.type = GUFO_VALUE_INT32, .as.i = (int64_t)tensors},
                                           {.type = GUFO_VALUE_UINT64, .as.u = id}};
    gufo_status status = check_shard(index, count, tensors, error);
    document_value value;

    /* With room for all, no other call fails: numbers and these keys need no memory. */
    if (status == GUFO_OK)
        status = named_list_reserve(&document->entries, SHARD_KEYS, error);
    for (size_t i = 0; i < SHARD_KEYS && status == GUFO_OK; i++) {
        if (values[i].type == GUFO_VALUE_UINT64 && id == 0) {
            (void)gufo_document_remove_key(document, gufo_str_of(shard_keys[i]));
            continue;
        }
        status = document_value_set(&value, &values[i], &document->allocator, error);
        if (status == GUFO_OK)
            status = document_put(document, gufo_str_of(shard_keys[i]), false, &value, error);
    }
    return status;
}

void gufo_document_remove_shard_keys(gufo_document *document)
{
    for (size_t i = 0; i < SHARD_KEYS; i++)
        (void)gufo_document_remove_key(document, gufo_str_of(shard_keys[i]));
}

bool document_is_model_key(void *unused, gufo_str key)
{
    (void)unused;
    for (size_t i = 0; i < SHARD_KEYS; i++)
        if (gufo_str_equal(key, gufo_str_of(shard_keys[i])))
            return false;
    return true;
}
