/* Numbers for people, beside those for programs. */
#ifndef CLI_CORE_VALUES_NUMBER_H
#define CLI_CORE_VALUES_NUMBER_H

#include "gufo/print.h"

/* ---- for people ------------------------------------------------------------------------------ */

/* 1,235,814,400 is 1.24 B parameters, or 1.24 GB. */
typedef struct human_text {
    char text[40];
} human_text;

human_text human_grouped(uint64_t value); /* 1,235,814,400 */
human_text human_count(uint64_t value);   /* 1.24 B; below 1000 just the number */
/* Sizes of files and of what is in them, as the Hub shows them: 808 MB; below 1000 "512 bytes". */
human_text human_file_size(uint64_t value);
/* Memory, where G is 2^30: 770.3 MiB; below 1024 "512 bytes". */
human_text human_memory(uint64_t value);
/* "1 tensor" with the word `one`, "1,234 tensors" with `many` */
human_text human_counted(uint64_t count, const char *one, const char *many);

/* ---- sizes ----------------------------------------------------------------------------------- */

/* As people write them, one rule for all options but those about memory: K, M, G and T, or KB, MB, GB and
 * TB, are powers of 1000; Ki, Mi, Gi and Ti, or KiB and so on, are powers of 1024.  Letters may be small;
 * a number with a unit may have up to six decimals.  Alone it is a number of bytes.
 *
 *     2G = 2GB = 2,000,000,000     1.5GiB = 1,610,612,736     512Ki = 524,288
 *
 * False if the text is not a size below 2^64 bytes.  Drops a part of a byte. */
bool size_read(const char *text, uint64_t *out);

/* The same for memory, where all units are powers of 1024, as in docker, systemd and Slurm: a card of
 * 24G has 24 * 2^30 bytes. */
bool size_read_memory(const char *text, uint64_t *out);
/* The unit that a number below a mebibyte without one is likely to be in: "G" or "M"; NULL for other
 * texts. */
const char *size_likely_unit(const char *text);

#endif
