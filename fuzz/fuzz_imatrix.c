/* Fuzz target: open anything as an importance matrix, read all of it, merge it with itself and
 * write it in both formats. */
#include "walk.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Importance is refused or can be used. */
static void read_importance(const gufo_imatrix *m, uint64_t index, const gufo_imatrix_entry *entry,
                            const gufo_imatrix_statistics *s)
{
    uint64_t columns = entry->values / entry->matrices, found;
    float *means = malloc((size_t)columns * sizeof *means);
    bool all = true;

    must(means != NULL, "the machine has enough memory");
    must(gufo_imatrix_match(m, entry->name, columns, entry->matrices, &found, NULL) == GUFO_OK &&
             found == index,
         "an entry is found by its name");
    for (uint64_t i = 0; i < entry->matrices; i++) {
        if (gufo_imatrix_importance(m, index, columns, i, means, NULL) != GUFO_OK) {
            all = false;
            continue;
        }
        for (uint64_t k = 0; k < columns; k++)
            must(isfinite(means[k]) && means[k] >= 0, "importance can be used");
    }
    must(all == (s->nonfinite + s->negative + s->bad_counts == 0),
         "what is refused is told by the statistics");
    free(means);
}

static void read_all(const gufo_imatrix *m)
{
    gufo_imatrix_entry entry;
    gufo_imatrix_statistics s;
    gufo_str dataset;
    uint64_t count = 0, names = 0;

    for (; gufo_imatrix_entry_at(m, count, &entry); count++) {
        must(entry.matrices > 0 && entry.values % entry.matrices == 0, "matrices are of one size");
        must(gufo_imatrix_scan(m, count, &s, NULL) == GUFO_OK, "what is in memory can be read");
        must(s.unreached + s.bad_counts <= entry.matrices, "there are as many counts as matrices");
        read_importance(m, count, &entry, &s);
    }
    must(count == gufo_imatrix_entry_count(m), "as many entries as are counted");
    while (gufo_imatrix_dataset_at(m, names, &dataset))
        names++;
    must(gufo_imatrix_chunk_size(m) > 0, "a chunk has tokens");
}

static void write_all(const gufo_imatrix *m)
{
    static const gufo_run one_thread = {.threads = 1};
    int fd = open("/dev/null", O_WRONLY);

    must(fd >= 0, "there is a place to write to");
    for (unsigned format = 0; format < 2; format++) {
        gufo_job *job = gufo_job_imatrix(m, (gufo_imatrix_format)format, NULL, NULL);

        if (job != NULL) {
            gufo_status status = gufo_job_stream(job, fd, &one_thread, NULL);

            must(status == GUFO_OK || status == GUFO_E_RANGE,
                 "what was planned can be written, if numbers are not too large");
        }
        gufo_job_free(job);
    }
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    counter count = {0};
    gufo_allocator allocator = counting_allocator(&count);
    gufo_imatrix_options options = {.allocator = &allocator};
    gufo_imatrix_merge_options merging = {.allocator = &allocator};
    gufo_imatrix *m;

    must(copy != NULL, "the machine has enough memory");
    if (size > 0)
        memcpy(copy, data, size);
    m = gufo_imatrix_open_memory(copy, size, &options, NULL);
    must(count.peak <= (16u << 20) + 64 * size, "opening takes little memory");
    if (m != NULL) {
        gufo_imatrix *twice = gufo_imatrix_merge((const gufo_imatrix *[]){m, m}, 2, &merging, NULL);

        must(twice != NULL, "an importance matrix can be added to itself");
        read_all(m);
        read_all(twice);
        write_all(twice);
        gufo_imatrix_free(twice);
    }
    gufo_imatrix_free(m);
    must(count.held == 0 && count.blocks == 0, "everything is freed");
    free(copy);
    return 0;
}
