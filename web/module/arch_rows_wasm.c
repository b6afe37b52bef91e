/* The keys and tensors of architectures, in place of src/schema/registry/arch_rows.c.
 *
 * Arrays of pointers would be an eighth of the page, because pointers are hard to pack.  A column of a table, as text, says
 * the same thing again and again, and takes next to nothing.  Rows are made of the columns when somebody asks for the
 * first one.
 *
 *     afmoe NUL afmoe NUL ...   blk.{bid}.attn_k NUL blk.{bid}.attn_k_norm NUL ...   optional NUL ... */
#include "gufo/schema.h"

#include <stddef.h>
#include <string.h>

#include "schema/registry/pattern.h"

#pragma clang diagnostic ignored "-Woverlength-strings"

/* ---- the columns ------------------------------------------------------------------------------ */

static const char key_texts[] =
#define ROW(arch, key, need) arch "\0"
#include "registry/arch_keys.inc"
#undef ROW
#define ROW(arch, key, need) key "\0"
#include "registry/arch_keys.inc"
#undef ROW
#define ROW(arch, key, need) need "\0"
#include "registry/arch_keys.inc"
#undef ROW
    ;

static const char tensor_texts[] =
#define ROW(arch, name, need, shape, bias_shape, instead) arch "\0"
#include "registry/arch_tensors.inc"
#undef ROW
#define ROW(arch, name, need, shape, bias_shape, instead) name "\0"
#include "registry/arch_tensors.inc"
#undef ROW
#define ROW(arch, name, need, shape, bias_shape, instead) shape "\0"
#include "registry/arch_tensors.inc"
#undef ROW
#define ROW(arch, name, need, shape, bias_shape, instead) bias_shape "\0"
#include "registry/arch_tensors.inc"
#undef ROW
#define ROW(arch, name, need, shape, bias_shape, instead) instead "\0"
#include "registry/arch_tensors.inc"
#undef ROW
#define ROW(arch, name, need, shape, bias_shape, instead) need "\0"
#include "registry/arch_tensors.inc"
#undef ROW
    ;

enum {
    KEY_COUNT = 0
#define ROW(arch, key, need) +1
#include "registry/arch_keys.inc"
#undef ROW
    ,
    TENSOR_COUNT = 0
#define ROW(arch, name, need, shape, bias_shape, instead) +1
#include "registry/arch_tensors.inc"
#undef ROW
};

/* ---- the rows --------------------------------------------------------------------------------- */

static gufo_arch_key arch_keys[KEY_COUNT];
static gufo_arch_tensor arch_tensors[TENSOR_COUNT];

static const char *next(const char **at)
{
    const char *text = *at;

    *at += strlen(text) + 1;
    return text;
}

/* Texts of a column, which is a member of each row. */
static void fill(const char **at, void *rows, size_t count, size_t size, size_t member)
{
    for (size_t i = 0; i < count; i++)
        *(const char **)(void *)((char *)rows + i * size + member) = next(at);
}

static gufo_need next_need(const char **at)
{
    char word = *next(at);

    return word == 'r' ? GUFO_REQUIRED : word == 'e' ? GUFO_EXPECTED : GUFO_OPTIONAL;
}

const gufo_arch_key *gufo_arch_keys(const char *arch, size_t *count)
{
    const char *at = key_texts;

    if (arch_keys[0].arch == NULL) {
        fill(&at, ROWS(arch_keys), offsetof(gufo_arch_key, arch));
        fill(&at, ROWS(arch_keys), offsetof(gufo_arch_key, key));
        for (size_t i = 0; i < KEY_COUNT; i++)
            arch_keys[i].need = next_need(&at);
    }
    return row_find_all(ROWS(arch_keys), arch, count);
}

const gufo_arch_tensor *gufo_arch_tensors(const char *arch, size_t *count)
{
    const char *at = tensor_texts;

    if (arch_tensors[0].arch == NULL) {
        fill(&at, ROWS(arch_tensors), offsetof(gufo_arch_tensor, arch));
        fill(&at, ROWS(arch_tensors), offsetof(gufo_arch_tensor, name));
        fill(&at, ROWS(arch_tensors), offsetof(gufo_arch_tensor, shape));
        fill(&at, ROWS(arch_tensors), offsetof(gufo_arch_tensor, bias_shape));
        fill(&at, ROWS(arch_tensors), offsetof(gufo_arch_tensor, instead));
        for (size_t i = 0; i < TENSOR_COUNT; i++)
            arch_tensors[i].need = next_need(&at);
    }
    return row_find_all(ROWS(arch_tensors), arch, count);
}
