/* Numbers for people: 1,235,814,400 is 1.24 B parameters, 770.3 MiB. */
#ifndef CLI_CORE_HUMAN_H
#define CLI_CORE_HUMAN_H

#include <stdint.h>

typedef struct human_text {
    char text[40];
} human_text;

human_text human_grouped(uint64_t value); /* 1,235,814,400 */
human_text human_count(uint64_t value);   /* 1.24 B; below 1000 just the number */
human_text human_bytes(uint64_t value);   /* 770.3 MiB; below 1024 "512 bytes" */
human_text human_decimal(uint64_t value); /* 808 MB; below 1000 "512 bytes" */
human_text human_sizes(uint64_t value);   /* both: "24.0 GB (22.4 GiB)" */
/* "1 tensor" with the word `one`, "1,234 tensors" with `many` */
human_text human_counted(uint64_t count, const char *one, const char *many);

#endif
