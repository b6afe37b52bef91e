/* The second pass: rules that a file can break and still have one meaning.
 *
 * Opening has checked what makes a file unsafe or ambiguous.  Here are the rules about characters,
 * padding, gaps and missing keys, and about what other readers refuse.  One function per rule or
 * group of rules that look at the same thing; `gufo_model_check` calls them all. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "format/model/model.h"
#include "format/value/value.h"
#include "format/rules/rules.h"

static const char quantization_version[] = "general.quantization_version";

typedef struct checker {
    const gufo_model *model; /* one file */
    const gguf_file *file;   /* its */
    gufo_str architecture;   /* its general.architecture; empty without */
    gufo_finding_fn *found;
    void *context;
    gufo_error *error;
    gufo_status status; /* of reading padding */
} checker;

__attribute__((format(printf, 5, 6))) static void report(checker *c, rule_number rule,
                                                         uint64_t offset, gufo_str subject,
                                                         const char *format, ...)
{
    char message[sizeof c->error->message];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    finding_report(c->found, c->context, c->model->number, rule, offset, subject, message);
}

/* ---- header --------------------------------------------------------------------------------- */

static void check_version(checker *c)
{
    const gguf_file *file = c->file;

    if (file->encoding.version != 3)
        report(c, RULE_VERSION_OLD, 4, gufo_str_of("header"),
               "file has version %u; the current one is 3", file->encoding.version);
    if (file->encoding.version == 1)
        report(c, RULE_COMPAT_GGML, 4, gufo_str_of("header"), "ggml refuses version 1");
    if (file->encoding.byte_order == GUFO_BIG_ENDIAN && file->encoding.version < 3)
        report(c, RULE_BIG_ENDIAN_OLD, 4, gufo_str_of("header"),
               "file of version %u is big-endian; only version 3 defines that",
               file->encoding.version);
    if (file->encoding.byte_order == GUFO_BIG_ENDIAN)
        report(c, RULE_COMPAT_GGML, 4, gufo_str_of("header"),
               "file is big-endian; ggml refuses it on little-endian machines");
}

/* ---- metadata ------------------------------------------------------------------------------- */

static void check_name_rules(checker *c, gufo_str name, uint64_t offset, const name_rule *rules)
{
    char message[sizeof c->error->message];

    for (; rules->broken != NULL; rules++)
        if (rules->broken(name, message, sizeof message))
            report(c, rules->rule, offset, name, "%s", message);
}

/* Where the key goes on behind the architecture of the file, whose name has a rule of its own. */
static size_t skip_architecture(const checker *c, gufo_str key)
{
    gufo_str own = c->architecture;

    return own.len > 0 && key.len > own.len && key.data[own.len] == '.' &&
                   memcmp(key.data, own.data, own.len) == 0
               ? own.len
               : 0;
}

static bool is_lower_snake_case(gufo_str key, size_t from)
{
    for (size_t i = from; i < key.len; i++)
        if ((key.data[i] >= 'A' && key.data[i] <= 'Z') || key.data[i] == '-')
            return false;
    return true;
}

static void check_key(checker *c, const gufo_entry *entry)
{
    check_name_rules(c, entry->key, entry->offset, key_extra_rules);
    if (!is_lower_snake_case(entry->key, skip_architecture(c, entry->key)))
        report(c, RULE_KEY_CASE, entry->offset, entry->key,
               "key %s is not lower_snake_case: it has upper case letters or hyphens",
               QUOTED(entry->key));
}

static void check_text(checker *c, const gufo_entry *entry)
{
    gufo_str text = entry->value.as.str;
    size_t valid;

    if (entry->value.type != GUFO_VALUE_STRING)
        return;
    valid = gufo_utf8_valid_prefix(text);
    if (valid < text.len)
        report(c, RULE_STRING_UTF8, entry->value_offset + valid, entry->key,
               "string of key %s is not UTF-8: byte 0x%02x at position %zu", QUOTED(entry->key),
               (unsigned char)text.data[valid], valid);
}

typedef struct text_survey {
    uint64_t strings, invalid;
    const char *first; /* byte that is not UTF-8 */
    bool nested;
} text_survey;

static void survey_strings(const gufo_array *array, text_survey *survey)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value element;

    while (array->type == GUFO_VALUE_STRING && gufo_array_next(&iter, &element)) {
        size_t valid = gufo_utf8_valid_prefix(element.as.str);

        survey->strings++;
        if (valid < element.as.str.len && survey->invalid++ == 0)
            survey->first = element.as.str.data + valid;
    }
}

/* Looks at all strings of an array and of the arrays inside it; stops where the file was changed
 * since it was opened. */
static void survey_texts(const gufo_array *array, text_survey *survey)
{
    array_event event = ARRAY_BEGIN;
    gufo_array inner;
    array_skip walk;

    survey->nested = array->type == GUFO_VALUE_ARRAY;
    if (!survey->nested) {
        survey_strings(array, survey);
        return;
    }
    array_walk_start(&walk, array);
    while (event == ARRAY_BEGIN || event == ARRAY_LEAF || event == ARRAY_END) {
        event = array_walk_next(&walk, &inner);
        if (event == ARRAY_LEAF)
            survey_strings(&inner, survey);
    }
}

static void check_array(checker *c, const gufo_entry *entry)
{
    const gufo_array *array = &entry->value.as.array;
    text_survey survey = {0};

    if (entry->value.type != GUFO_VALUE_ARRAY)
        return;
    survey_texts(array, &survey);
    if (survey.invalid > 0)
        report(c, RULE_ARRAY_UTF8,
               entry->value_offset + (uint64_t)(survey.first - (const char *)array->data),
               entry->key, "%s of %s strings in the array of key %s are not UTF-8",
               GROUPED(survey.invalid), GROUPED(survey.strings), QUOTED(entry->key));
    if (survey.nested)
        report(c, RULE_COMPAT_GGML, entry->offset, entry->key,
               "ggml refuses the array of arrays of key %s", QUOTED(entry->key));
}

static void check_entries(checker *c)
{
    gufo_entry entry;

    for (uint64_t i = 0; gufo_model_entry_at(c->model, i, &entry); i++) {
        check_key(c, &entry);
        check_text(c, &entry);
        check_array(c, &entry);
    }
}

/* An importance matrix, and losses of quantizing, are for a model, and none themselves. */
static bool is_beside_model(const gufo_model *model)
{
    gufo_str type;

    return gufo_model_get_str(model, "general.type", &type, NULL) == GUFO_OK &&
           str_is_word(type, "imatrix losses");
}

static void check_architecture(checker *c)
{
    const char *key = "general.architecture";
    gufo_entry entry;
    bool found = gufo_model_find(c->model, key, &entry);

    if (!found && is_beside_model(c->model))
        return;
    if (!found)
        report(c, RULE_ARCHITECTURE_MISSING, GUFO_NO_OFFSET, gufo_str_of(key),
               "key \"general.architecture\" is missing");
    else if (entry.value.type != GUFO_VALUE_STRING || entry.value.as.str.len == 0)
        report(c, RULE_ARCHITECTURE_MISSING, entry.value_offset, gufo_str_of(key),
               "key \"general.architecture\" does not name an architecture");
}

static bool find_quantized(const gufo_model *model, gufo_tensor *tensor)
{
    for (uint64_t i = 0; gufo_model_tensor_at(model, i, tensor); i++) {
        const gufo_element_type *type = gufo_element_type_by_id(tensor->type);

        if (type != NULL && (type->flags & GUFO_ELEMENT_QUANTIZED))
            return true;
    }
    return false;
}

static void report_quantized(checker *c, const gufo_tensor *tensor)
{
    report(c, RULE_QUANTIZATION_VERSION_MISSING, GUFO_NO_OFFSET, gufo_str_of(quantization_version),
           "key \"general.quantization_version\" is missing, but tensor %s is quantized (%s)",
           QUOTED(tensor->name), gufo_element_type_by_id(tensor->type)->name);
}

static void check_quantization_version(checker *c)
{
    gufo_tensor tensor;

    if (!gufo_model_find(c->model, quantization_version, NULL) && find_quantized(c->model, &tensor))
        report_quantized(c, &tensor);
}

static void check_alignment(checker *c)
{
    uint32_t alignment = c->file->alignment;
    gufo_entry entry;

    if (!c->file->alignment_known || !gufo_model_find(c->model, GUFO_ALIGNMENT_KEY, &entry))
        return;
    if (alignment % 8 != 0)
        report(c, RULE_ALIGNMENT_EIGHT, entry.value_offset, entry.key,
               "general.alignment is %" PRIu32 ", which is not a multiple of 8", alignment);
    else if ((alignment & (alignment - 1)) != 0)
        report(c, RULE_ALIGNMENT_UNUSUAL, entry.value_offset, entry.key,
               "general.alignment is %" PRIu32 ", which is not a power of two; ggml refuses it",
               alignment);
}

/* Only the first shard of a set describes the model; the others have hardly more than split keys.
 */
static bool is_later_shard(const gufo_model *model)
{
    uint64_t number;

    return gufo_model_get_u64(model, "split.no", &number, NULL) == GUFO_OK && number > 0;
}

/* ---- split keys ----------------------------------------------------------------------------- */

typedef struct split_key {
    const char *key;
    bool present, usable;
    uint64_t value, offset;
} split_key;

static void read_split_key(checker *c, split_key *split)
{
    gufo_entry entry;

    split->present = gufo_model_find(c->model, split->key, &entry);
    if (!split->present)
        return;
    split->offset = entry.value_offset;
    split->usable = gufo_value_u64(&entry.value, &split->value, NULL) == GUFO_OK;
    if (!split->usable)
        report(c, RULE_SPLIT_KEYS, entry.value_offset, gufo_str_of(split->key),
               "key \"%s\" is not a count", split->key);
}

static void check_split(checker *c)
{
    split_key no = {.key = "split.no"}, count = {.key = "split.count"};
    split_key total = {.key = "split.tensors.count"};
    split_key *all[] = {&no, &count, &total};
    uint64_t tensors = c->file->claimed_tensors;
    bool some = false;

    for (size_t i = 0; i < 3; i++) {
        read_split_key(c, all[i]);
        some |= all[i]->present;
    }
    if (!some)
        return;
    for (size_t i = 0; i < 3; i++)
        if (!all[i]->present)
            report(c, RULE_SPLIT_KEYS, GUFO_NO_OFFSET, gufo_str_of(all[i]->key),
                   "key \"%s\" is missing, although other split keys are present", all[i]->key);
    if (no.usable && count.usable && no.value >= count.value)
        report(c, RULE_SPLIT_KEYS, no.offset, gufo_str_of(no.key),
               "split.no is %" PRIu64 ", but split.count is %" PRIu64, no.value, count.value);
    if (total.usable &&
        (tensors > total.value || (count.usable && count.value == 1 && tensors != total.value)))
        report(c, RULE_SPLIT_KEYS, total.offset, gufo_str_of(total.key),
               "split.tensors.count is %" PRIu64 ", but this file has %s tensors", total.value,
               GROUPED(tensors));
}

/* ---- tensor infos --------------------------------------------------------------------------- */

static void check_name(checker *c, const gufo_tensor *tensor)
{
    check_name_rules(c, tensor->name, tensor->info_offset, name_extra_rules);
    if (tensor->name.len == GUFO_MAX_NAME)
        report(c, RULE_COMPAT_GGML, tensor->info_offset, tensor->name,
               "ggml refuses tensor name %s: it has 64 bytes, ggml takes 63", QUOTED(tensor->name));
}

static void check_type(checker *c, const gufo_tensor *tensor)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);

    if (type == NULL)
        report(c, RULE_TYPE_UNKNOWN, tensor->info_offset, tensor->name,
               "tensor %s has element type %" PRIu32
               ", which is not known; its size is inferred from the offsets",
               QUOTED(tensor->name), tensor->type);
    else if (type->flags & GUFO_ELEMENT_REMOVED)
        report(c, RULE_TYPE_REMOVED, tensor->info_offset, tensor->name,
               "tensor %s has element type %s, which was removed from the format",
               QUOTED(tensor->name), type->name);
}

static void check_infos(checker *c)
{
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(c->model, i, &tensor); i++) {
        check_name(c, &tensor);
        check_type(c, &tensor);
        if (file_tensor(c->file, i)->flags & TENSOR_UNUSABLE)
            continue;
        if (tensor.n_dims == 0)
            report(c, RULE_TENSOR_EMPTY, tensor.info_offset, tensor.name,
                   "tensor %s has no dimensions: it is a scalar", QUOTED(tensor.name));
        else if (tensor.elements == 0)
            report(c, RULE_TENSOR_EMPTY, tensor.info_offset, tensor.name,
                   "tensor %s has a dimension of 0, and so no elements", QUOTED(tensor.name));
    }
}

/* ---- data ----------------------------------------------------------------------------------- */

/* Reports the first byte of [from, to) that is not zero; bytes that are not there are no fault
 * here. */
static void check_padding(checker *c, uint64_t from, uint64_t to, gufo_str subject)
{
    uint8_t bytes[4096];

    if (to > c->file->source.size)
        to = c->file->source.size;
    while (from < to && c->status == GUFO_OK) {
        uint64_t hole = source_hole(&c->file->source, from, to - from);
        size_t step = (size_t)smaller(to - from - hole, sizeof bytes);

        from += hole;
        c->status = file_read(c->file, from, bytes, step, c->error);
        for (size_t i = 0; c->status == GUFO_OK && i < step; i++)
            if (bytes[i] != 0) {
                report(c, RULE_PADDING_NONZERO, from + i, subject,
                       "padding holds byte 0x%02x, not 0", bytes[i]);
                return;
            }
        from += step;
    }
}

/* The bytes between `end`, where `subject` ends, and the tensor that follows. */
static void check_between(checker *c, uint64_t end, gufo_str subject, const tensor_record *tensor)
{
    gufo_str name = file_name(c->file, &tensor->record);
    uint64_t padded;

    if (tensor->offset <= end || !checked_align(end, c->file->alignment, &padded))
        return;
    if (tensor->offset > padded)
        report(c, RULE_DATA_GAP, padded, name, "%s bytes before tensor %s belong to no tensor",
               GROUPED(tensor->offset - padded), QUOTED(name));
    check_padding(c, end, smaller(tensor->offset, padded), subject);
}

static void check_tail(checker *c, uint64_t end, gufo_str subject)
{
    uint64_t size = c->file->source.size, padded;
    bool data_missing = size < end && end > c->file->data_offset;

    if (!checked_align(end, c->file->alignment, &padded) || data_missing)
        return;
    check_padding(c, end, padded, subject);
    if (c->status != GUFO_OK)
        return;
    if (size > padded)
        report(c, RULE_TRAILING_BYTES, padded, subject, "%s bytes follow the end of the model",
               GROUPED(size - padded));
    if (size < padded && c->file->tensors.count > 0)
        report(c, RULE_COMPAT_GGML, size, subject,
               "ggml refuses the file: %s bytes of padding at its end are missing",
               GROUPED(padded - size));
}

static void check_order(checker *c)
{
    uint64_t before = 0; /* the offset of the last tensor that has bytes */
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(c->model, i, &tensor); i++) {
        if (tensor.elements == 0)
            continue;
        if (tensor.offset < before)
            report(c, RULE_DATA_ORDER, tensor.info_offset, tensor.name,
                   "data of tensor %s comes before that of the tensor listed before it",
                   QUOTED(tensor.name));
        before = tensor.offset;
    }
}

/* ggml wants data back to back in the order of the infos.  Where that of a tensor without bytes is
 * appears neither as a gap nor as wrong order. */
static void check_empty_places(checker *c)
{
    uint64_t expected = c->file->data_offset;
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(c->model, i, &tensor); i++) {
        if (tensor.elements == 0 && tensor.offset != expected)
            report(c, RULE_COMPAT_GGML, tensor.info_offset, tensor.name,
                   "ggml refuses the file: tensor %s has no bytes, but is at byte %" PRIu64
                   ", not at %" PRIu64,
                   QUOTED(tensor.name), tensor.offset, expected);
        if (tensor.size > 0 &&
            !checked_align(tensor.offset + tensor.size, c->file->alignment, &expected))
            return;
    }
}

static void check_spaces(checker *c, const uint32_t *order, uint64_t count)
{
    const gguf_file *file = c->file;
    gufo_str subject = gufo_str_of("tensor infos");
    uint64_t end = file->infos_end;

    if (count > 0) {
        check_padding(c, end, file->data_offset, subject);
        end = file->data_offset;
    }
    for (uint64_t i = 0; i < count && c->status == GUFO_OK; i++) {
        const tensor_record *tensor = file_tensor(file, order[i]);

        if (tensor->size == 0)
            continue;
        check_between(c, end, subject, tensor);
        subject = file_name(file, &tensor->record);
        if (tensor->offset + tensor->size > end)
            end = tensor->offset + tensor->size;
    }
    if (c->status == GUFO_OK)
        check_tail(c, end, subject);
}

/* How many tensors at the end of the data, which `order` has by their places, seem to be zeros: small ones
 * count if large ones before them do, of which there are several; else 0. */
static uint64_t count_zero_tail(checker *c, const uint32_t *order, uint64_t count)
{
    uint64_t tail = 0, large = 0;
    bool zero = true;

    for (uint64_t i = 0; i < count && zero && c->status == GUFO_OK; i++) {
        const tensor_record *tensor = file_tensor(c->file, order[count - 1 - i]);

        if (!zeros_are_suspect(c->file, tensor))
            continue;
        c->status = zeros_sample(c->file, tensor, &zero, c->error);
        if (zero) {
            tail = i + 1;
            large++;
        }
    }
    return large > 1 ? tail : 0;
}

static void report_zero_matrix(checker *c, const tensor_record *tensor)
{
    gufo_str name = file_name(c->file, &tensor->record);
    bool zero = false;

    if (!zeros_are_suspect_matrix(c->file, tensor))
        return;
    c->status = zeros_sample(c->file, tensor, &zero, c->error);
    if (zero)
        report(c, RULE_DATA_ZERO, tensor->offset, name,
               "the data of tensor %s seems to be all zero", QUOTED(name));
}

/* Zeros over several tensors at the end are one fault, others are one each. */
static void check_zeros(checker *c, const uint32_t *order, uint64_t count)
{
    uint64_t tail = count_zero_tail(c, order, count), begin;
    char size[ZEROS_TEXT];

    if (tail > 0 && c->status == GUFO_OK) {
        const tensor_record *first = file_tensor(c->file, order[count - tail]);

        begin = first->offset;
        report(c, RULE_DATA_ZERO, begin, file_name(c->file, &first->record),
               "the last %s, with %s of %s tensors, seem to be zeros: did the "
               "download finish?",
               zeros_text(c->file->data_end - begin, size), GROUPED(tail), GROUPED(count));
        count -= tail;
    }
    for (uint64_t i = 0; i < count && c->status == GUFO_OK; i++)
        report_zero_matrix(c, file_tensor(c->file, order[i]));
}

static bool some_tensor_unusable(const gguf_file *file)
{
    for (uint64_t i = 0; i < file->tensors.count; i++)
        if (file_tensor(file, i)->flags & TENSOR_UNUSABLE)
            return true;
    return false;
}

static void check_data(checker *c)
{
    const gguf_file *file = c->file;
    uint32_t *order;
    uint64_t count;

    if (file->data_offset == 0 || some_tensor_unusable(file))
        return; /* a damaged file: what belongs to which tensor is not known */
    check_order(c);
    check_empty_places(c);
    if (!gufo_model_has_data(c->model)) {
        report(c, RULE_PADDING_UNREAD, GUFO_NO_OFFSET, gufo_str_of("padding"),
               "padding and gaps were not checked: the data of a pipe can be read only once");
        return;
    }
    order = order_by_offset(file, &count);
    if (order != NULL)
        check_spaces(c, order, count);
    if (order != NULL && c->status == GUFO_OK && c->file->source.size >= c->file->data_end)
        check_zeros(c, order, count);
    if (order == NULL)
        c->status = fail_memory(c->error);
    mem_free(&file->allocator, order);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static gufo_status check_file(const gufo_model *model, gufo_finding_fn *found, void *context,
                              gufo_error *error)
{
    checker c = {
        .model = model, .file = model->file, .found = found, .context = context, .error = error};

    (void)gufo_model_get_str(model, "general.architecture", &c.architecture, NULL);
    check_version(&c);
    check_entries(&c);
    if (c.file->metadata_read) { /* else it is unknown what is missing */
        check_alignment(&c);
        check_split(&c);
    }
    if (c.file->metadata_read && !is_later_shard(model)) {
        check_architecture(&c);
        check_quantization_version(&c);
    }
    check_infos(&c);
    check_data(&c);
    return model_fail(model, c.status, error);
}

void gufo_model_check_set(const gufo_model *model, gufo_finding_fn *found, void *context)
{
    const gufo_model *first = gufo_model_shard(model, 0);
    checker c = {.model = first, .file = first->file, .found = found, .context = context};
    gufo_tensor tensor;

    if (!model_is_set(model))
        return;
    /* A first shard with quantized tensors has its own finding. */
    if (gufo_model_find(first, quantization_version, NULL) || find_quantized(first, &tensor))
        return;
    for (size_t i = 1; i < gufo_model_shard_count(model); i++)
        if (find_quantized(gufo_model_shard(model, i), &tensor)) {
            report_quantized(&c, &tensor);
            return;
        }
}

gufo_status gufo_model_check(const gufo_model *model, gufo_finding_fn *found, void *context,
                             gufo_error *error)
{
    gufo_status status = model_need_files(model, "layout to check", error);

    for (size_t i = 0; i < gufo_model_shard_count(model) && status == GUFO_OK; i++)
        status = check_file(gufo_model_shard(model, i), found, context, error);
    if (status == GUFO_OK)
        gufo_model_check_set(model, found, context);
    return status;
}

/* ---- opening for it ------------------------------------------------------------------------- */

gufo_status gufo_validate(const gufo_input *input, const gufo_open_options *options,
                          gufo_finding_fn *found, void *context, gufo_error *error)
{
    gufo_open_options own = options != NULL ? *options : (gufo_open_options){0};
    gufo_error opening = {0};
    gufo_model *model;
    gufo_status status;

    own.flags |= GUFO_OPEN_LENIENT | GUFO_OPEN_INCOMPLETE;
    own.on_finding = found;
    own.finding_context = context;
    model = gufo_model_open_shards(input, 1, &own, &opening);
    /* A file of which nothing could be read has been reported already, if a rule was the reason. */
    if (model == NULL)
        return opening.rule != NULL ? GUFO_OK : fail_as(error, &opening);
    status = gufo_model_check(model, found, context, error);
    gufo_model_free(model);
    return status;
}
