/* Makes files of the formats before GGUF: small models, one for each header that occurred.
 *
 *     builder b = builder_new((encoding){3, false});
 *     legacy_marks marks;
 *     legacy_write(&b, legacy_sample_at(0), &marks);
 *
 * A copy of a sample can be changed before it is written: another name, another shape, a tensor
 * twice. */
#ifndef TEST_SUPPORT_LEGACY_WRITER_H
#define TEST_SUPPORT_LEGACY_WRITER_H

#include "builder.h"

enum { SAMPLE_TENSORS = 72, SAMPLE_FIELDS = 12, SAMPLE_MARKS = 500 };

typedef enum sample_flags {
    SAMPLE_TOKENS = 1,      /* a vocabulary */
    SAMPLE_COUNTED = 2,     /* its count before it */
    SAMPLE_SCORES = 4,      /* a score behind each token */
    SAMPLE_MERGES = 8,      /* their count and texts behind the tokens */
    SAMPLE_MELS = 16,       /* mel filters before the tokens */
    SAMPLE_ALIGNED = 64,    /* data begins at multiples of 32 */
    SAMPLE_SAME_ROWS = 128, /* each tensor has equal rows: those of starcoder's keys are */
    SAMPLE_MATRICES = 256,  /* matrices are of the sample's type; all else is F32 */
} sample_flags;

/* `shape` has a letter for each dimension: E, V, C, F, K, Q of the sample, or a digit. */
typedef struct sample_tensor {
    const char *name, *shape;
    const char *type; /* "Q4_1_O"; NULL: as the sample's flags say */
} sample_tensor;

typedef struct legacy_sample {
    const char *name;      /* of the file */
    const char *family;    /* what it is recognised as */
    const char *container; /* "GGJT" */
    uint32_t version;      /* 0: it has none */
    unsigned generation;
    uint32_t flags;   /* of sample_flags */
    const char *type; /* of matrices */
    uint32_t fields[SAMPLE_FIELDS], field_count;
    uint32_t tokens;
    struct {
        char letter;
        uint32_t size;
    } sizes[10];
    sample_tensor tensors[SAMPLE_TENSORS]; /* ended by one without a name */
} legacy_sample;

/* NULL past the last. */
const legacy_sample *legacy_sample_at(size_t index);
const legacy_sample *legacy_sample_named(const char *name);

/* Where a number of 32 bits is that says how much of something follows, or what it is. */
typedef struct legacy_mark {
    size_t at;
    const char *what;
} legacy_mark;

typedef struct legacy_marks {
    legacy_mark mark[SAMPLE_MARKS];
    size_t count;
    size_t records[SAMPLE_TENSORS]; /* where each tensor's description begins */
    size_t data[SAMPLE_TENSORS];    /* where its data begins, and ends */
    size_t ends[SAMPLE_TENSORS];
    size_t tensors;
} legacy_marks;

/* Appends the file to an empty builder of a little-endian encoding.  `marks` may be NULL. */
void legacy_write(builder *b, const legacy_sample *sample, legacy_marks *marks);

#endif
