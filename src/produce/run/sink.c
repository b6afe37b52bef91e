/* Bytes in order. */
#include "produce/run/run.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/files/output.h"

gufo_status sink_send(sink *s, const void *bytes, uint64_t size, gufo_error *error)
{
    gufo_status status = output_write_at(s->fd, GUFO_NO_OFFSET, bytes, (size_t)size, error);

    s->position += size;
    s->failed = status != GUFO_OK;
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_OUTPUT, 0, NULL);
    return status;
}

gufo_status sink_pad(sink *s, uint64_t place, gufo_error *error)
{
    static const uint8_t zeros[4096];
    gufo_status status = GUFO_OK;

    while (s->position < place && status == GUFO_OK)
        status = sink_send(s, zeros, smaller(place - s->position, sizeof zeros), error);
    return status;
}
