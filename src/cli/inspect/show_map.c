/* gufo show --map: the types of layers and roles, from few bits to many. */
#include "cli/inspect/show.h"

#include "cli/core/glob.h"
#include "cli/core/layer_map.h"
#include "cli/core/records/table.h"
#include "cli/core/tensor_text.h"

#include <stdio.h>

bool show_write_map(const input *in, const show_options *options)
{
    bool color = options_color(options->base.shared), whole = true;
    layer_map m = {.is_log = false};
    gufo_tensor tensor;

    for (uint64_t i = 0; whole && glob_next_tensor(options->tensor_glob, in->model, &i, &tensor);)
        whole = layer_map_add(&m, tensor.name, tensor_bits(tensor.size, tensor.elements),
                              tensor_type_text(tensor.type).text);
    table_name(color, in->path);
    fputs("\n\n", stdout);
    if (whole)
        layer_map_put(&m, color, "bits per weight, from");
    else
        (void)report_memory(in->path);
    layer_map_free(&m);
    return true;
}
