/* gufo estimate ADAPTER: what an adapter adds to the memory of the model that it changes. */
#include "cli/estimate/estimate.h"

#include "cli/core/line.h"
#include "cli/core/text.h"

#include <inttypes.h>

bool estimate_is_adapter(const gufo_model *model)
{
    gufo_str type;

    return gufo_get_str(model, "general.type", &type, NULL) == GUFO_OK &&
           gufo_str_equal(type, gufo_str_of("adapter"));
}

static gufo_str base_name(const gufo_model *adapter)
{
    gufo_str name;

    return gufo_get_str(adapter, "general.base_model.0.name", &name, NULL) == GUFO_OK
               ? name
               : (gufo_str){"", 0};
}

static void write_json(const input *in, uint64_t bytes)
{
    gufo_str base = base_name(in->model);
    json_writer j = json_begin_document(in->path);

    json_write_u64(&j, "adapter_bytes", bytes);
    json_write_u64(&j, "tensors", gufo_tensor_count(in->model));
    if (base.len > 0)
        json_write_str(&j, "base", base);
    json_end_document(&j);
}

static void write_text(const input *in, uint64_t bytes)
{
    gufo_str base = base_name(in->model);

    text_print("%s: a LoRA adapter%s%.*s\n", in->path, base.len > 0 ? " of " : "", (int)base.len,
               base.data);
    text_print(
        "  weights: %s bytes, on top of what its base needs (gufo estimate BASE --lora %s)\n",
        human_grouped(bytes).text, in->path);
}

int estimate_adapter(const input *in, const estimate_options *options, bool fits)
{
    gufo_error error;
    uint64_t bytes;

    if (options->table || options->plot || fits)
        return report_as(CODE_USAGE, in->path,
                         "an adapter runs with its base: gufo estimate BASE --lora ADAPTER");
    if (gufo_estimate_adapter(in->model, &bytes, &error) != GUFO_OK)
        return report_error(in->path, &error);
    (options->base.shared->json ? write_json : write_text)(in, bytes);
    return CODE_OK;
}
