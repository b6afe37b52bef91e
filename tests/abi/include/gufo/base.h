/* Errors, strings, memory and where bytes come from.
 *
 * Conventions that hold for the whole library:
 *  - A function that can fail returns a gufo_status (0 is success) or NULL, and fills the optional
 *    last argument `gufo_error *error`.  NULL is allowed there everywhere.
 *  - The library never prints, exits, aborts, changes global state or reads the environment.
 *  - Sizes and offsets are uint64_t and count bytes unless the name says otherwise.
 *  - An options struct is initialised with `{0}`: zero always means "the default".  NULL options mean
 *    {0}.  Reserved fields are those of a later version: GUFO_E_ARGUMENT for anything but zeros.  A
 *    compulsory field that is missing is GUFO_E_ARGUMENT, and the error names it.
 *  - Structs that a program allocates, and those that the library fills, have room for later versions,
 *    `reserved`.  What is a value has none: a view, a pair, or a function with its context, which are
 *    passed and kept by value and have all that they will ever have.  So these are final: gufo_str,
 *    gufo_array, gufo_encoding, gufo_value, gufo_items, gufo_span, gufo_key_type, gufo_allocate_option and
 *    gufo_allocator.
 *    The library passes rows of tables only by pointer, and they may grow at their end.
 *  - Functions write outputs on success; NULL is allowed for secondary outputs (their comments
 *    say so).  Enumerators have fixed values: new ones are added with new values.
 *  - Keys and names that a program spells out are `const char *`; views into files are gufo_str.
 *  - Several threads may use an object at once as long as no thread modifies it; functions that
 *    modify an object say so. */
#ifndef GUFO_BASE_H
#define GUFO_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GUFO_API __attribute__((visibility("default")))
#else
#define GUFO_API
#endif

/* A result that must be used: it owns memory, or says whether an output is complete.  (void) does
 * not silence gcc there, on purpose. */
#if defined(__GNUC__)
#define GUFO_MUST_USE __attribute__((warn_unused_result))
#else
#define GUFO_MUST_USE
#endif

/* Compilers that accept (void) also warn about every other status that is ignored. */
#if defined(__cplusplus) && __cplusplus >= 201703L
#define GUFO_MUST_LOOK [[nodiscard]]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L
#define GUFO_MUST_LOOK [[nodiscard]]
#elif defined(__clang__)
#define GUFO_MUST_LOOK __attribute__((warn_unused_result))
#else
#define GUFO_MUST_LOOK
#endif

#define GUFO_VERSION_MAJOR 0
#define GUFO_VERSION_MINOR 1
#define GUFO_VERSION_PATCH 0
#define GUFO_VERSION_STRING "0.1.0"

/* The version of the library that is linked, as "MAJOR.MINOR.PATCH".  Static; any thread. */
GUFO_API const char *gufo_version(void);

/* ---- strings -------------------------------------------------------------------------------- */

/* A view of `len` bytes.  GGUF strings are counted: they may hold NUL bytes and are not
 * terminated.  A view lives as long as the object it was taken from. */
typedef struct gufo_str {
    const char *data;
    size_t len;
} gufo_str;

/* The view of a C string, without its terminator; {NULL, 0} for NULL.  It lives as long as the
 * text. Any thread. */
GUFO_API gufo_str gufo_str_of(const char *text);

/* Equal in length and bytes.  Any thread. */
GUFO_API bool gufo_str_equal(gufo_str a, gufo_str b);

/* The length of the longest prefix of `text` that is valid UTF-8 (RFC 3629: no surrogates, nothing
 * above U+10FFFF, no overlong forms); equal to `text.len` when all of it is.  Any thread. */
GUFO_API size_t gufo_utf8_valid_prefix(gufo_str text);

/* ---- errors --------------------------------------------------------------------------------- */

typedef enum GUFO_MUST_LOOK gufo_status {
    GUFO_OK = 0,
    GUFO_E_MEMORY = 1,    /* the allocator returned NULL */
    GUFO_E_IO = 2,        /* the system refused: see gufo_error.system */
    GUFO_E_ARGUMENT = 3,  /* the caller asked for something impossible */
    GUFO_E_NOT_GGUF = 4,  /* the first bytes are not those of a GGUF file */
    GUFO_E_VERSION = 5,   /* a GGUF version that does not exist */
    GUFO_E_TRUNCATED = 6, /* the file ends before what it announces */
    GUFO_E_MALFORMED = 7, /* the file breaks a rule of the format */
    GUFO_E_LIMIT = 8,     /* more than a limit of this library or of the options allows */
    GUFO_E_NOT_FOUND = 9, /* no such key, tensor or type */
    GUFO_E_TYPE = 10,     /* the value has another type */
    GUFO_E_RANGE = 11,    /* the value does not fit, the index is past the end */
    GUFO_E_EXISTS = 12,   /* the output exists and replacing it was not asked for */
    GUFO_E_CHANGED = 13,  /* the file was changed while it was open */
    GUFO_E_SHARDS = 14,   /* a shard is missing, or the shards do not belong together */
    GUFO_E_STOPPED = 15,  /* the caller asked to stop */
} gufo_status;

/* No offset applies to this error. */
#define GUFO_NO_OFFSET UINT64_MAX

struct gufo_rule; /* format.h */

/* What a file is to the call that failed. */
typedef enum gufo_file_role {
    GUFO_FILE_NONE = 0,         /* no file is named */
    GUFO_FILE_INPUT = 1,        /* the model, or one of several inputs */
    GUFO_FILE_SECOND_INPUT = 2, /* the second model of a comparison */
    GUFO_FILE_IMPORTANCE = 3,   /* an importance matrix */
    GUFO_FILE_OUTPUT = 4,
    GUFO_FILE_JOURNAL = 5,
} gufo_file_role;

/* What went wrong, and with which file.  Plain data: copy it freely; it owns nothing. */
typedef struct gufo_error {
    gufo_status code;
    int system;                   /* errno of a GUFO_E_IO, else 0 */
    uint64_t offset;              /* where in the file, or GUFO_NO_OFFSET */
    const struct gufo_rule *rule; /* the rule of the format that is broken, or NULL; static */
    gufo_file_role role;
    uint32_t file_index; /* from 0: the shard of a model, or the place in a list of files */
    char file[1024];     /* its path as the caller spelt it, or what options call it; a longer one
                            keeps its end, after "..."; "" if none exists */
    char message[1024];  /* one English sentence, no newline, control characters escaped */
    /* What would let the call go on, where the header of the function lists such values: import.h,
     * gufo_import_advice.  0: nothing. */
    uint64_t advice;
    uint64_t reserved[3];
} gufo_error;

/* A short name for a status, e.g. "truncated".  Static; any thread. */
GUFO_API const char *gufo_status_name(gufo_status status);

/* ---- memory --------------------------------------------------------------------------------- */

/* Where an object gets its memory.  `resize` behaves like realloc: `block` NULL allocates, `size` 0
 * frees and returns NULL, failure returns NULL and leaves the block as it was.  The struct is
 * copied; `context` must outlive the object.  Objects used from several threads need a thread-safe
 * one. */
typedef struct gufo_allocator {
    void *(*resize)(void *context, void *block, size_t size);
    void *context;
} gufo_allocator;

/* How a text is read: a template, a manifest, a tokenizer.json. */
typedef struct gufo_parse_options {
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_parse_options;

/* Text that grows: any bytes, not terminated.  {0} is an empty one; the caller may set `allocator`
 * before its first use.  Setting `len` to 0 empties it and keeps its memory.  Freed with
 * gufo_text_free. */
typedef struct gufo_text {
    char *data;
    size_t len, room;
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[2];
} gufo_text;

/* Frees the memory of a text, which is empty then. */
GUFO_API void gufo_text_free(gufo_text *text);

/* ---- progress -------------------------------------------------------------------------------- */

/* The progress of work, usually in bytes.  Called often, from any thread but one at a time.
 * Returning false stops the work, which fails with GUFO_E_STOPPED. */
typedef bool gufo_progress_fn(void *context, uint64_t done, uint64_t total);

/* ---- sources -------------------------------------------------------------------------------- */

/* Something that can be read in ranges: a file on another machine, an archive member... */
typedef struct gufo_source {
    void *context;
    uint64_t size; /* bytes in all */
    /* Fills buffer with the `size` bytes from `offset` on, which are inside the source.  Anything
     * less is a failure; *error (never NULL) may say why: control characters in its message are
     * escaped, and a status that does not exist becomes GUFO_E_IO.  May be called from several
     * threads if the file is used from several. */
    gufo_status (*read)(void *context, uint64_t offset, void *buffer, size_t size,
                        gufo_error *error);
    void (*close)(void *context); /* called once, when the file is closed; may be NULL */
    /* The following may be NULL.  As read, but fewer bytes will do: what is at hand, at least `least`; *got is how
     * many.  For headers, whose end is not known before they are read. */
    gufo_status (*read_some)(void *context, uint64_t offset, void *buffer, size_t least,
                             size_t size, size_t *got, gufo_error *error);
    /* GUFO_E_CHANGED if the bytes are not those any more that it had at first.  Asked when what was read is
     * about to count: a source without it never changes. */
    gufo_status (*unchanged)(void *context, gufo_error *error);
    /* Gets to know that these bytes will probably be read next, from the first to the last.  A guess, which may lead
     * out of the source; any thread. */
    void (*expect)(void *context, uint64_t offset, uint64_t size);
    /* A number that other bytes would not have, such as a hash of what a server says of the version: for jobs that are
     * resumed.  0: not known. */
    uint64_t version;
    uint64_t reserved[1]; /* zero; GUFO_E_ARGUMENT for anything else */
} gufo_source;

/* Files that are read in ranges, by their names: a folder on another machine, an archive... */
typedef struct gufo_folder {
    void *context;
    /* Name `index`, always the same one, which may lead through folders: "sub/file"; NULL past the last.  It lives
     * as long as the folder.  Any thread. */
    const char *(*name_at)(void *context, size_t index);
    /* Opens a file by its name, which is one of these; the caller closes it before the folder.  Any thread. */
    gufo_status (*open)(void *context, const char *name, gufo_source *out, gufo_error *error);
    void (*close)(void *context); /* called by whoever has made it; may be NULL */
    uint64_t reserved[4];         /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_folder;

/* ---- chat templates -------------------------------------------------------------------------- */

/* What a judge finds in a chat template. */
typedef struct gufo_template_finding {
    bool dangerous;        /* it can harm a program that renders it without a sandbox; else readers
                              cannot render it */
    uint64_t offset;       /* byte of the template */
    uint64_t line, column; /* from 1; columns count characters */
    const char *message;   /* one sentence; lives as long as the call */
    uint64_t reserved[4];
} gufo_template_finding;

/* Returns whether to continue. */
typedef bool gufo_template_finding_fn(void *context, const gufo_template_finding *finding);

/* Judges a template, which may be any bytes: calls `found` for each finding, in the order of the
 * template.  GUFO_E_MEMORY; `options` may be NULL.  gufo_template_lint of template.h is one. */
typedef gufo_status gufo_template_judge_fn(gufo_str source, const gufo_parse_options *options,
                                           gufo_template_finding_fn *found, void *context,
                                           gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
