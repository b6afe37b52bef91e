/* Fuzz target: open anything as a file of before GGUF, look at everything that it becomes, and
 * write it.
 *
 * One target for each container, whose first bytes every input gets (LEGACY_MAGIC): so that none of them
 * takes the time of another.  Seeds are replayed as they are, by one program. */
#define _GNU_SOURCE /* memfd_create */
#include "walk.h"

#include "gufo/import.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef LEGACY_MAGIC
static const char magic[4] = LEGACY_MAGIC;
#endif

/* A file that has no folder: parts of a model, which would be beside it, are never there. */
static int make_file(const uint8_t *data, size_t size, char *path, size_t room)
{
    int fd = memfd_create("legacy", MFD_CLOEXEC);

    must(fd >= 0, "there is a file");
    must(size == 0 || write(fd, data, size) == (ssize_t)size, "a file takes bytes");
#ifdef LEGACY_MAGIC
    must(size < sizeof magic || pwrite(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic,
         "a file takes bytes");
#endif
    snprintf(path, room, "/proc/self/fd/%d", fd);
    return fd;
}

static void walk_import(const gufo_import *import)
{
    gufo_import_facts facts = gufo_import_describe(import);
    gufo_import_setting setting;
    gufo_import_tensor tensor;
    uint64_t count = 0;

    must(facts.family != NULL && facts.container != NULL && facts.parts > 0,
         "it is known what it is");
    must(facts.generation <= 2, "there were three generations");
    for (uint64_t i = 0; gufo_import_setting_at(import, i, &setting); i++)
        must(setting.key.len > 0 && setting.why != NULL, "a setting has a key and a reason");
    for (uint64_t i = 0; gufo_import_warning_at(import, i) != NULL; i++)
        must(gufo_import_warning_at(import, i)[0] != '\0', "a warning is a sentence");
    for (; gufo_import_tensor_at(import, count, &tensor); count++) {
        must(gufo_model_tensor_find_str(gufo_import_model(import), tensor.name, NULL),
             "its name is in the model");
        must(tensor.from != NULL, "a tensor has a type");
        must(tensor.max_abs_err >= 0 && (!tensor.exact || tensor.max_abs_err == 0),
             "what is exact has no error");
    }
    must(count == gufo_model_tensor_count(gufo_import_model(import)), "every tensor is listed");
}

static void walk_entries(const gufo_model *model)
{
    gufo_entry entry, found;

    for (uint64_t i = 0; gufo_model_entry_at(model, i, &entry); i++) {
        must(gufo_model_find_str(model, entry.key, &found), "every key is found");
        must(same_value(&entry.value, &found.value), "a value is the same each time");
    }
}

/* Numbers may be anything; that a type was measured means that its rows can be made. */
static void walk_numbers(const gufo_model *model, bool measured)
{
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &tensor); i++) {
        const gufo_element_type *type = gufo_element_type_by_id(tensor.type);

        if (type == NULL || (type->flags & GUFO_ELEMENT_DECODES) == 0 || tensor.elements == 0)
            continue; /* in GGUF version 2 there may be anything */
        float *numbers = malloc((size_t)tensor.elements * sizeof *numbers + 1);
        gufo_status status;

        must(numbers != NULL, "the machine has enough memory");
        status = gufo_tensor_decode(model, &tensor, 0, tensor.elements / tensor.dims[0], numbers,
                                    NULL, NULL);
        must(status == GUFO_OK || (!measured && status == GUFO_E_RANGE), "numbers can be read");
        free(numbers);
    }
}

static void write_model(gufo_import *import, bool measured)
{
    static const gufo_run one_thread = {.threads = 1};
    gufo_job *job = gufo_import_job(import, NULL);
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    must(job != NULL && fd >= 0, "a file can be planned");
    gufo_status status = gufo_job_stream(job, fd, &one_thread, NULL);
    must(status == GUFO_OK || (!measured && status == GUFO_E_RANGE), "a file can be written");
    gufo_job_free(job);
    (void)close(fd);
}

static void look(const char *path, size_t size, uint32_t flags, gufo_legacy_keep keep)
{
    static const gufo_run one_thread = {.threads = 1};
    counter count = {0};
    gufo_allocator allocator = counting_allocator(&count);
    gufo_legacy_options options = {
        .flags = flags, .keep = keep, .run = &one_thread, .allocator = &allocator};
    gufo_error error = {0};
    gufo_import *import = gufo_import_legacy(path, &options, &error);
    bool measured = (flags & GUFO_LEGACY_MEASURE) != 0 || keep == GUFO_LEGACY_F32;

    must((import == NULL) == (error.code != GUFO_OK), "a failure says so");
    must(import != NULL || error.message[0] != '\0', "a failure has a sentence");
    must(count.peak <= (4u << 20) + 64 * size, "opening takes little memory");
    if (import != NULL) {
        walk_import(import);
        walk_entries(gufo_import_model(import));
        walk_numbers(gufo_import_model(import), measured);
        write_model(import, measured);
    }
    gufo_import_free(import);
    must(count.held == 0 && count.blocks == 0, "everything is freed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        uint32_t flags;
        gufo_legacy_keep keep;
    } ways[] = {{GUFO_LEGACY_MEASURE, GUFO_LEGACY_NEAREST},
                {0, GUFO_LEGACY_NEAREST},
                {GUFO_LEGACY_MEASURE, GUFO_LEGACY_F16},
                {0, GUFO_LEGACY_F32}};
    char path[64];
    int fd = make_file(data, size, path, sizeof path);
    size_t sum = 0;

    /* One way for each input; inputs that differ in a byte take different ones. */
    for (size_t i = 0; i < size; i++)
        sum += data[i];
    (void)gufo_legacy_recognise(data, size);
    look(path, size, ways[sum % 4].flags, ways[sum % 4].keep);
    (void)close(fd);
    return 0;
}
