/* The value of a key from a text, of a type that the key may have. */
#include "base/error.h"
#include "gufo/value.h"

static gufo_status read_as(const gufo_key_type *type, const char *text, gufo_value *out,
                           gufo_text *bytes, gufo_error *error)
{
    if (type->is_array)
        return gufo_value_read_json(type->type, text, out, bytes, NULL, error);
    return gufo_value_read(type->type, text, out)
               ? GUFO_OK
               : refuse(error, GUFO_E_TYPE, "not a value of type %s",
                        gufo_value_type_name(type->type));
}

gufo_status gufo_document_set_read(gufo_document *document, const char *key, const char *text,
                                   const gufo_key_types *types, gufo_error *error)
{
    gufo_key_types arrays = gufo_key_types_of_shape(types, true), fitting = arrays;
    char name[GUFO_KEY_TYPES_SIZE];
    gufo_status status;
    bool is_read = false;

    if (*text != '[' || arrays.count == 0)
        fitting = gufo_key_types_of_shape(types, false);
    status = refuse(error, GUFO_E_TYPE, "the key takes %s", gufo_key_types_name(types, name));
    for (size_t i = 0; i < fitting.count && !is_read; i++) {
        gufo_text bytes = {0};
        gufo_value value;

        status = read_as(&fitting.list[i], text, &value, &bytes, error);
        is_read = status == GUFO_OK;
        if (is_read)
            status = gufo_document_set(document, key, &value, error);
        gufo_text_free(&bytes);
    }
    return status;
}
