/* Names of tensors: "blk." "12" ".attn_q" ".weight". */
#include "schema/check/tensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "schema/registry/pattern.h"
#include "schema/registry/tables.h"

const block_series schema_block_series[BLOCK_SERIES] = {
    {"blk.", {"block_count"}, false},
    {"enc.blk.", {"encoder.block_count", "block_count"}, false},
    {"dec.blk.", {"decoder.block_count", "decoder_block_count", "block_count"}, false},
    {"encoder.blocks.", {"encoder.block_count"}, true},
    {"decoder.blocks.", {"decoder.block_count"}, true},
};

/* Where the number begins; 0 if none exists. */
static size_t find_number(gufo_str name, const block_series *series, size_t *digits)
{
    size_t at = strlen(series->prefix);

    *digits = str_begins(name, series->prefix) ? str_digits(name, at) : 0;
    return *digits > 0 && (at + *digits == name.len || name.data[at + *digits] == '.') ? at : 0;
}

static void read_number(gufo_str name, size_t at, size_t digits, parsed_name *out)
{
    gufo_str rest = {name.data + at + digits, name.len - at - digits};
    int len;

    if (!str_number((gufo_str){name.data + at, digits}, &out->block))
        out->block = UINT64_MAX;
    out->odd_number = digits > 1 && name.data[at] == '0';
    if (!out->odd_number && out->block != UINT64_MAX)
        return;
    len = snprintf(out->text, sizeof out->text, "%.*s%" PRIu64, (int)at, name.data, out->block);
    if (len > 0 && rest.len < sizeof out->text - (size_t)len) {
        memcpy(out->text + len, rest.data, rest.len);
        out->text[(size_t)len + rest.len] = '\0';
    }
}

void tensor_name_parse(gufo_str name, parsed_name *out)
{
    gufo_str whole = {out->text, name.len < GUFO_MAX_NAME ? name.len : GUFO_MAX_NAME};

    *out = (parsed_name){.series = NULL};
    memcpy(out->text, name.data, whole.len);
    for (size_t i = 0; i < BLOCK_SERIES; i++) {
        size_t digits, at = find_number(name, &schema_block_series[i], &digits);

        if (at == 0)
            continue;
        out->series = &schema_block_series[i];
        read_number(name, at, digits, out);
        if (out->odd_number || out->block == UINT64_MAX)
            whole.len = strlen(out->text);
        break;
    }
    out->known = gufo_tensor_info_find_str(whole, &out->match);
}

bool tensor_suffix_known(const parsed_name *name)
{
    return tensor_is_weight(name) ||
           str_is_word(name->match.suffix, ".bias .scale .scales .act.scales .input_scale");
}

bool tensor_is_weight(const parsed_name *name)
{
    gufo_str suffix = name->match.suffix;

    return suffix.len == 0 || gufo_str_equal(suffix, gufo_str_of(".weight"));
}

const gufo_tensor_info *tensor_info_named(gufo_str pattern)
{
    return row_find(gufo_tensor_info_at(0), schema_tensor_info_count(), sizeof(gufo_tensor_info),
                    pattern);
}

const block_series *pattern_series(const char *pattern)
{
    for (size_t i = 0; i < BLOCK_SERIES; i++) {
        size_t prefix = strlen(schema_block_series[i].prefix);

        if (strncmp(pattern, schema_block_series[i].prefix, prefix) == 0 &&
            strncmp(pattern + prefix, "{bid}", 5) == 0)
            return &schema_block_series[i];
    }
    return NULL;
}
