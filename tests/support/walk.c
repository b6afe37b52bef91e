/* Walking and dumping open files. */
#include "walk.h"

typedef struct bounds {
    const uint8_t *start; /* NULL: anywhere */
    size_t size;
    const char *label;
} bounds;

static volatile uint8_t touched;

/* Reads every byte, so that a sanitizer sees a view that reaches too far. */
static void touch(const bounds *in, const void *data, uint64_t len)
{
    const uint8_t *at = data;
    uint8_t sum = 0;

    if (len == 0)
        return;
    check(data != NULL, "%s: view without bytes", in->label);
    if (in->start != NULL) {
        check(at >= in->start && at <= in->start + in->size, "%s: view outside the file",
              in->label);
        check(len <= (uint64_t)(in->start + in->size - at), "%s: view past the end", in->label);
    }
    for (uint64_t i = 0; i < len; i++)
        sum ^= at[i];
    touched = sum;
}

static bool is_number(gufo_value_type type)
{
    return type != GUFO_VALUE_STRING && type != GUFO_VALUE_ARRAY;
}

/* The number of a value as 64 bits, so that values can be compared. */
static uint64_t number_bits(const gufo_value *value)
{
    uint64_t bits = 0;

    switch (value->type) {
    case GUFO_VALUE_INT8:
    case GUFO_VALUE_INT16:
    case GUFO_VALUE_INT32:
    case GUFO_VALUE_INT64:
        return (uint64_t)value->as.i;
    case GUFO_VALUE_FLOAT32:
    case GUFO_VALUE_FLOAT64:
        memcpy(&bits, &value->as.f, sizeof bits);
        return bits;
    case GUFO_VALUE_BOOL:
        return value->as.b ? 1 : 0;
    default:
        return value->as.u;
    }
}

/* The element at `at` of what gufo_array_read wrote, as number_bits gives it. */
static uint64_t read_bits(gufo_value_type type, const uint8_t *at)
{
    gufo_value value;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    float f32;

    memset(&value, 0, sizeof value);
    value.type = type;
    memcpy(&u16, at, gufo_value_type_size(type) >= 2 ? 2 : 0);
    switch (type) {
    case GUFO_VALUE_UINT8:
    case GUFO_VALUE_BOOL:
        return *at;
    case GUFO_VALUE_INT8:
        return (uint64_t)(int64_t)(int8_t)*at;
    case GUFO_VALUE_UINT16:
        return u16;
    case GUFO_VALUE_INT16:
        return (uint64_t)(int64_t)(int16_t)u16;
    case GUFO_VALUE_UINT32:
        memcpy(&u32, at, sizeof u32);
        return u32;
    case GUFO_VALUE_INT32:
        memcpy(&u32, at, sizeof u32);
        return (uint64_t)(int64_t)(int32_t)u32;
    case GUFO_VALUE_FLOAT32:
        memcpy(&f32, at, sizeof f32);
        value.as.f = (double)f32;
        return number_bits(&value);
    default:
        memcpy(&u64, at, sizeof u64);
        return u64;
    }
}

/* gufo_array_at and gufo_array_read give what the walk gave for one element. */
static void check_element(const bounds *in, const gufo_array *array, uint64_t index,
                          const gufo_value *walked)
{
    gufo_error error = no_error();
    gufo_value value;
    uint8_t bytes[8];

    check_ok(gufo_array_at(array, index, &value, &error), &error, "%s: element", in->label);
    check(value.type == walked->type, "%s: type of an element", in->label);
    if (!is_number(array->type)) {
        check_status(gufo_array_read(array, index, 1, bytes, &error), GUFO_E_TYPE, &error,
                     "%s: no numbers", in->label);
        return;
    }
    check_u64(number_bits(&value), number_bits(walked), "%s: element", in->label);
    check_ok(gufo_array_read(array, index, 1, bytes, &error), &error, "%s: read", in->label);
    if (array->type != GUFO_VALUE_BOOL)
        check_u64(read_bits(array->type, bytes), number_bits(walked), "%s: read", in->label);
}

static void walk_value(const bounds *in, const gufo_value *value, unsigned depth);

static void walk_array(const bounds *in, const gufo_array *array, unsigned depth)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_error error = no_error();
    gufo_value value;
    uint64_t count = 0;

    check(depth <= GUFO_MAX_DEPTH, "%s: arrays too deep", in->label);
    touch(in, array->data, array->size);
    while (gufo_array_next(&iter, &value)) {
        check(value.type == array->type, "%s: element of another type", in->label);
        walk_value(in, &value, depth + 1);
        if (count == 0 || count + 1 == array->count || count == array->count / 2)
            check_element(in, array, count, &value);
        count++;
    }
    check(!iter.changed, "%s: array says that it changed", in->label);
    check_u64(count, array->count, "%s: elements", in->label);
    check_u64(iter.position, array->size, "%s: bytes of the elements", in->label);
    check(!gufo_array_next(&iter, &value), "%s: element after the end", in->label);
    check_status(gufo_array_at(array, array->count, &value, &error), GUFO_E_RANGE, &error,
                 "%s: element past the end", in->label);
}

static void walk_value(const bounds *in, const gufo_value *value, unsigned depth)
{
    if (value->type == GUFO_VALUE_STRING)
        touch(in, value->as.str.data, value->as.str.len);
    else if (value->type == GUFO_VALUE_ARRAY)
        walk_array(in, &value->as.array, depth);
}

static void walk_metadata(const bounds *in, const gufo_model *file)
{
    uint64_t count = gufo_model_entry_count(file), end = 0;
    gufo_entry entry, found;

    check(count <= gufo_model_facts(file).claimed_metadata, "%s: entries from nowhere", in->label);
    for (uint64_t i = 0; i < count; i++) {
        check(gufo_model_entry_at(file, i, &entry), "%s: entry", in->label);
        touch(in, entry.key.data, entry.key.len);
        check(gufo_value_type_name(entry.value.type) != NULL, "%s: type", in->label);
        walk_value(in, &entry.value, 1);
        check(entry.offset >= end, "%s: entries overlap", in->label);
        check(entry.value_offset > entry.offset && entry.end >= entry.value_offset,
              "%s: order of an entry's parts", in->label);
        check(entry.end <= gufo_model_facts(file).size, "%s: entry past the end", in->label);
        end = entry.end;
        check(gufo_model_find_str(file, entry.key, &found), "%s: key not found", in->label);
        check_view(found.key, entry.key, "%s: another key", in->label);
    }
    check(!gufo_model_entry_at(file, count, &entry), "%s: entry past the end", in->label);
}

static void walk_tensor(const bounds *in, const gufo_model *file, const gufo_tensor *tensor)
{
    const void *data = gufo_tensor_raw(file, tensor);
    gufo_error error = no_error();
    uint8_t byte;

    touch(in, tensor->name.data, tensor->name.len);
    check(tensor->n_dims <= GUFO_MAX_DIMS, "%s: dims", in->label);
    for (uint32_t i = tensor->n_dims; i < GUFO_MAX_DIMS; i++)
        check_u64(tensor->dims[i], 1, "%s: unused dim", in->label);
    check(tensor->available <= tensor->size, "%s: more than all bytes", in->label);
    check(tensor->available == 0 ||
              (tensor->offset <= gufo_model_facts(file).size &&
               tensor->available <= gufo_model_facts(file).size - tensor->offset),
          "%s: bytes outside the file", in->label);
    if (data != NULL) {
        check_u64(tensor->available, tensor->size, "%s: pointer to missing data", in->label);
        touch(in, data, tensor->size);
    }
    if (gufo_model_has_data(file))
        check_status(gufo_tensor_read_raw(file, tensor, tensor->size, &byte, 1, &error),
                     GUFO_E_RANGE, &error, "%s: byte past the tensor", in->label);
    else
        check(gufo_tensor_read_raw(file, tensor, 0, &byte, 1, &error) != GUFO_OK,
              "%s: data of a pipe", in->label);
    if (tensor->size > 0 && gufo_model_has_data(file))
        check((gufo_tensor_read_raw(file, tensor, tensor->size - 1, &byte, 1, &error) == GUFO_OK) ==
                  (tensor->available == tensor->size),
              "%s: last byte of the tensor", in->label);
}

static void walk_tensors(const bounds *in, const gufo_model *file)
{
    uint64_t count = gufo_model_tensor_count(file);
    gufo_tensor tensor, found;

    check(count <= gufo_model_facts(file).claimed_tensors, "%s: tensors from nowhere", in->label);
    for (uint64_t i = 0; i < count; i++) {
        check(gufo_model_tensor_at(file, i, &tensor), "%s: tensor", in->label);
        walk_tensor(in, file, &tensor);
        check(gufo_model_tensor_find_str(file, tensor.name, &found), "%s: name not found",
              in->label);
        check_view(found.name, tensor.name, "%s: another name", in->label);
    }
    check(!gufo_model_tensor_at(file, count, &tensor), "%s: tensor past the end", in->label);
}

void walk_file(const gufo_model *file, const void *start, size_t size, const char *label)
{
    bounds in = {start, size, label};
    const gufo_error *damage = gufo_model_damage(file);

    walk_metadata(&in, file);
    walk_tensors(&in, file);
    check(gufo_model_facts(file).alignment >= 1, "%s: alignment", label);
    if (damage != NULL)
        check_error_shape(damage, damage->code, label);
    else
        check(gufo_model_facts(file).data_offset >= gufo_model_facts(file).infos_end,
              "%s: data offset", label);
}

/* ---- files that change ---------------------------------------------------------------------- */

static void walk_unsteady_array(const gufo_array *array, unsigned depth)
{
    bounds in = {array->data, (size_t)array->size, "unsteady array"};
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value value;
    uint64_t count = 0;

    check(depth <= GUFO_MAX_DEPTH, "unsteady arrays go too deep");
    while (gufo_array_next(&iter, &value)) {
        check(++count <= array->count, "unsteady array has too many elements");
        if (value.type == GUFO_VALUE_STRING)
            touch(&in, value.as.str.data, value.as.str.len);
        if (value.type == GUFO_VALUE_ARRAY) {
            touch(&in, value.as.array.data, value.as.array.size);
            walk_unsteady_array(&value.as.array, depth + 1);
        }
    }
    check(count == array->count || iter.changed, "unsteady array ends early without saying why");
    if (array->count > 0)
        (void)gufo_array_at(array, array->count - 1, &value, NULL);
}

void walk_unsteady(const gufo_model *file)
{
    gufo_entry entry;

    for (uint64_t i = 0; gufo_model_entry_at(file, i, &entry); i++)
        if (entry.value.type == GUFO_VALUE_ARRAY)
            walk_unsteady_array(&entry.value.as.array, 1);
}

/* ---- dumps ---------------------------------------------------------------------------------- */

static void dump_bytes(FILE *out, const void *data, size_t len)
{
    const uint8_t *at = data;

    fprintf(out, "%zu:", len);
    for (size_t i = 0; i < len; i++)
        if (at[i] > 0x20 && at[i] < 0x7f && at[i] != '\\')
            fputc(at[i], out);
        else
            fprintf(out, "\\%02x", at[i]);
}

static void dump_value(FILE *out, const gufo_value *value)
{
    gufo_array_iter iter;
    gufo_value element;

    fprintf(out, "%s ", gufo_value_type_name(value->type));
    if (value->type == GUFO_VALUE_STRING) {
        dump_bytes(out, value->as.str.data, value->as.str.len);
    } else if (value->type == GUFO_VALUE_ARRAY) {
        fprintf(out, "%s %" PRIu64 " [", gufo_value_type_name(value->as.array.type),
                value->as.array.count);
        iter = gufo_array_start(&value->as.array);
        while (gufo_array_next(&iter, &element)) {
            dump_value(out, &element);
            fputc(',', out);
        }
        fputc(']', out);
    } else {
        fprintf(out, "%" PRIx64, number_bits(value));
    }
}

static void dump_entry(FILE *out, const gufo_entry *entry, unsigned parts)
{
    fprintf(out, "entry ");
    dump_bytes(out, entry->key.data, entry->key.len);
    fputc(' ', out);
    dump_value(out, &entry->value);
    if (parts & DUMP_LAYOUT)
        fprintf(out, " at %" PRIu64 " %" PRIu64 " %" PRIu64, entry->offset, entry->value_offset,
                entry->end);
    fputc('\n', out);
}

/* FNV-1a of the tensor's data, read in pieces of odd sizes. */
static void dump_data(FILE *out, const gufo_model *file, const gufo_tensor *tensor)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    gufo_error error = no_error();
    uint8_t piece[61];

    for (uint64_t at = 0; at < tensor->size;) {
        size_t size = tensor->size - at < sizeof piece ? (size_t)(tensor->size - at) : sizeof piece;

        if (gufo_tensor_read_raw(file, tensor, at, piece, size, &error) != GUFO_OK) {
            fprintf(out, " data: %s", error.message);
            return;
        }
        for (size_t i = 0; i < size; i++)
            digest = (digest ^ piece[i]) * UINT64_C(0x100000001b3);
        at += size;
    }
    fprintf(out, " data %016" PRIx64, digest);
}

static void dump_tensor(FILE *out, const gufo_model *file, const gufo_tensor *tensor,
                        unsigned parts)
{
    fprintf(out, "tensor ");
    dump_bytes(out, tensor->name.data, tensor->name.len);
    fprintf(out, " type %" PRIu32 " dims %" PRIu32 ":", tensor->type, tensor->n_dims);
    for (uint32_t i = 0; i < tensor->n_dims; i++)
        fprintf(out, " %" PRIu64, tensor->dims[i]);
    fprintf(out, " elements %" PRIu64 " known %d", tensor->elements, tensor->size_known ? 1 : 0);
    if (tensor->size_known || (parts & DUMP_UNKNOWN_SIZE))
        fprintf(out, " size %" PRIu64 " available %" PRIu64, tensor->size, tensor->available);
    if (parts & DUMP_LAYOUT)
        fprintf(out, " at %" PRIu64 " info %" PRIu64, tensor->offset, tensor->info_offset);
    if ((parts & DUMP_DATA) && (tensor->size_known || (parts & DUMP_UNKNOWN_SIZE)))
        dump_data(out, file, tensor);
    fputc('\n', out);
}

char *dump_file(const gufo_model *file, unsigned parts)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    gufo_entry entry;
    gufo_tensor tensor;

    if (out == NULL)
        abort();
    fprintf(out, "alignment %" PRIu32 "\n", gufo_model_facts(file).alignment);
    if (parts & DUMP_LAYOUT)
        fprintf(out,
                "version %" PRIu32 " order %d size %" PRIu64 " infos end %" PRIu64 " data %" PRIu64
                "+%" PRIu64 " claims %" PRIu64 " %" PRIu64 "\n",
                gufo_model_facts(file).version, (int)gufo_model_facts(file).byte_order,
                gufo_model_facts(file).size, gufo_model_facts(file).infos_end,
                gufo_model_facts(file).data_offset, gufo_model_facts(file).data_size,
                gufo_model_facts(file).claimed_metadata, gufo_model_facts(file).claimed_tensors);
    for (uint64_t i = 0; gufo_model_entry_at(file, i, &entry); i++)
        dump_entry(out, &entry, parts);
    for (uint64_t i = 0; gufo_model_tensor_at(file, i, &tensor); i++)
        dump_tensor(out, file, &tensor, parts);
    fclose(out);
    return text;
}

void check_same_dump(const char *got, const char *expected, const char *label)
{
    size_t line = 1, start = 0, i = 0;

    for (; got[i] != '\0' && got[i] == expected[i]; i++)
        if (got[i] == '\n') {
            line++;
            start = i + 1;
        }
    if (got[i] == expected[i])
        return;
    print_error("[%s] line %zu differs:\n  got      %.300s\n  expected %.300s\n", label, line,
                got + start, expected + start);
    check(false, "%s: dumps differ", label);
}
