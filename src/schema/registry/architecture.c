/* The tables of architectures: their names, and the keys and tensors that each of
 * them has. */
#include "gufo/schema.h"

#include "schema/registry/pattern.h"
#include "schema/registry/tables.h"

static const gufo_arch_info architectures[] = {
#define ROW(id, name, status) {id, name, status},
#include "registry/architectures.inc"
#undef ROW
};

/* "required", "expected" or "optional". */
#define NEED(word) \
    ((word)[0] == 'r' ? GUFO_REQUIRED : (word)[0] == 'e' ? GUFO_EXPECTED : GUFO_OPTIONAL)

static const gufo_arch_key arch_keys[] = {
#define ROW(arch, key, need) {arch, key, NEED(need)},
#include "registry/arch_keys.inc"
#undef ROW
};

static const gufo_arch_tensor arch_tensors[] = {
#define ROW(arch, name, need, shape, bias_shape, instead) \
    {arch, name, NEED(need), shape, bias_shape, instead},
#include "registry/arch_tensors.inc"
#undef ROW
};

TABLE(architectures, gufo_arch_info, schema_arch_count, gufo_arch_at)

const gufo_arch_info *gufo_arch_find(gufo_str id)
{
    return row_find(ROWS(architectures), id);
}

const gufo_arch_key *gufo_arch_keys(const char *arch, size_t *count)
{
    return row_find_all(ROWS(arch_keys), arch, count);
}

const gufo_arch_tensor *gufo_arch_tensors(const char *arch, size_t *count)
{
    return row_find_all(ROWS(arch_tensors), arch, count);
}
