/* Sizes as people write them, one rule for all options but those about memory: K, M, G and T, or KB, MB, GB and TB, are
 * powers of 1000; Ki, Mi, Gi and Ti, or KiB and so on, are powers of 1024.  Letters may be small;
 * a number with a unit may have up to six decimals.  Alone it is a number of bytes.
 *
 *     2G = 2GB = 2,000,000,000     1.5GiB = 1,610,612,736     512Ki = 524,288 */
#ifndef CLI_CORE_VALUES_SIZE_H
#define CLI_CORE_VALUES_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* False if the text is not a size below 2^64 bytes.  Drops a part of a byte. */
bool size_read(const char *text, uint64_t *out);

/* The same for memory, where all units are powers of 1024, as in docker, systemd and Slurm: a card of
 * 24G has 24 * 2^30 bytes. */
bool size_read_memory(const char *text, uint64_t *out);
/* The unit that a number below a mebibyte without one is likely to be in: "G" or "M"; NULL for other
 * texts. */
const char *size_likely_unit(const char *text);

#endif
