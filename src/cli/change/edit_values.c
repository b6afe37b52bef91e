/* --set KEY=[TYPE:]VALUE and its kin: values.  Which type a value has:
 *
 *     TYPE:VALUE         that type
 *     an existing key    its type
 *     true, false        bool
 *     7, -7              uint32, int32; uint64, int64 if they do not fit
 *     0.5, 1e-5          float32
 *     anything else      string */
#include "cli/change/edit.h"

#include "base/memory.h"
#include "cli/core/report.h"
#include "cli/core/value_read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a file that become a value, which is kept in memory. */
#define LARGEST_VALUE (UINT64_C(256) << 20)

/* ---- types ---------------------------------------------------------------------------------- */

/* The type that a new key gets. */
static gufo_value_type guess(const char *text)
{
    /* The first that holds the value. */
    static const gufo_value_type tried[] = {GUFO_VALUE_BOOL, GUFO_VALUE_UINT32, GUFO_VALUE_INT32,
                                            GUFO_VALUE_UINT64, GUFO_VALUE_INT64};
    gufo_value value;

    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        if (value_read(tried[i], text, &value))
            return tried[i];
    if (value_is_decimal(text) && isfinite(strtod(text, NULL)))
        return GUFO_VALUE_FLOAT32;
    return GUFO_VALUE_STRING;
}

/* "TYPE:" at the beginning of the text; its length, 0 if there is none. */
static size_t type_prefix(const char *text, gufo_value_type *type)
{
    char name[16];
    size_t len = strcspn(text, ":");

    if (text[len] == '\0' || len >= sizeof name)
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)len, text);
    return gufo_value_type_by_name(name, type) ? len + 1 : 0;
}

/* ---- from the command line ------------------------------------------------------------------ */

int edit_set(edit_change *c)
{
    const char *text = c->operation->text;
    gufo_document_entry old;
    gufo_value value;
    gufo_value_type type;
    size_t prefix = type_prefix(c->rest, &type);

    if (prefix == 0)
        type = gufo_document_find(c->document, c->key, &old) ? old.value.type : guess(c->rest);
    if (type == GUFO_VALUE_ARRAY)
        return report_usage("edit", "--set %s: use --set-json for arrays", text);
    if (!value_read(type, c->rest + prefix, &value))
        return report_usage("edit", "--set %s: not a value of type %s", text,
                            gufo_value_type_name(type));
    return edit_check(c, text,
                      gufo_document_set(c->document, gufo_str_of(c->key), &value, &c->error));
}

static int set_text(edit_change *c, gufo_str text)
{
    return edit_check(c, c->key, gufo_document_set_str(c->document, c->key, text, &c->error));
}

int edit_set_string(edit_change *c)
{
    return set_text(c, gufo_str_of(c->rest));
}

int edit_set_json(edit_change *c)
{
    char message[EDIT_JSON_MESSAGE];
    gufo_value_type type;
    size_t prefix = type_prefix(c->rest, &type);
    gufo_value value;
    encoder bytes;
    int code;

    if (prefix == 0 || type == GUFO_VALUE_ARRAY)
        return report_usage("edit",
                            "--set-json %s: the type of the values has to come before the JSON, as "
                            "in KEY=uint32:[1,2]",
                            c->operation->text);
    if (edit_json_read(type, c->rest + prefix, &value, &bytes, message))
        code = edit_check(c, c->key,
                          gufo_document_set(c->document, gufo_str_of(c->key), &value, &c->error));
    else
        code = report_usage("edit", "--set-json %s: %s", c->key, message);
    buffer_free(&bytes.out);
    return code;
}

/* ---- from a file ---------------------------------------------------------------------------- */

/* All of `in`, unless it is too large for a value, as a device without an end is. */
static bool read_bytes(FILE *in, buffer *out)
{
    const size_t piece = 1 << 14;
    size_t got = piece;

    while (got > 0 && out->len <= LARGEST_VALUE) {
        void *to = buffer_extend(out, piece);

        if (to == NULL)
            return false;
        got = fread(to, 1, piece, in);
        out->len -= piece - got;
    }
    return !ferror(in);
}

int edit_set_file(edit_change *c)
{
    buffer bytes = {.allocator = &default_allocator};
    FILE *in = fopen(c->rest, "rb");
    int code;

    if (in == NULL || !read_bytes(in, &bytes))
        code = report_system(c->rest, errno);
    else if (bytes.len <= LARGEST_VALUE)
        code = set_text(c, (gufo_str){(const char *)bytes.data, bytes.len});
    else {
        report_message(c->rest, "there are more than 256 MiB, too many for the value of a key");
        code = CODE_FAILED;
    }
    if (in != NULL)
        fclose(in);
    buffer_free(&bytes);
    return code;
}
