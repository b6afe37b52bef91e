/* Writes the seeds of fuzz_pickle, or checks them: `make_pickle_seeds [--check] FOLDER`. */
#include "../tests/support/seed.h"
#include "../tests/support/torch_maker.h"

static const uint8_t numbers[24] = {1, 2, 3};

static builder new_builder(void)
{
    return builder_new((encoding){3, false});
}

/* A matrix, its transpose, a scalar, and a number. */
static builder make_pickle(bool is_old)
{
    const torch_view views[] = {
        TORCH_VIEW("Float", "0", 6, 0, 2, .shape = {2, 3}, .stride = {3, 1}, .is_old = is_old),
        TORCH_VIEW("Float", "0", 6, 0, 2, .shape = {3, 2}, .stride = {1, 3}, .is_old = is_old,
                   .window = is_old ? "w" : NULL, .window_elements = 6),
        TORCH_VIEW("BFloat16", "1", 2, 1, 0, .is_old = is_old),
    };
    builder p = new_builder();

    pickled_begin(&p);
    pickled_dictionary(&p);
    builder_raw(&p, "q\0(", 3);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        pickled_text(&p, (const char *[]){"w", "t", "s"}[i]);
        pickled_tensor(&p, &views[i]);
    }
    builder_raw(&p, "U\4stepM\1\1u}X\11\0\0\0_metadata}s\x62.", 29);
    return p;
}

/* All opcodes that are read, and the other shapes of a dictionary. */
static const struct {
    const char *name, *bytes;
    size_t len;
} pickles[] = {
#define PICKLE(name, bytes)            \
    {                                  \
        name, bytes, sizeof(bytes) - 1 \
    }
    PICKLE("opcodes.pickle",
           "\x80\4\x95\0\0\0\0\0\0\0\0}\x94(K\1J\xff\xff\xff\xffM\1\2\x8a\2\1\2N\x88"
           "\x89G\x3f\xf0\0\0\0\0\0\0X\1\0\0\0aU\1b\x8c\1c]]Na](NNe\x8f)\x85N\x86NN"
           "N\x87(tq\1h\1r\2\0\0\0j\2\0\0\0u."),
    PICKLE("nested.pickle",
           "\x80\2}X\5\0\0\0model}X\1\0\0\0actorch.nn.parameter\nParameter\nctorch._utils\n"
           "_rebuild_tensor\n((U\7storagectorch\nFloatStorage\nU\1"
           "0U\3cpuK\6NtQK\0K\2\x85K\1\x85t"
           "R\x88\x86\x81ss."),
    PICKLE("pairs.pickle",
           "\x80\2ccollections\nOrderedDict\n]](U\1actorch._utils\n_rebuild_tensor\n((U\7storage"
           "ctorch\nIntStorage\nU\1"
           "0U\3cpuK\6tQK\0))tRea\x85R."),
    PICKLE("stack-global.pickle", "\x80\4\x8c\5torch\x8c\7float32\x93."),
#undef PICKLE
};

static bool take_files(const seed_place *place)
{
    const old_storage storages[] = {{"1", 2, numbers, 4}, {"0", 6, numbers, 24}};
    builder p = make_pickle(false), old = make_pickle(true);
    const zip_part parts[] = {{"a/data.pkl", p.data, p.len, 0},
                              {"a/data/0", numbers, 24, 0},
                              {"a/data/1", numbers, 4, 0},
                              {"a/byteorder", "big", 3, 0}};
    bool good = true;

    for (unsigned i = 0; i < 3; i++) {
        builder b = new_builder();

        if (i < 2)
            zip_build(&b, parts, 4, i == 1);
        else
            torch_old_build(&b, &old, storages, 2, false);
        good &= seed_take(place, (const char *[]){"zip.pt", "zip64.pt", "old.pt"}[i], &b);
        builder_free(&b);
    }
    builder_free(&p);
    builder_free(&old);
    return good;
}

int main(int argc, char **argv)
{
    seed_place place;
    bool good;

    if (!seed_arguments(argc, argv, &place))
        return 2;
    good = take_files(&place);
    for (size_t i = 0; i < sizeof pickles / sizeof *pickles; i++) {
        builder b = new_builder();

        builder_raw(&b, pickles[i].bytes, pickles[i].len);
        good &= seed_take(&place, pickles[i].name, &b);
        builder_free(&b);
    }
    return good ? 0 : 1;
}
