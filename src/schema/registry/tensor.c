/* The table of tensors (registry/tensors.tsv), and which row of it a name in a file belongs to. */
#include "gufo/schema.h"

#include "schema/registry/pattern.h"
#include "schema/registry/tables.h"

#include <string.h>

static const gufo_tensor_info tensors[] = {
#define ROW(name, summary, shape, bias_shape, status) {name, summary, shape, bias_shape, status},
#include "registry/tensors.inc"
#undef ROW
};

TABLE(tensors, gufo_tensor_info, schema_tensor_info_count, gufo_tensor_info_at)

/* The longest beginning of the name, in whole segments, that is a pattern; the rest is the suffix.
 * So "cls.output.weight" is "cls.output" and not "cls". */
bool gufo_tensor_info_find(gufo_str name, gufo_tensor_match *out)
{
    static const char *const placeholders[2] = {"{bid}", "{xid}"};
    size_t ends[PATTERN_MAX_SEGMENTS], count = pattern_segments(name, ends);

    if (name.len == 0 || memchr(name.data, '{', name.len) != NULL)
        return false;
    while (count-- > 0) {
        number_segment block;
        name_parts wanted =
            name_parts_read((gufo_str){name.data, ends[count]}, placeholders, &block);
        const gufo_tensor_info *info = row_find_parts(ROWS(tensors), &wanted);

        if (info != NULL && out != NULL)
            *out = (gufo_tensor_match){
                .info = info,
                .has_block = block.found,
                .block = block.found ? block.value : 0,
                .suffix = {name.data + ends[count], name.len - ends[count]},
            };
        if (info != NULL)
            return true;
    }
    return false;
}
