/* What TYPE on a command line means.
 *
 *             file types that quantizing makes     aliases         element types     COPY
 *     names   Q4_K_M, IQ3_XS, F16 ...              Q4_K: Q4_K_M    MXFP4, Q8_K       no type at all
 *
 * Several names belong to both a file type and an element type; then `pure` decides.  The format's
 * own names (MOSTLY_Q4_0, GGML_TYPE_Q4_0) are of one kind only. */
#include <string.h>

#include "gufo/quant.h"
#include "base/text.h"
#include "schema/registry/tables.h"

/* ---- tables --------------------------------------------------------------------------------- */

static const char copy_name[] = "COPY";

static const struct {
    const char *name;
    uint32_t file_type;
} aliases[] = {
    {"Q3_K", GUFO_FILE_TYPE_Q3_K_M},
    {"Q4_K", GUFO_FILE_TYPE_Q4_K_M},
    {"Q5_K", GUFO_FILE_TYPE_Q5_K_M},
};

enum { ALIAS_COUNT = sizeof aliases / sizeof *aliases };

static bool is_made(const gufo_file_type *type)
{
    return (type->flags & GUFO_FILE_TYPE_NOT_MADE) == 0;
}

static bool has_encoder(const gufo_element_type *type)
{
    return (type->flags & GUFO_ELEMENT_ENCODES) != 0;
}

/* ---- look-up -------------------------------------------------------------------------------- */

/* A number of at most six digits and nothing else. */
static bool read_number(const char *text, uint32_t *out)
{
    size_t len = strspn(text, "0123456789");

    if (len == 0 || len > 6 || text[len] != '\0')
        return false;
    *out = 0;
    for (; *text != '\0'; text++)
        *out = *out * 10 + (uint32_t)(*text - '0');
    return true;
}

static const gufo_file_type *find_file_type(const char *name)
{
    const gufo_str given = gufo_str_of(name);
    const gufo_file_type *type;
    uint32_t number;

    for (size_t i = 0; i < ALIAS_COUNT; i++)
        if (own_name_is(OWN_FILE_TYPE, given, aliases[i].name))
            return gufo_file_type_by_id(aliases[i].file_type);
    for (size_t i = 0; (type = gufo_file_type_at(i)) != NULL; i++)
        if (is_made(type) && own_name_is(OWN_FILE_TYPE, given, type->name))
            return type;
    type = read_number(name, &number) ? gufo_file_type_by_id(number) : NULL;
    return type != NULL && is_made(type) ? type : NULL;
}

static const gufo_element_type *find_element_type(const char *name)
{
    const gufo_str given = gufo_str_of(name);
    const gufo_element_type *type;

    for (size_t i = 0; (type = gufo_element_type_at(i)) != NULL; i++)
        if (has_encoder(type) && own_name_is(OWN_ELEMENT_TYPE, given, type->name))
            return type;
    return NULL;
}

/* The file type that comes nearest to a file of just that element type: of that name, or the first
 * one based on it. */
static const gufo_file_type *nearest_file_type(const gufo_element_type *element)
{
    const gufo_file_type *type = find_file_type(element->name);

    if (type == NULL)
        type = gufo_file_type_by_name(element->name);
    for (size_t i = 0; type == NULL && i < schema_file_type_count(); i++)
        if (gufo_file_type_at(i)->base_type == element->id)
            type = gufo_file_type_at(i);
    return type;
}

bool gufo_quantize_target_by_name(const char *name, bool pure, gufo_quantize_target *out)
{
    const gufo_file_type *file_type = find_file_type(name);
    const gufo_element_type *element = find_element_type(name);
    gufo_quantize_target unwanted;

    if (out == NULL)
        out = &unwanted;
    if (own_name_is(OWN_NONE, gufo_str_of(name), copy_name)) {
        *out = (gufo_quantize_target){.name = copy_name};
        return true;
    }
    if (element != NULL && (pure || file_type == NULL)) {
        *out = (gufo_quantize_target){.name = element->name,
                                      .file_type = nearest_file_type(element),
                                      .base_type = element,
                                      .pure = true};
        return true;
    }
    if (file_type != NULL)
        *out = (gufo_quantize_target){.name = file_type->name,
                                      .file_type = file_type,
                                      .base_type = gufo_element_type_by_id(file_type->base_type),
                                      .pure = pure};
    return file_type != NULL;
}

/* ---- list ----------------------------------------------------------------------------------- */

const char *gufo_quantize_target_name(size_t index)
{
    const gufo_file_type *file_type;
    const gufo_element_type *element;

    for (size_t i = 0; (file_type = gufo_file_type_at(i)) != NULL; i++)
        if (is_made(file_type) && index-- == 0)
            return file_type->name;
    if (index < ALIAS_COUNT)
        return aliases[index].name;
    index -= ALIAS_COUNT;
    for (size_t i = 0; (element = gufo_element_type_at(i)) != NULL; i++)
        if (has_encoder(element) && find_file_type(element->name) == NULL && index-- == 0)
            return element->name;
    return index == 0 ? copy_name : NULL;
}
