/* Writes the seeds of fuzz_safetensors, or checks them: `make_safetensors_seeds [--check] FOLDER`. */
#include "../tests/support/safetensors_maker.h"
#include "../tests/support/seed.h"

static bool take_good(const seed_place *place)
{
    const safetensor tensors[] = {{"b.weight", "BF16", 2, {2, 3}, NULL},
                                  {"\\u00e9\\ud83d\\ude00", "F32", 0, {0}, NULL},
                                  {"empty", "I64", 2, {7, 0}, NULL}};
    builder b = builder_new((encoding){3, false});

    safetensors_build(&b, tensors, 3);
    bool good = seed_take(place, "good.safetensors", &b);
    builder_free(&b);
    return good;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *header;
        size_t size;
    } rows[] = {
        {"empty.safetensors", "{}", 0},
        {"spaces.safetensors",
         "{ \"a\" : {\"shape\":[ ],\"data_offsets\" : [ 0 , 1 ] ,\"dtype\":\"U8\"} }\n", 1},
        {"packed.safetensors",
         "{\"a\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[0,2]},\"b\":{\"dtype\":"
         "\"F6_E2M3\",\"shape\":[4],\"data_offsets\":[2,5]}}",
         5},
    };
    seed_place place;
    bool good;

    if (!seed_arguments(argc, argv, &place))
        return 2;
    good = take_good(&place);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        builder b = builder_new((encoding){3, false});

        safetensors_build_raw(&b, rows[i].header, rows[i].size);
        good &= seed_take(&place, rows[i].name, &b);
        builder_free(&b);
    }
    return good ? 0 : 1;
}
