/* A model that is written again, as the room sees it.
 *
 *     split.c merge.c endian.c strip.c    what is to be written: outputs and their pieces
 *     extract.c extract_headers.c         the same in formats that are not GGUF
 *     copy.c                              life, and what callers ask
 *     copy_headers.c                      what stands before the data of a GGUF file
 *     copy_normal.c                       what will not be as it was
 *     copy_units.c                        pieces cut into units of work, and how one is made
 *     copy_produce.c                      all units of one output, to a file or to a stream
 *     copy_targets.c                      several files that appear together or not at all
 *     copy_run.c                          all of it in a row
 *
 * An output is a header and pieces, one per tensor; an output has many units of work:
 *
 *     output   | header | piece 0      | piece 1 | piece 2           |
 *     unit              | 0  | 1  | 2  |    3    | 4  | 5  | 6  | 7  |                       */
#ifndef GUFO_EDIT_COPY_H
#define GUFO_EDIT_COPY_H

#include "base/output.h"
#include "gufo/edit.h"

/* How the bytes of a piece come about. */
typedef enum piece_method {
    PIECE_MOVE,   /* as they are */
    PIECE_SWAP,   /* with every number turned */
    PIECE_DECODE, /* as numbers of type `target`, little-endian */
} piece_method;

typedef struct piece {
    gufo_tensor source;
    size_t shard;                  /* of the input */
    const gufo_element_type *type; /* NULL: nobody knows it; it is only moved */
    piece_method method;
    uint32_t target;
    uint64_t place, size; /* in the output */

    /* Set by piece_cut. */
    uint64_t first_unit, units; /* numbered within the output */
    uint64_t unit_from,
        unit_size; /* bytes of a unit, but for the last: in the tensor, in the output */
    uint64_t
        group_bytes; /* PIECE_DECODE: of rows that can only be decoded together; 0: any blocks */
} piece;

typedef struct copy_output {
    uint64_t first_piece, piece_count;
    uint64_t size; /* of the file */
    uint64_t data_size;
    uint64_t units;
} copy_output;

/* How the outputs are named. */
typedef enum copy_naming {
    NAMED_FILE,   /* by the path */
    NAMED_PREFIX, /* as shards whose names begin with the path */
    NAMED_SET,    /* as shards, of which the path is the first */
} copy_naming;

struct gufo_copy {
    gufo_allocator allocator;
    const gufo_model *input;
    piece *pieces; /* of all outputs */
    uint64_t piece_count;
    copy_output *outputs;
    size_t output_count;
    size_t output_room;
    uint64_t total; /* bytes of all pieces */
    copy_naming naming;
    uint32_t normalised; /* of gufo_normalised */

    /* GGUF: */
    gufo_encoding encoding;
    bool shard_to_shard; /* output i has the metadata of shard i; else output 0 that of shard 0 */
    bool adds_split_keys;
    uint64_t split_id;
    bool (*keeps_key)(gufo_str key);

    /* Other formats: */
    bool foreign;
    uint8_t *header;
    size_t header_size;

    /* While it is written. */
    output *files;
    char **paths; /* of the outputs, as they are named in errors */
    const char *volatile *temporaries;
    const char *failed_path;
    bool used; /* has been run */
};

/* ---- planning ------------------------------------------------------------------------------- */

/* The three established keys, and ours. */
#define SPLIT_NO_KEY "split.no"
#define SPLIT_COUNT_KEY "split.count"
#define SPLIT_TENSORS_KEY "split.tensors.count"
#define SPLIT_ID_KEY "gufo.split.id"

/* All keys but those that tell of a split. */
bool is_no_split_key(gufo_str key);

/* A plan without outputs; `encoding` is that of the input, as it can be written.  NULL without
 * memory. */
gufo_copy *copy_new(const gufo_model *input, const gufo_allocator *allocator, gufo_error *error);
/* Room for the pieces of `count` tensors; a piece for tensor `index` of the input; one for each. */
gufo_status copy_reserve_pieces(gufo_copy *c, uint64_t count, gufo_error *error);
piece *copy_add_piece(gufo_copy *c, uint64_t index, piece_method method);
gufo_status copy_add_all_pieces(gufo_copy *c, piece_method method, gufo_error *error);
/* Adds an output that is made of the next `count` pieces. */
gufo_status copy_add_output(gufo_copy *c, uint64_t count, gufo_error *error);
/* Lays out all GGUF outputs, cuts the pieces and notes what is normalised.  On failure the copy is
 * freed; returns it, or NULL. */
gufo_copy *copy_planned(gufo_copy *c, gufo_status status, gufo_error *error);

/* A writer that holds the header of a GGUF output, laid out: to be freed. */
gufo_status copy_header(const gufo_copy *c, size_t index, gufo_writer **header, gufo_error *error);

/* Adds to c->normalised what the input is not like. */
gufo_status copy_note_normalised(gufo_copy *c, gufo_error *error);

/* Whether the decoder can read the type. */
bool type_decodes(const gufo_element_type *type);

/* Cuts a piece whose method is known, numbering units from `first_unit` on.  GUFO_E_LIMIT for rows
 * that are too long for the memory of a unit. */
gufo_status piece_cut(piece *p, uint64_t first_unit, gufo_error *error);

/* ---- units ---------------------------------------------------------------------------------- */

/* What a thread works with. */
typedef struct copy_worker {
    uint8_t *source, *made; /* room for any unit before and after */
    size_t source_size;
    uint64_t failed_unit; /* UINT64_MAX: none */
    size_t failed_shard;  /* SIZE_MAX: the output */
} copy_worker;

/* A unit of an output, found by its number. */
typedef struct copy_unit {
    const piece *piece;
    uint64_t from, from_size; /* in the tensor */
    uint64_t place, size;     /* in the output */
} copy_unit;

copy_unit copy_unit_at(const gufo_copy *c, const copy_output *out, uint64_t number);

/* Bytes of the buffers that any unit of the copy needs. */
typedef struct unit_buffers {
    uint64_t source, made;
} unit_buffers;
unit_buffers copy_buffers(const gufo_copy *c);

/* Reads and makes a unit: *bytes are its bytes, in one of the worker's buffers. */
gufo_status unit_make(const gufo_copy *c, const copy_unit *unit, copy_worker *worker, gufo_cpu cpu,
                      const uint8_t **bytes, gufo_error *error);
/* Makes a unit and writes it to a file. */
gufo_status unit_write(const gufo_copy *c, const copy_unit *unit, copy_worker *worker, gufo_cpu cpu,
                       int fd, gufo_error *error);

/* ---- writing -------------------------------------------------------------------------------- */

typedef struct copy_producer {
    gufo_copy *copy;
    const gufo_copy_run_options *options;
    copy_worker *workers;
    uint8_t *memory; /* of all of them */
    unsigned threads;
    uint64_t done;             /* bytes */
    const copy_output *output; /* that is being written */
    int fd;
    uint64_t first_unit; /* a stream: of the batch that is made */
    uint64_t position;   /* a stream: bytes that were sent */
} copy_producer;

gufo_status producer_start(copy_producer *p, gufo_copy *c, const gufo_copy_run_options *options,
                           gufo_error *error);
void producer_end(copy_producer *p);
/* Writes an output: header and all pieces, at their places or in order. */
gufo_status produce_file(copy_producer *p, size_t index, int fd, gufo_error *error);
gufo_status produce_stream(copy_producer *p, int fd, gufo_error *error);

/* Finds out where the outputs will be, and that they may be there. */
gufo_status copy_targets_find(gufo_copy *c, const char *path, bool replace, gufo_error *error);
/* Makes all temporary files with their full sizes, and leaves them closed. */
gufo_status copy_targets_reserve(gufo_copy *c, gufo_error *error);
/* Opens one of them to write; its bytes are safe on disk after the second. */
gufo_status target_open(gufo_copy *c, size_t index, gufo_error *error);
gufo_status target_close(gufo_copy *c, size_t index, gufo_error *error);
/* Gives all of them their names.  On failure none has it. */
gufo_status copy_targets_commit(gufo_copy *c, gufo_error *error);
/* Removes what was not committed. */
void copy_targets_discard(gufo_copy *c);

#endif
