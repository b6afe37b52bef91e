/* Models that are only a header: metadata and tensor infos from tables of text. */
#ifndef TEST_ESTIMATE_HEADER_MODEL_H
#define TEST_ESTIMATE_HEADER_MODEL_H

#include "../support/builder.h"

typedef struct header_model {
    builder bytes;
    gufo_model *model;
} header_model;

/* Column `index` of a line of a table; it ends with a tab or the line. */
static inline const char *column_of(const char *line, size_t index)
{
    for (; index > 0 && *line != '\0' && *line != '\n'; line++)
        if (*line == '\t')
            index--;
    return line;
}

static inline gufo_str column_text(const char *line, size_t index)
{
    const char *at = column_of(line, index);

    return (gufo_str){at, strcspn(at, "\t\n")};
}

static inline uint64_t column_number(const char *line, size_t index)
{
    return strtoull(column_of(line, index), NULL, 10);
}

static inline bool column_is(const char *line, size_t index, const char *text)
{
    return gufo_str_equal(column_text(line, index), gufo_str_of(text));
}

static inline const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line == '\n' ? line + 1 : line;
}

static inline uint64_t count_lines(const char *text)
{
    uint64_t count = 0;

    for (; *text != '\0'; text = next_line(text))
        count++;
    return count;
}

/* "key TAB value": whole numbers are uint32 (uint64 if they do not fit), others float32, numbers with
 * commas between them arrays of uint32; all else is text. */
static inline void add_entry(builder *b, const char *line)
{
    char key[128], value[4096];
    gufo_str name = column_text(line, 0), text = column_text(line, 1);

    check(name.len < sizeof key && text.len < sizeof value, "%.40s", line);
    snprintf(key, sizeof key, "%.*s", (int)name.len, name.data);
    snprintf(value, sizeof value, "%.*s", (int)text.len, text.data);
    if (value[0] < '0' || value[0] > '9') {
        builder_kv_str(b, key, value);
    } else if (strchr(value, ',') != NULL) {
        uint64_t count = 1;

        for (const char *at = value; *at != '\0'; at++)
            count += *at == ',' && at[1] != '\0';
        builder_kv_array(b, key, GUFO_VALUE_UINT32, count);
        for (char *at = value; *at != '\0'; at += *at == ',')
            builder_u32(b, (uint32_t)strtoul(at, &at, 10));
    } else if (strpbrk(value, ".e") != NULL) {
        builder_key(b, key, GUFO_VALUE_FLOAT32);
        builder_f32(b, strtof(value, NULL));
    } else if (strtoull(value, NULL, 10) > UINT32_MAX) {
        builder_kv_u64(b, key, strtoull(value, NULL, 10));
    } else {
        builder_kv_u32(b, key, (uint32_t)strtoul(value, NULL, 10));
    }
}

/* "name TAB type TAB 4096x1024"; *offset moves behind the data. */
static inline void add_tensor(builder *b, const char *line, uint64_t *offset)
{
    gufo_str name = column_text(line, 0), type_name = column_text(line, 1);
    char type_text[32];
    const gufo_element_type *type;
    uint64_t dims[4] = {1, 1, 1, 1}, bytes = 0;
    uint32_t count = 0;

    snprintf(type_text, sizeof type_text, "%.*s", (int)type_name.len, type_name.data);
    type = gufo_element_type_by_name(type_text);
    check(type != NULL, "%.80s", line);
    for (const char *at = column_of(line, 2); count < 4; at++) {
        char *end;

        dims[count++] = strtoull(at, &end, 10);
        at = end;
        if (*at != 'x')
            break;
    }
    builder_tensorn(b, name.data, name.len, type->id, count, dims, *offset);
    check(gufo_element_row_size(type, dims[0], &bytes, NULL) == GUFO_OK, "%.80s", line);
    *offset += (bytes * dims[1] * dims[2] * dims[3] + 31) / 32 * 32;
}

/* Opens a model of these lines, which have no line of names at their start. */
static inline header_model header_model_open(const char *entries, const char *tensors)
{
    header_model m = {.bytes = builder_new((encoding){3, false})};
    gufo_open_options options = {.flags = GUFO_OPEN_METADATA_ONLY, .name = "header"};
    gufo_error error;
    uint64_t offset = 0;

    builder_header(&m.bytes, count_lines(tensors), count_lines(entries));
    for (; *entries != '\0'; entries = next_line(entries))
        add_entry(&m.bytes, entries);
    for (; *tensors != '\0'; tensors = next_line(tensors))
        add_tensor(&m.bytes, tensors, &offset);
    m.model = gufo_model_open_memory(m.bytes.data, m.bytes.len, &options, &error);
    check(m.model != NULL, "%s", error.message);
    return m;
}

static inline void header_model_close(header_model *m)
{
    gufo_model_free(m->model);
    builder_free(&m->bytes);
}

#endif
