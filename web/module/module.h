/* The viewer's module: what the page asks of libgufo, as functions of numbers and texts.
 *
 *     page  --names, sizes, texts-->  exports.c  -->  page.c, show.c, check.c, vocabulary.c, sample.c, compare.c,
 *     page  <--HTML, JSON, a script--     |          losses.c, script.c
 *     page  <--bytes of a file, please--  host_read, which JavaScript answers at once
 *
 * The page has up to two models, each of one file or of the files of a set.  The same functions are in a native
 * program (native.c), whose texts tests compare with those of the module. */
#ifndef WEB_MODULE_H
#define WEB_MODULE_H

#include "cli/core/values/json.h"
#include "gufo/check.h"
#include "gufo/compare.h"
#include "gufo/findings.h"
#include "gufo/format.h"

/* Bytes [offset, offset + size) of file `number` into `buffer`; false: they could not be read.  Offsets are doubles,
 * which are exact up to 2^53: JavaScript has no larger sizes of files. */
bool host_read(uint32_t number, double offset, void *buffer, size_t size);

enum {
    VIEWER_MODELS = 2,
    VIEWER_FILES = 1024, /* of a set */
};

typedef struct viewer_file {
    uint32_t number; /* by which the host knows it */
    char *name;
    gufo_source source;
} viewer_file;

typedef struct viewer_model {
    viewer_file files[VIEWER_FILES];
    gufo_input inputs[VIEWER_FILES]; /* the same */
    size_t file_count;
    gufo_model *model;
    struct findings *findings;
    struct losses *losses; /* of the first model; NULL: none is known */
} viewer_model;

/* A text that is written, and the writer of JSON into it. */
typedef struct answer {
    FILE *out;
    char *text;
    size_t len;
} answer;

bool answer_begin(answer *a);
/* False without memory: the text is freed, and empty then. */
bool answer_end(answer *a);
void answer_free(answer *a);

/* Each writes one JSON object, without a newline. */
void show_write(const viewer_model *m, uint64_t array_limit, json_writer *j);
/* "error": why a call failed. */
void error_write(json_writer *j, const gufo_error *error);

/* What checks have found, which begins while a model is opened. */
typedef struct findings findings;
findings *findings_new(gufo_error *error);
void findings_free(findings *f);
gufo_finding_fn findings_add; /* the context is a findings */

typedef struct losses losses;

/* The page of `gufo report`: what JavaScript does not draw.  With findings, tokenizer and templates, if checks were made, and
 * with losses against `other`, if some are known. */
gufo_status page_write(const viewer_model *m, const viewer_model *other, FILE *out,
                       gufo_error *error);
bool findings_are_complete(const findings *f);
/* Does the checks that were not done yet. */
gufo_status findings_check(viewer_model *m, gufo_error *error);
const gufo_finding_list *findings_list(const findings *f);
/* What the command says beside a finding, and the command that fixes it; empty: nothing.  False without memory. */
bool findings_advise(const viewer_model *m, const gufo_finding *finding, answer *words,
                     answer *command);

/* Tokens whose text contains `filter`, `count` of them from the one that is the `first`th. */
gufo_status vocabulary_write(const gufo_model *model, gufo_str filter, uint64_t first,
                             uint64_t count, json_writer *j, gufo_error *error);

/* Rows of a tensor in memory, at most `limit` bytes of them, as a model with one tensor. */
typedef struct sample {
    gufo_model *model;
    gufo_tensor tensor; /* whose rows these are */
    gufo_tensor shown;  /* of `model` */
    uint8_t *bytes;
    uint64_t row_bytes, rows, all_rows;
} sample;

/* Takes runs of rows that are spread over the tensor; of two tensors of one shape the same ones, where
 * `beside` is the other one or NULL.  Freed with sample_free, also after a failure. */
gufo_status sample_take(sample *s, const gufo_model *model, const gufo_tensor *tensor,
                        const gufo_tensor *beside, uint64_t limit, gufo_error *error);
void sample_free(sample *s);

gufo_status statistics_write(const gufo_model *model, uint64_t index, uint64_t limit,
                             json_writer *j, gufo_error *error);

/* What differs between two models, by keys and by types and shapes of tensors; no data is read. */
gufo_status compare_write(const gufo_model *a, const gufo_model *b, json_writer *j,
                          gufo_error *error);
/* How far apart the numbers of a tensor are in two models, of at most `limit` bytes of each. */
gufo_status sample_compare(const gufo_model *a, const gufo_model *b, const gufo_tensor *tensor,
                           uint64_t limit, gufo_tensor_difference *out, bool *sampled,
                           gufo_error *error);

/* What a model loses of an original, as far as somebody asked.  Freed when one of the two is closed. */
void losses_free(losses *l); /* NULL is allowed */
/* Compares tensor `index` of the model with that of its name in the original, and keeps what it loses. */
gufo_status losses_add(viewer_model *m, const gufo_model *original, uint64_t index, uint64_t limit,
                       json_writer *j, gufo_error *error);
/* What the page takes of it; *original names the other model, and says what was sampled. */
const gufo_candidate_losses *losses_record(losses *l, const gufo_model *model,
                                           const char *original_name, gufo_str *original);

/* A script of `gufo edit` from changes: OP, KEY, TYPE and VALUE of each, all ended by NUL bytes.  A change that the
 * command would not take is an error. */
gufo_status script_write(const viewer_model *m, gufo_str changes, FILE *out, gufo_error *error);

/* A failure of the module itself. */
__attribute__((format(printf, 3, 4))) gufo_status viewer_refuse(gufo_error *error,
                                                                gufo_status status,
                                                                const char *format, ...);

#endif
