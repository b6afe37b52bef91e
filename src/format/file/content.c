/* What may be written; file.h has the purpose. */
#include "format/file/file.h"

#include <inttypes.h>

#include "base/error.h"
#include "format/rules/rules.h"
#include "format/value/value.h"

/* ---- names ---------------------------------------------------------------------------------- */

gufo_status content_check_key(gufo_str key, content_rules rules, gufo_error *error)
{
    gufo_status status;

    /* ggml's reader asks for nothing else. */
    if (rules == CONTENT_AS_GGML && key.len > 0)
        return GUFO_OK;
    status = names_check(key, key_rules, error);
    return status == GUFO_OK && rules == CONTENT_NEW ? names_check(key, key_extra_rules, error)
                                                     : status;
}

gufo_status content_check_name(gufo_str name, content_rules rules, gufo_error *error)
{
    gufo_status status = names_check(name, name_rules, error);

    return status == GUFO_OK && rules == CONTENT_NEW ? names_check(name, name_extra_rules, error)
                                                     : status;
}

/* ---- values --------------------------------------------------------------------------------- */

static gufo_status check_alignment(const gufo_value *value, content_rules rules, gufo_error *error)
{
    uint64_t alignment = value->as.u;

    if (value->type != GUFO_VALUE_UINT32)
        return rule_failure(error, RULE_ALIGNMENT_TYPE, "general.alignment has type %s, not uint32",
                            gufo_value_type_name(value->type));
    if (rules == CONTENT_NEW &&
        (alignment == 0 || alignment > GUFO_MAX_ALIGNMENT || alignment % 8 != 0))
        return rule_failure(error, RULE_ALIGNMENT_VALUE,
                            "general.alignment is %" PRIu64
                            "; it must be a multiple of 8, up to %u",
                            alignment, GUFO_MAX_ALIGNMENT);
    if (!alignment_acceptable(alignment))
        return rule_failure(error, RULE_ALIGNMENT_VALUE,
                            "general.alignment is %" PRIu64
                            "; it must be a power of two or a multiple of 8",
                            alignment);
    return GUFO_OK;
}

static gufo_status check_text(gufo_str key, gufo_str text, content_rules rules, gufo_error *error)
{
    size_t valid = rules != CONTENT_NEW ? text.len : gufo_utf8_valid_prefix(text);

    if (valid < text.len)
        return rule_failure(error, RULE_STRING_UTF8,
                            "string of key %s is not UTF-8: byte 0x%02x at position %zu",
                            QUOTED(key), (unsigned char)text.data[valid], valid);
    return GUFO_OK;
}

gufo_status content_check_value(gufo_str key, const gufo_value *value, content_rules rules,
                                gufo_error *error)
{
    const value_type_info *info = value_type_row((uint32_t)value->type);
    gufo_status status = value_check(value, error);

    if (status != GUFO_OK)
        return status;
    if (gufo_str_equal(key, gufo_str_of(GUFO_ALIGNMENT_KEY)))
        return check_alignment(value, rules, error);
    if (info->kind == KIND_STRING)
        return check_text(key, value->as.str, rules, error);
    if (!value_fits(value))
        return refuse(error, GUFO_E_RANGE, "the number for key %s does not fit into %s",
                      QUOTED(key), info->name);
    return GUFO_OK;
}

/* ---- tensors -------------------------------------------------------------------------------- */

gufo_status content_check_shape(gufo_str name, uint32_t type_id, uint32_t n_dims,
                                const uint64_t *dims, uint64_t *size, content_rules rules,
                                gufo_error *error)
{
    const gufo_element_type *type = gufo_element_type_by_id(type_id);
    uint64_t elements, computed;
    gufo_status status = tensor_check_shape(name, type_id, n_dims, dims, rules == CONTENT_NEW,
                                            &elements, &computed, error);

    if (status != GUFO_OK)
        return status;
    if (type == NULL || type->block_elements == 0) {
        if ((*size == 0) == (elements == 0) && *size <= INT64_MAX)
            return GUFO_OK;
        return refuse(error, GUFO_E_ARGUMENT,
                      "the size of tensor %s must be given: the layout of type %" PRIu32
                      " is not known",
                      QUOTED(name), type_id);
    }
    if (*size != 0 && *size != computed)
        return refuse(error, GUFO_E_ARGUMENT, "tensor %s has %s bytes by type and dims, not %s",
                      QUOTED(name), GROUPED(computed), GROUPED(*size));
    *size = computed;
    return GUFO_OK;
}
