#include "document.h"

gufo_document *document_for(encoding e, uint32_t flags)
{
    const gufo_document_options options = {.flags = flags};
    gufo_error error = no_error();
    gufo_document *d = gufo_document_new(&options, &error);

    check(d != NULL, "%s: %s", encoding_name(e), error.message);
    check_ok(gufo_document_set_encoding(d, (uint32_t)e.version,
                                        e.big ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN, &error),
             &error, "%s", encoding_name(e));
    return d;
}

gufo_document *document_of(const gufo_model *model, uint32_t flags, const char *label)
{
    const gufo_document_options options = {.flags = flags};
    gufo_error error = no_error();
    gufo_document *d = gufo_document_from(model, &options, &error);

    check(d != NULL, "%s: %s", label, error.message);
    return d;
}

void check_header(gufo_document *d, const gufo_layout_options *options, const void *bytes,
                  size_t len, const char *label)
{
    gufo_error error = no_error();
    const uint8_t *expected = bytes, *got;
    const void *header = NULL;
    gufo_layout layout;
    size_t size = 0, at = 0;

    check_ok(gufo_document_layout(d, options, &layout, &error), &error, "%s: layout", label);
    check_ok(gufo_document_header(d, &header, &size, &error), &error, "%s: header", label);
    for (got = header; at < size && at < len && got[at] == expected[at]; at++)
        ;
    check(at == size && at == len, "%s: %zu bytes, expected %zu, first difference at %zu", label,
          size, len, at);
    check_u64(layout.data_offset, len, "%s: data offset", label);
    check_u64(layout.metadata_size, gufo_document_metadata_size(d) + layout.padding, "%s", label);
}

void check_packed(gufo_document *d, const builder *b, const char *label)
{
    check_header(d, NULL, b->data, b->len, label);
}

void check_rule(gufo_status status, gufo_status expected, const gufo_error *error, const char *rule,
                const char *label)
{
    check_status(status, expected, error, "%s", label);
    check_error_shape(error, expected, label);
    check(error->rule != NULL && strcmp(error->rule->name, rule) == 0, "%s: rule %s, not %s", label,
          error->rule != NULL ? error->rule->name : "none", rule);
}
