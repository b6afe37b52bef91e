/* Makes files of PyTorch. */
#include "torch_maker.h"

/* ---- pickles -------------------------------------------------------------------------------- */

void pickled_begin(builder *b)
{
    builder_raw(b, "\x80\2", 2);
}

void pickled_op(builder *b, char opcode)
{
    builder_raw(b, &opcode, 1);
}

void pickled_int(builder *b, uint32_t n)
{
    pickled_op(b, 'J');
    builder_u32(b, n);
}

void pickled_text(builder *b, const char *text)
{
    pickled_op(b, 'X');
    builder_u32(b, (uint32_t)strlen(text));
    builder_raw(b, text, strlen(text));
}

static void add_line(builder *b, const char *text)
{
    builder_raw(b, text, strlen(text));
    builder_raw(b, "\n", 1);
}

void pickled_global(builder *b, const char *module, const char *name)
{
    pickled_op(b, 'c');
    add_line(b, module);
    add_line(b, name);
}

void pickled_dictionary(builder *b)
{
    pickled_global(b, "collections", "OrderedDict");
    pickled_op(b, ')');
    pickled_op(b, 'R');
}

static void add_numbers(builder *b, const uint32_t *numbers, uint32_t count)
{
    pickled_op(b, '(');
    for (uint32_t i = 0; i < count; i++)
        pickled_int(b, numbers[i]);
    pickled_op(b, 't');
}

static void add_window(builder *b, const torch_view *view)
{
    if (view->window == NULL) {
        pickled_op(b, 'N');
        return;
    }
    pickled_op(b, '(');
    pickled_text(b, view->window);
    pickled_int(b, view->window_first);
    pickled_int(b, view->window_elements);
    pickled_op(b, 't');
}

static void add_storage(builder *b, const torch_view *view)
{
    char name[32];

    (void)snprintf(name, sizeof name, "%sStorage", view->storage);
    pickled_op(b, '(');
    pickled_text(b, "storage");
    pickled_global(b, strcmp(view->storage, "Untyped") == 0 ? "torch.storage" : "torch", name);
    pickled_text(b, view->key);
    pickled_text(b, "cpu");
    pickled_int(b, view->elements);
    if (view->is_old)
        add_window(b, view);
    pickled_op(b, 't');
    pickled_op(b, 'Q');
}

void pickled_tensor(builder *b, const torch_view *view)
{
    pickled_global(b, "torch._utils",
                   view->dtype != NULL ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
    pickled_op(b, '(');
    add_storage(b, view);
    pickled_int(b, view->first);
    add_numbers(b, view->shape, view->n_dims);
    add_numbers(b, view->stride, view->n_dims);
    pickled_op(b, '\x89');
    pickled_dictionary(b);
    if (view->dtype != NULL)
        pickled_global(b, "torch", view->dtype);
    pickled_op(b, 't');
    pickled_op(b, 'R');
}

/* ---- archives ------------------------------------------------------------------------------- */

enum { MAX_PARTS = 16, ALIGNMENT = 64, LOCAL_SIZE = 30 };

/* What a header and its entry in the directory have in common: the version to the CRC. */
static void add_common(builder *b, const zip_part *part)
{
    builder_u16(b, 45);
    builder_u16(b, 0x800); /* names are UTF-8 */
    builder_u16(b, part->method);
    builder_u32(b, 0);
    builder_u32(b, 0);
}

static void add_local(builder *b, const zip_part *part)
{
    size_t name = strlen(part->name), data = b->len + LOCAL_SIZE + name + 4;
    size_t padding = (ALIGNMENT - data % ALIGNMENT) % ALIGNMENT;

    builder_raw(b, "PK\3\4", 4);
    add_common(b, part);
    builder_u32(b, (uint32_t)part->size);
    builder_u32(b, (uint32_t)part->size);
    builder_u16(b, (uint16_t)name);
    builder_u16(b, (uint16_t)(4 + padding));
    builder_raw(b, part->name, name);
    builder_u16(b, 0x4246); /* an extra field that only pads */
    builder_u16(b, (uint16_t)padding);
    builder_zeros(b, padding);
    builder_raw(b, part->bytes, part->size);
}

static void add_entry(builder *b, const zip_part *part, size_t local, bool zip64)
{
    size_t name = strlen(part->name);

    builder_raw(b, "PK\1\2", 4);
    builder_u16(b, 45);
    add_common(b, part);
    builder_u32(b, zip64 ? UINT32_MAX : (uint32_t)part->size);
    builder_u32(b, zip64 ? UINT32_MAX : (uint32_t)part->size);
    builder_u16(b, (uint16_t)name);
    builder_u16(b, zip64 ? 34 : 0);
    builder_zeros(b, 10); /* comment, disk, attributes */
    builder_u32(b, zip64 ? UINT32_MAX : (uint32_t)local);
    builder_raw(b, part->name, name);
    if (zip64) {
        builder_raw(b, "xx\2\0..", 6); /* some other field */
        builder_u16(b, 1);
        builder_u16(b, 24);
        builder_u64(b, part->size);
        builder_u64(b, part->size);
        builder_u64(b, local);
    }
}

static void add_end(builder *b, size_t count, size_t directory, bool zip64)
{
    size_t end = b->len;

    if (zip64) {
        builder_raw(b, "PK\6\6", 4);
        builder_u64(b, 44);
        builder_u16(b, 45);
        builder_u16(b, 45);
        builder_u64(b, 0);
        builder_u64(b, count);
        builder_u64(b, count);
        builder_u64(b, end - directory);
        builder_u64(b, directory);
        builder_raw(b, "PK\6\7\0\0\0\0", 8);
        builder_u64(b, end);
        builder_u32(b, 1);
    }
    builder_raw(b, "PK\5\6\0\0\0\0", 8);
    builder_u16(b, zip64 ? UINT16_MAX : (uint16_t)count);
    builder_u16(b, zip64 ? UINT16_MAX : (uint16_t)count);
    builder_u32(b, zip64 ? UINT32_MAX : (uint32_t)(end - directory));
    builder_u32(b, zip64 ? UINT32_MAX : (uint32_t)directory);
    builder_u16(b, 0);
}

void zip_build(builder *b, const zip_part *parts, size_t count, bool zip64)
{
    size_t at[MAX_PARTS], directory;

    assert_true(count <= MAX_PARTS);
    for (size_t i = 0; i < count; i++) {
        at[i] = b->len;
        add_local(b, &parts[i]);
    }
    directory = b->len;
    for (size_t i = 0; i < count; i++)
        add_entry(b, &parts[i], at[i], zip64);
    add_end(b, count, directory, zip64);
}

/* ---- old files ------------------------------------------------------------------------------ */

void torch_old_build(builder *b, const builder *pickle, const old_storage *storages, size_t count,
                     bool big)
{
    static const char magic[] = "\x80\2\x8a\12\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

    builder_raw(b, magic, sizeof magic - 1);
    builder_raw(b, "\x80\2M\xe9\3.", 6); /* 1001 */
    pickled_begin(b);
    builder_raw(b, "}(", 2);
    pickled_text(b, "protocol_version");
    pickled_int(b, 1001);
    pickled_text(b, "little_endian");
    pickled_op(b, big ? '\x89' : '\x88');
    builder_raw(b, "u.", 2);
    builder_raw(b, pickle->data, pickle->len);
    pickled_begin(b);
    builder_raw(b, "](", 2);
    for (size_t i = 0; i < count; i++)
        pickled_text(b, storages[i].key);
    builder_raw(b, "e.", 2);
    for (size_t i = 0; i < count; i++) {
        uint64_t n = storages[i].elements;

        for (unsigned k = 0; k < 8; k++)
            builder_u8(b, (uint8_t)(n >> 8 * (big ? 7 - k : k)));
        builder_raw(b, storages[i].bytes, storages[i].size);
    }
}
