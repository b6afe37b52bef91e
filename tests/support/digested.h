/* What the digests of the codec are of, without a test around it: the module of the viewer codes it, too. */
#ifndef TEST_SUPPORT_DIGESTED_H
#define TEST_SUPPORT_DIGESTED_H

#include "gufo/codec.h"

/* Random numbers that are the same everywhere: integer arithmetic only. */
typedef struct number_source {
    uint64_t state;
} number_source;
uint64_t next_number(number_source *source);
/* Near a normal distribution with standard deviation 0.02: a sum of 12 uniform ones. */
float next_weight(number_source *source);

typedef enum digested_mode { DIGESTED_DECODE, DIGESTED_PLAIN, DIGESTED_IMPORTANCE } digested_mode;
enum { DIGESTED_MODES = 3, DIGESTED_ROOM = 6 * 1024 * 8 };

/* "decode", "plain", "importance" */
const char *digested_mode_name(digested_mode mode);
/* Whether digests.tsv has a row for it. */
bool digested_exists(const gufo_element_type *type, digested_mode mode, gufo_effort effort);
/* Decodes blocks of random bytes, or encodes weights: the bytes that come of it in `out`, and their number; 0 if that
 * fails. */
size_t digested_bytes(const gufo_element_type *type, digested_mode mode, gufo_effort effort,
                      gufo_cpu cpu, uint8_t out[DIGESTED_ROOM]);

#endif
