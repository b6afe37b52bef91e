/* What the fuzz targets share; see walk.h. */
#include "walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void broken(const char *promise)
{
    fprintf(stderr, "broken promise: %s\n", promise);
    abort();
}

/* Touches every byte, so that a sanitizer sees a view that reaches too far. */
static void touch(const void *data, size_t size)
{
    static volatile unsigned sink;
    unsigned sum = 0;

    for (size_t i = 0; i < size; i++)
        sum += ((const uint8_t *)data)[i];
    sink = sink + sum;
}

/* ---- values --------------------------------------------------------------------------------- */

static void walk_value(const gufo_value *value, int depth);

/* gufo_array_at must agree with the iterator; it is linear for strings, so only three are asked. */
static void check_array_at(const gufo_array *array, uint64_t index, const gufo_value *expected)
{
    gufo_value value;

    if (index != 0 && index != array->count / 2 && index != array->count - 1)
        return;
    must(gufo_array_at(array, index, &value, NULL) == GUFO_OK, "every element can be reached");
    must(same_value(&value, expected), "gufo_array_at agrees with gufo_array_next");
}

static void check_array_read(const gufo_array *array)
{
    uint64_t buffer[8]; /* aligned for every element type */
    size_t size = gufo_value_type_size(array->type);
    uint64_t first = array->count > 4 ? array->count - 4 : 0;
    gufo_status status = gufo_array_read(array, first, array->count - first, buffer, NULL);

    must(status == (size ? GUFO_OK : GUFO_E_TYPE), "arrays of numbers can be read, others not");
    if (size) {
        touch(buffer, size * (size_t)(array->count - first));
        must(gufo_array_read(array, array->count, 1, buffer, NULL) == GUFO_E_RANGE,
             "no element is read past the end");
    }
}

static void walk_array(const gufo_array *array, int depth)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value value;
    uint64_t seen = 0;

    must(depth < GUFO_MAX_DEPTH, "arrays are nested no deeper than the limit");
    while (gufo_array_next(&iter, &value)) {
        must(value.type == array->type, "elements have the type of the array");
        walk_value(&value, depth + 1);
        check_array_at(array, seen, &value);
        seen++;
    }
    must(!iter.changed, "an array that was opened can be walked");
    must(seen == array->count, "the walk sees every element");
    must(gufo_array_at(array, array->count, &value, NULL) == GUFO_E_RANGE,
         "no element is found past the end");
    check_array_read(array);
}

static void walk_value(const gufo_value *value, int depth)
{
    uint64_t u = 0;
    int64_t i = 0;
    double f = 0;
    bool b = false;
    gufo_str str = {0};
    gufo_array array;
    gufo_error error;

    must(gufo_value_type_name(value->type) != NULL, "every value has a type with a name");
    if (gufo_value_u64(value, &u, &error) == GUFO_OK &&
        gufo_value_i64(value, &i, &error) == GUFO_OK)
        must(i >= 0 && (uint64_t)i == u, "an integer is the same number in both signednesses");
    must((gufo_value_f64(value, &f, &error) == GUFO_OK) ==
             (value->type == GUFO_VALUE_FLOAT32 || value->type == GUFO_VALUE_FLOAT64),
         "floats, and nothing else, are floats");
    must((gufo_value_bool(value, &b, &error) == GUFO_OK) == (value->type == GUFO_VALUE_BOOL),
         "bools, and nothing else, are bools");
    if (gufo_value_str(value, &str, &error) == GUFO_OK) {
        touch(str.data, str.len);
        must(gufo_utf8_valid_prefix(str) <= str.len, "a prefix is no longer than the text");
    }
    if (value->type == GUFO_VALUE_ARRAY) {
        must(gufo_value_array(value, value->as.array.type, &array, &error) == GUFO_OK,
             "an array can be taken out of its value");
        touch(array.data, (size_t)array.size);
        walk_array(&array, depth);
    }
}

static bool same_array(const gufo_array *a, const gufo_array *b)
{
    gufo_array_iter ia = gufo_array_start(a), ib = gufo_array_start(b);
    gufo_value va, vb;

    if (a->type != b->type || a->count != b->count)
        return false;
    for (;;) {
        bool more_a = gufo_array_next(&ia, &va), more_b = gufo_array_next(&ib, &vb);

        if (more_a != more_b)
            return false;
        if (!more_a)
            return !ia.changed && !ib.changed;
        if (!same_value(&va, &vb))
            return false;
    }
}

static uint64_t bits_of(double f)
{
    uint64_t bits;

    memcpy(&bits, &f, sizeof bits);
    return bits;
}

bool same_value(const gufo_value *a, const gufo_value *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case GUFO_VALUE_ARRAY:
        return same_array(&a->as.array, &b->as.array);
    case GUFO_VALUE_STRING:
        return gufo_str_equal(a->as.str, b->as.str);
    case GUFO_VALUE_BOOL:
        return a->as.b == b->as.b;
    case GUFO_VALUE_FLOAT32:
    case GUFO_VALUE_FLOAT64:
        return bits_of(a->as.f) == bits_of(b->as.f);
    default:
        return a->as.u == b->as.u;
    }
}

/* ---- files ---------------------------------------------------------------------------------- */

static void walk_metadata(const gufo_model *file)
{
    gufo_entry entry, found;
    uint64_t count = gufo_model_entry_count(file);

    for (uint64_t i = 0; i < count; i++) {
        must(gufo_model_entry_at(file, i, &entry), "every entry up to the count is there");
        touch(entry.key.data, entry.key.len);
        must(entry.offset < entry.value_offset && entry.value_offset <= entry.end &&
                 entry.end <= gufo_model_facts(file).size,
             "the offsets of an entry are in order and inside the file");
        must(gufo_model_find_str(file, entry.key, &found), "every key is found");
        must(gufo_str_equal(found.key, entry.key), "the key that is found is the one asked for");
        walk_value(&entry.value, 0);
    }
    must(!gufo_model_entry_at(file, count, &entry), "no index past the count finds an entry");
    must(!gufo_model_find(file, "no.such.key", &entry) ||
             gufo_str_equal(entry.key, gufo_str_of("no.such.key")),
         "a key that is absent is not found");
}

static void walk_data(const gufo_model *file, const gufo_tensor *tensor, bool strict)
{
    uint8_t buffer[256];
    const void *data = gufo_tensor_raw(file, tensor);
    size_t size = tensor->size < sizeof buffer ? (size_t)tensor->size : sizeof buffer;
    gufo_status status =
        gufo_tensor_read_raw(file, tensor, tensor->size - size, buffer, size, NULL);

    if (data)
        touch(data, (size_t)tensor->size);
    if (strict)
        must(status == GUFO_OK, "the data of a tensor can be read");
    if (status == GUFO_OK && data && size)
        must(memcmp((const uint8_t *)data + tensor->size - size, buffer, size) == 0,
             "data that is read is the data that is mapped");
    if (size)
        must(gufo_tensor_read_raw(file, tensor, tensor->size, buffer, 1, NULL) == GUFO_E_RANGE,
             "no data is read past the end of a tensor");
}

/* The figures agree with each other. */
static void check_stats(const gufo_stats *s)
{
    uint64_t nonfinite = s->nan.count + s->positive_infinite.count + s->negative_infinite.count;
    uint64_t counted = s->outliers_below + s->outliers_above;

    for (size_t i = 0; i < GUFO_STATS_BINS; i++)
        counted += s->bins[i];
    must(s->finite + nonfinite == s->elements, "a value is finite or it is not");
    must(counted == s->finite, "bins and outliers add up");
    must(s->zeros <= s->finite, "zeros are finite");
    must(s->finite == 0 || (s->minimum <= s->mean && s->mean <= s->maximum),
         "the mean is between the extremes");
    must(isfinite(s->deviation) && s->deviation >= 0, "there is a deviation");
    must(s->finite == 0 || (s->low <= s->high && s->minimum <= s->low && s->high <= s->maximum),
         "the histogram is between the extremes");
    must(s->rms >= 0 && (s->rms <= fabs(s->minimum) || s->rms <= fabs(s->maximum)),
         "the root mean square is at most the largest");
    must(s->top_energy >= 0 && s->top_energy <= 1, "energy is a share");
}

static void walk_scales(const gufo_model *file, const gufo_tensor *tensor)
{
    gufo_run run = {.threads = 1};
    gufo_scales s;

    if (gufo_tensor_scan_scales(file, tensor, &run, &s, NULL) != GUFO_OK)
        return;
    must(s.scales.count <= tensor->elements && s.minimums.count <= s.scales.count,
         "no more scales than values");
    must(s.scales.zeros + s.scales.nonfinite <= s.scales.count, "scales are counted once");
}

static void walk_stats(const gufo_model *file, const gufo_tensor *tensor, bool strict)
{
    gufo_run run = {.threads = 1};
    gufo_stats stats;
    gufo_status status = gufo_tensor_scan(file, tensor, 0, &run, &stats, NULL);

    if (status != GUFO_OK)
        return;
    walk_scales(file, tensor);
    must(stats.elements <= tensor->elements, "no more values than the tensor has");
    must(!strict || stats.elements == tensor->elements, "all values are looked at");
    check_stats(&stats);
}

static void walk_tensors(const gufo_model *file, bool strict)
{
    enum { MOST_STATS = 2, MOST_BYTES = 65536 }; /* scans are slow */
    gufo_tensor tensor, found;
    uint64_t count = gufo_model_tensor_count(file), size = gufo_model_facts(file).size;

    for (uint64_t i = 0; i < count; i++) {
        must(gufo_model_tensor_at(file, i, &tensor), "every tensor up to the count is there");
        touch(tensor.name.data, tensor.name.len);
        must(tensor.n_dims <= GUFO_MAX_DIMS, "a tensor has no more dims than the limit");
        must(tensor.available <= tensor.size, "no more bytes are available than there should be");
        must(gufo_model_tensor_find_str(file, tensor.name, &found), "every tensor is found");
        must(gufo_str_equal(found.name, tensor.name), "the tensor found is the one asked for");
        if (strict) {
            must(found.info_offset == tensor.info_offset, "a name stands for one tensor");
            /* An empty tensor may lie behind the last byte, where padding was left out. */
            must(tensor.size == 0 ? tensor.offset < size + gufo_model_facts(file).alignment
                                  : tensor.offset <= size && tensor.size <= size - tensor.offset,
                 "tensor data lies inside the file");
            must(tensor.offset % gufo_model_facts(file).alignment ==
                     gufo_model_facts(file).data_offset % gufo_model_facts(file).alignment,
                 "tensor data is aligned");
            must(tensor.available == tensor.size, "all data is available");
        }
        walk_data(file, &tensor, strict);
        if (i < MOST_STATS && tensor.available <= MOST_BYTES)
            walk_stats(file, &tensor, strict);
    }
    must(!gufo_model_tensor_at(file, count, &tensor), "no index past the count finds a tensor");
}

static void check_finding(void *context, const gufo_finding *finding)
{
    const bool *strict = context;

    must(finding->rule && finding->message && finding->message[0],
         "a finding has rule and message");
    must(gufo_rule_by_id(finding->rule->id) == finding->rule, "a rule is found by its id");
    touch(finding->subject.data, finding->subject.len);
    touch(finding->message, strlen(finding->message));
    must(!*strict || !finding->rule->fatal, "an opened file breaks no rule that open checks");
}

void walk_file(const gufo_model *file, bool strict)
{
    gufo_error error;
    uint64_t number;

    must(gufo_model_facts(file).version <= 3, "the version is a known one");
    if (strict) {
        must(gufo_model_damage(file) == NULL, "a file that opens is not damaged");
        must(gufo_model_facts(file).claimed_metadata == gufo_model_entry_count(file) &&
                 gufo_model_facts(file).claimed_tensors == gufo_model_tensor_count(file),
             "everything that is claimed is there");
    }
    walk_metadata(file);
    walk_tensors(file, strict);
    (void)gufo_model_get_u64(file, "general.alignment", &number, &error);
    must(gufo_model_check(file, check_finding, &strict, &error) == GUFO_OK,
         "checking does not fail");
}

/* ---- memory --------------------------------------------------------------------------------- */

/* The size of a block is kept in front of it. */
#define FRONT 16

static void *resize(void *context, void *block, size_t size)
{
    counter *count = context;
    uint8_t *start = block ? (uint8_t *)block - FRONT : NULL;
    size_t old = 0;

    if (start)
        memcpy(&old, start, sizeof old);
    if (size == 0) {
        free(start);
        count->blocks -= start != NULL;
        count->held -= old;
        return NULL;
    }
    count->blocks += start == NULL;
    uint8_t *moved = realloc(start, size + FRONT);
    must(moved != NULL, "the machine has enough memory");
    memcpy(moved, &size, sizeof size);
    count->held += size - old;
    if (count->held > count->peak)
        count->peak = count->held;
    return moved + FRONT;
}

gufo_allocator counting_allocator(counter *count)
{
    return (gufo_allocator){resize, count};
}
