/* Numbers for people: 1,235,814,400 is 1.24 B parameters, or 1.24 GB. */
#ifndef CLI_CORE_VALUES_HUMAN_H
#define CLI_CORE_VALUES_HUMAN_H

#include <stdint.h>

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

#endif
