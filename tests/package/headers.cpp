// Every public header as a C++ program sees it; linked, so that names are those of C.
#include <cstdint>
#include <gufo.h>

static bool count(void *context, std::uint64_t, std::uint64_t)
{
    ++*static_cast<int *>(context);
    return true;
}

int main()
{
    int calls = 0;
    gufo_run run = {};
    gufo_open_options options = {};
    gufo_error error = {};
    const gufo_input input = gufo_input_path("no such file");
    const gufo_element_type *type = gufo_element_type_by_id(GUFO_TYPE_Q4_K);

    run.progress = count;
    run.progress_context = &calls;
    gufo_model *model = gufo_model_open_shards(&input, 1, &options, &error);
    gufo_model_free(model);
    return run.progress(run.progress_context, 0, 0) && calls == 1 && model == nullptr && error.code == GUFO_E_IO && type != nullptr &&
                   gufo_str_equal(gufo_str_of(type->name), gufo_str_of("Q4_K"))
               ? 0
               : 1;
}
