/* The keys and tensors that each architecture has. */
#include "gufo/schema.h"

#include "schema/registry/pattern.h"

/* "required", "expected" or "optional". */
#define NEED(word) \
    ((word)[0] == 'r' ? GUFO_REQUIRED : (word)[0] == 'e' ? GUFO_EXPECTED : GUFO_OPTIONAL)

static const gufo_arch_key arch_keys[] = {
#define ROW(arch, key, need) {arch, key, NEED(need), {0}},
#include "registry/arch_keys.inc"
#undef ROW
};

static const gufo_arch_tensor arch_tensors[] = {
#define ROW(arch, name, need, shape, bias_shape, instead) \
    {arch, name, NEED(need), shape, bias_shape, instead, {0}},
#include "registry/arch_tensors.inc"
#undef ROW
};

const gufo_arch_key *gufo_arch_keys(const char *arch, size_t *count)
{
    return row_find_all(ROWS(arch_keys), arch, count);
}

const gufo_arch_tensor *gufo_arch_tensors(const char *arch, size_t *count)
{
    return row_find_all(ROWS(arch_tensors), arch, count);
}
