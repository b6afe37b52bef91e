/* Fuzz target: adapters of PEFT.  adapter_config.json, a NUL, a file of safetensors; its pairs are planned by
 * the rules of an architecture that permutes and stacks, and of one whose weights are turned over. */
#define _GNU_SOURCE /* memfd_create */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/adapters/adapter.h"
#include "import/architectures/operations/tensors.h"
#include "import/json_file.h"
#include "walk.h"

static const char *const configs[] = {
    "{\"architectures\": [\"MixtralForCausalLM\"], \"hidden_size\": 8, \"num_hidden_layers\": 1,"
    " \"num_attention_heads\": 2, \"num_local_experts\": 2}",
    "{\"architectures\": [\"GPT2LMHeadModel\"], \"n_embd\": 8, \"n_layer\": 1, \"n_head\": 2}",
    "{\"architectures\": [\"DeepseekV2ForCausalLM\"], \"hidden_size\": 8, \"num_hidden_layers\": 1,"
    " \"num_attention_heads\": 2, \"num_key_value_heads\": 2, \"qk_nope_head_dim\": 2,"
    " \"v_head_dim\": 2, \"n_routed_experts\": 2}",
};

/* Halves follow each other, and share their rank. */
static void check_plan(const tensor_plan *plan)
{
    for (uint64_t i = 0; i < plan->count; i++) {
        const planned_tensor *a = &plan->tensors[i], *b = a + 1;
        bool turned = strcmp(a->name, "token_embd.weight.lora_a") == 0;
        size_t len = strlen(a->name);

        if (len < 8 || strcmp(a->name + len - 7, ".lora_a") != 0)
            continue;
        must(++i < plan->count && strncmp(a->name, b->name, len - 1) == 0 &&
                 b->name[len - 1] == 'b',
             "the other half comes next");
        must(a->dims[turned ? 0 : 1] == b->dims[0] && a->dims[2] == b->dims[2],
             "halves have one rank");
    }
}

static void plan_all(gufo_import *import, const checkpoint *c, adapter *a, const char *config)
{
    const memory_file file = {"config.json", gufo_str_of(config)};
    const memory_files files = {&file, 1};
    const source_folder folder = source_folder_memory(&files);
    model_config base;
    const tensors_request request = {.import = import,
                                     .document = import->document,
                                     .checkpoint = &a->seen,
                                     .config = &base,
                                     .products = &a->products};
    tensor_plan plan = {.count = 0};
    gufo_error error = {0};
    gufo_status status =
        config_open(&base, &folder, NULL, CONFIG_OF_MODEL, NULL, &import->allocator, &error);

    must(status == GUFO_OK, "the base is good");
    status = adapter_pair(a, c, base.architecture, &error);
    if (status == GUFO_OK)
        status = tensors_plan(&plan, &request, &error);
    must(status == error.code, "a failure says so");
    must(status == GUFO_OK || error.message[0] != '\0', "a failure has a sentence");
    if (status == GUFO_OK)
        check_plan(&plan);
    tensor_plan_free(&plan);
    config_close(&base);
}

static void try_base(const checkpoint *c, gufo_str text, const char *config)
{
    gufo_import import = {.allocator = *c->allocator};
    adapter a = {.allocator = c->allocator};
    json_t *settings = NULL;
    gufo_error error = {0};

    if (json_read_text(text, NULL, 0, NULL, &settings, &error) == GUFO_OK &&
        adapter_take(&a, settings, &error) == GUFO_OK)
        plan_all(&import, c, &a, config);
    adapter_close(&a);
    for (uint64_t i = 0; i < import.warning_count; i++)
        (void)import.allocator.resize(import.allocator.context, import.warnings[i], 0);
    if (import.warnings != NULL)
        (void)import.allocator.resize(import.allocator.context, import.warnings, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
    gufo_str text = {(const char *)data, end != NULL ? (size_t)(end - data) : 0};
    size_t rest = end != NULL ? size - text.len - 1 : 0;
    int fd = memfd_create("adapter", MFD_CLOEXEC);
    counter count = {0};
    gufo_allocator allocator = counting_allocator(&count);
    gufo_error error = {0};
    model_place place;
    checkpoint c;
    char path[64];

    must(fd >= 0 && (rest == 0 || write(fd, end + 1, rest) == (ssize_t)rest), "a file takes bytes");
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    place = model_place_of(path, false);
    if (checkpoint_open(&c, &place, NULL, &allocator, &error) == GUFO_OK)
        for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
            try_base(&c, text, configs[i]);
    checkpoint_close(&c);
    must(count.held == 0 && count.blocks == 0, "everything is freed");
    (void)close(fd);
    return 0;
}
