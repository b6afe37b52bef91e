/* Everything that <gguf.h> reports about files, and every byte that it writes, as text.
 *
 * Written against ggml's interface and nothing else: the program is built with ggml, with ggml
 * whose gguf.cpp is replaced, and with the standalone library.  All three must print the same.
 *
 *     transcript read [--sweep] FILE...   opens each file, or each of its damaged forms
 *     transcript edit COUNT               makes COUNT random files, and reads them again
 *
 * A line for each file or form: accepted with a hash of everything that is reported, refused, or
 * crashed (ggml crashes on some); work is done in a child process, which is started again behind a
 * form that ended it. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "ggml.h"
#include "gguf.h"

#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a hash of the report (FNV-1a) ---------------------------------------------------------- */

static uint64_t hash;

static void tell(const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
}

static void tell_number(uint64_t number)
{
    tell(&number, sizeof number);
}

static void tell_text(const char *text)
{
    tell(text, strlen(text) + 1);
}

/* ---- what is reported ----------------------------------------------------------------------- */

static size_t value_size(enum gguf_type type)
{
    static const unsigned char sizes[GGUF_TYPE_COUNT] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

    return sizes[type];
}

static void tell_array(const struct gguf_context *ctx, int64_t id)
{
    enum gguf_type type = gguf_get_arr_type(ctx, id);
    size_t count = gguf_get_arr_n(ctx, id);

    tell_number(type);
    tell_number(count);
    for (size_t i = 0; type == GGUF_TYPE_STRING && i < count; i++)
        tell_text(gguf_get_arr_str(ctx, id, i));
    if (type != GGUF_TYPE_STRING && count > 0)
        tell(gguf_get_arr_data(ctx, id), count * value_size(type));
}

static void tell_entries(const struct gguf_context *ctx)
{
    tell_number((uint64_t)gguf_get_n_kv(ctx));
    for (int64_t i = 0; i < gguf_get_n_kv(ctx); i++) {
        enum gguf_type type = gguf_get_kv_type(ctx, i);

        tell_text(gguf_get_key(ctx, i));
        tell_number(type);
        if (gguf_get_n_kv(ctx) < 1000)
            tell_number((uint64_t)gguf_find_key(ctx, gguf_get_key(ctx, i)));
        if (type == GGUF_TYPE_ARRAY)
            tell_array(ctx, i);
        else if (type == GGUF_TYPE_STRING)
            tell_text(gguf_get_val_str(ctx, i));
        else
            tell(gguf_get_val_data(ctx, i), value_size(type));
    }
}

static void tell_infos(const struct gguf_context *ctx)
{
    tell_number((uint64_t)gguf_get_n_tensors(ctx));
    for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++) {
        tell_text(gguf_get_tensor_name(ctx, i));
        tell_number((uint64_t)gguf_find_tensor(ctx, gguf_get_tensor_name(ctx, i)));
        tell_number(gguf_get_tensor_type(ctx, i));
        tell_number(gguf_get_tensor_size(ctx, i));
        tell_number(gguf_get_tensor_offset(ctx, i));
        tell(gguf_get_tensor_ne(ctx, i), GGML_MAX_DIMS * sizeof(int64_t));
    }
}

/* What would be written of the metadata. */
static void tell_meta(const struct gguf_context *ctx)
{
    size_t size = gguf_get_meta_size(ctx);
    void *data = malloc(size);

    if (data == NULL)
        abort();
    gguf_get_meta_data(ctx, data);
    tell_number(size);
    tell(data, size);
    free(data);
}

/* Whether there is a shape like {n, 1, 0, 1}, which ggml writes as {n}. */
static int has_cut_shape(const struct gguf_context *ctx)
{
    for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++) {
        const int64_t *ne = gguf_get_tensor_ne(ctx, i);

        for (int d = GGML_MAX_DIMS - 1; d > 0 && ne[d] <= 1; d--)
            if (ne[d] == 0)
                return 1;
    }
    return 0;
}

static void tell_context(const struct gguf_context *ctx)
{
    tell_number(gguf_get_version(ctx));
    tell_number(gguf_get_alignment(ctx));
    tell_number(gguf_get_data_offset(ctx));
    tell_entries(ctx);
    tell_infos(ctx);
    if (gguf_get_alignment(ctx) <= 1 << 16 && !has_cut_shape(ctx)) /* ggml pads byte by byte */
        tell_meta(ctx);
}

/* Shape and data of every tensor in the pool. */
static void tell_pool(struct ggml_context *pool)
{
    struct ggml_tensor *t = ggml_get_first_tensor(pool);

    tell_number(ggml_used_mem(pool));
    tell_number(ggml_get_no_alloc(pool));
    for (; t != NULL; t = ggml_get_next_tensor(pool, t)) {
        tell_text(t->name);
        tell_number(t->type);
        tell(t->ne, sizeof t->ne);
        tell(t->nb, sizeof t->nb);
        if (t->data != NULL && !ggml_get_no_alloc(pool))
            tell(t->data, ggml_nbytes(t));
    }
}

/* ---- reading -------------------------------------------------------------------------------- */

enum { METADATA_ONLY, EMPTY_TENSORS, WITH_DATA, MODES };

static const char *const mode_names[MODES] = {"metadata", "tensors", "data"};

/* The last line of the log: why a file was refused. */
static char reason[512];

static void keep_reason(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)level;
    (void)user_data;
    (void)snprintf(reason, sizeof reason, "%s", text);
    reason[strcspn(reason, "\n")] = '\0';
}

static void read_form(const char *label, const void *data, size_t size, int mode)
{
    struct ggml_context *pool = NULL;
    struct gguf_init_params params = {mode == EMPTY_TENSORS, mode == METADATA_ONLY ? NULL : &pool};
    struct gguf_context *ctx = gguf_init_from_buffer(data, size, params);

    hash = 0xcbf29ce484222325u;
    if (ctx == NULL) {
        printf("%s %s: refused: %s\n", label, mode_names[mode], reason);
        return;
    }
    tell_context(ctx);
    if (pool != NULL)
        tell_pool(pool);
    printf("%s %s: accepted, %016" PRIx64 "\n", label, mode_names[mode], hash);
    ggml_free(pool);
    gguf_free(ctx);
}

/* ---- damaged forms -------------------------------------------------------------------------- */

static const unsigned char damage[] = {0x00, 0x01, 0x02, 0x7f, 0x80, 0xff, 0x20, 0x0a, 0x41};

/* Form `number` of `size` bytes at `form`: first every byte replaced by every value of the table,
 * then every truncation; returns its size. */
static size_t damaged_form(unsigned char *form, size_t size, size_t number)
{
    if (number < size * sizeof damage) {
        form[number / sizeof damage] = damage[number % sizeof damage];
        return size;
    }
    return number - size * sizeof damage;
}

static size_t form_count(size_t size, int sweep)
{
    return sweep ? size * (sizeof damage + 1) : 1;
}

typedef struct input {
    const char *name;
    unsigned char *data;
    size_t size;
    int sweep;
} input;

/* Reads one form in one mode: job number / MODES and number % MODES. */
static void run_job(const input *in, size_t job)
{
    unsigned char *form = malloc(in->size + 1);
    size_t number = job / MODES, size = in->size;
    char label[600];

    if (form == NULL)
        abort();
    memcpy(form, in->data, in->size);
    if (in->sweep)
        size = damaged_form(form, size, number);
    (void)snprintf(label, sizeof label, "%s %zu", in->name, number);
    read_form(label, form, size, (int)(job % MODES));
    free(form);
}

/* In a child that crashes: what was printed before must not be lost. */
static void give_up(int number)
{
    (void)number;
    (void)fflush(stdout);
    _exit(1);
}

static void run_child(const input *in, volatile size_t *job, size_t jobs)
{
    static const int crashes[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGABRT};

    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        (void)signal(crashes[i], give_up);
    for (; *job < jobs; (*job)++)
        run_job(in, *job);
    (void)fflush(stdout);
    _exit(0);
}

/* Runs all jobs of a file in children, which share their number with the parent. */
static void run_jobs(const input *in)
{
    size_t jobs = form_count(in->size, in->sweep) * MODES;
    volatile size_t *job =
        mmap(NULL, sizeof *job, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;

    if (job == MAP_FAILED)
        abort();
    while (*job < jobs) {
        (void)fflush(stdout);
        if (fork() == 0)
            run_child(in, job, jobs);
        (void)wait(&status);
        if (*job < jobs) {
            printf("%s %zu %s: crashed\n", in->name, *job / MODES, mode_names[*job % MODES]);
            (*job)++;
        }
    }
    (void)munmap((void *)job, sizeof *job);
}

static int read_files(char **names, int sweep)
{
    for (; *names != NULL; names++) {
        const char *slash = strrchr(*names, '/');
        input in = {slash != NULL ? slash + 1 : *names, malloc(1 << 24), 0, sweep};
        FILE *file = fopen(*names, "rb");

        if (file == NULL || in.data == NULL)
            return perror(*names), 1;
        in.size = fread(in.data, 1, 1 << 24, file);
        (void)fclose(file);
        run_jobs(&in);
        free(in.data);
    }
    return 0;
}

/* ---- making files --------------------------------------------------------------------------- */

static uint64_t random_state;

static uint64_t random_below(uint64_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % bound;
}

static const char *random_key(void)
{
    static char key[32];

    (void)snprintf(key, sizeof key, "key.%u", (unsigned)random_below(12));
    return key;
}

static void set_array(struct gguf_context *ctx)
{
    enum gguf_type type = (enum gguf_type)random_below(GGUF_TYPE_COUNT);
    unsigned char bytes[256];
    size_t count = random_below(32);

    if (value_size(type) == 0) {
        const char *texts[3] = {"", "text", "a longer text"};

        gguf_set_arr_str(ctx, random_key(), texts, random_below(4));
        return;
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)random_below(type == GGUF_TYPE_BOOL ? 2 : 256);
    gguf_set_arr_data(ctx, random_key(), type, bytes, count);
}

static void set_value(struct gguf_context *ctx)
{
    uint64_t bits = random_below(UINT64_MAX);
    const char *key = random_key();

    switch (random_below(12)) {
    case 0:
        gguf_set_val_u8(ctx, key, (uint8_t)bits);
        break;
    case 1:
        gguf_set_val_i8(ctx, key, (int8_t)bits);
        break;
    case 2:
        gguf_set_val_u16(ctx, key, (uint16_t)bits);
        break;
    case 3:
        gguf_set_val_i16(ctx, key, (int16_t)bits);
        break;
    case 4:
        gguf_set_val_u32(ctx, key, (uint32_t)bits);
        break;
    case 5:
        gguf_set_val_i32(ctx, key, (int32_t)bits);
        break;
    case 6:
        gguf_set_val_f32(ctx, key, (float)bits);
        break;
    case 7:
        gguf_set_val_u64(ctx, key, bits);
        break;
    case 8:
        gguf_set_val_i64(ctx, key, (int64_t)bits);
        break;
    case 9:
        gguf_set_val_f64(ctx, key, (double)bits);
        break;
    case 10:
        gguf_set_val_bool(ctx, key, bits & 1);
        break;
    default:
        gguf_set_val_str(ctx, key, random_key());
        break;
    }
}

static enum ggml_type random_type(int64_t row)
{
    enum ggml_type type;

    do
        type = (enum ggml_type)random_below(43); /* those that both know */
    while (ggml_blck_size(type) == 0 || row % ggml_blck_size(type) != 0);
    return type;
}

static void add_tensor(struct gguf_context *ctx, struct ggml_context *pool)
{
    int64_t ne[4] = {256 * (1 + (int64_t)random_below(2)), 1 + (int64_t)random_below(3),
                     1 + (int64_t)random_below(2), 1};
    struct ggml_tensor *t = ggml_new_tensor(pool, random_type(ne[0]), 1 + (int)random_below(4), ne);
    char name[32];

    (void)snprintf(name, sizeof name, "tensor.%u", (unsigned)gguf_get_n_tensors(ctx));
    ggml_set_name(t, name);
    for (size_t i = 0; i < ggml_nbytes(t); i++)
        ((unsigned char *)t->data)[i] = (unsigned char)random_below(256);
    gguf_add_tensor(ctx, t);
}

/* The new type needs no more bytes than there are. */
static void change_tensor(struct gguf_context *ctx)
{
    int64_t id = (int64_t)random_below((uint64_t)gguf_get_n_tensors(ctx) + 1);

    if (id < gguf_get_n_tensors(ctx) && gguf_get_tensor_type(ctx, id) == GGML_TYPE_F32)
        gguf_set_tensor_type(ctx, gguf_get_tensor_name(ctx, id),
                             random_type(gguf_get_tensor_ne(ctx, id)[0] % 512 == 0 ? 512 : 256));
}

static void make_change(struct gguf_context *ctx, const struct gguf_context *other,
                        struct ggml_context *pool)
{
    switch (random_below(16)) {
    case 0:
        tell_number((uint64_t)gguf_remove_key(ctx, random_key()));
        break;
    case 1:
        gguf_set_kv(ctx, other);
        break;
    case 2:
    case 3:
    case 4:
        set_array(ctx);
        break;
    case 5:
    case 6:
        add_tensor(ctx, pool);
        break;
    case 7:
        change_tensor(ctx);
        break;
    default:
        set_value(ctx);
        break;
    }
    tell_number((uint64_t)gguf_find_key(ctx, random_key()));
}

/* Writes with data, reports every byte, and reads it again. */
static void tell_file(const struct gguf_context *ctx)
{
    struct ggml_context *pool = NULL;
    struct gguf_context *again;
    FILE *file = tmpfile();
    int c;

    if (file == NULL || !gguf_write_to_file_ptr(ctx, file, false))
        abort();
    rewind(file);
    while ((c = getc(file)) != EOF)
        tell_number((uint64_t)c);
    rewind(file);
    again = gguf_init_from_file_ptr(file, (struct gguf_init_params){false, &pool});
    if (again == NULL)
        abort();
    tell_number((uint64_t)ftell(file));
    tell_context(again);
    tell_pool(pool);
    ggml_free(pool);
    gguf_free(again);
    (void)fclose(file);
}

static void make_file(unsigned seed)
{
    struct gguf_context *ctx = gguf_init_empty(), *other = gguf_init_empty();
    struct ggml_context *pool = ggml_init((struct ggml_init_params){.mem_size = (size_t)1 << 22});

    random_state = 0x9e3779b97f4a7c15u ^ seed;
    hash = 0xcbf29ce484222325u;
    for (int i = 0; i < 8; i++)
        set_value(other);
    for (uint64_t i = random_below(60); i > 0; i--)
        make_change(ctx, other, pool);
    tell_context(ctx);
    tell_file(ctx);
    printf("made %u: %016" PRIx64 "\n", seed, hash);
    gguf_free(ctx);
    gguf_free(other);
    ggml_free(pool);
}

/* A tensor has the same layout whichever header the program was compiled with. */
static void print_layout(void)
{
    const size_t facts[] = {sizeof(struct ggml_tensor),
                            offsetof(struct ggml_tensor, type),
                            offsetof(struct ggml_tensor, buffer),
                            offsetof(struct ggml_tensor, ne),
                            offsetof(struct ggml_tensor, nb),
                            offsetof(struct ggml_tensor, op),
                            offsetof(struct ggml_tensor, op_params),
                            offsetof(struct ggml_tensor, flags),
                            offsetof(struct ggml_tensor, src),
                            offsetof(struct ggml_tensor, view_src),
                            offsetof(struct ggml_tensor, view_offs),
                            offsetof(struct ggml_tensor, data),
                            offsetof(struct ggml_tensor, name),
                            offsetof(struct ggml_tensor, extra),
                            ggml_tensor_overhead()};

    printf("layout:");
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        printf(" %zu", facts[i]);
    printf("\n");
}

int main(int argc, char **argv)
{
    int sweep = argc > 2 && strcmp(argv[2], "--sweep") == 0;

    ggml_log_set(keep_reason, NULL);
    if (argc > 2 && strcmp(argv[1], "read") == 0)
        return read_files(argv + 2 + sweep, sweep);
    if (argc == 3 && strcmp(argv[1], "edit") == 0) {
        print_layout();
        for (int i = 1; i <= atoi(argv[2]); i++)
            make_file((unsigned)i);
        return 0;
    }
    return fprintf(stderr, "usage: transcript read [--sweep] FILE... | transcript edit COUNT\n"), 2;
}
