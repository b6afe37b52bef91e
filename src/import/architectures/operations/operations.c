/* The table of operations, and those that compute tensors from the configuration alone. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/architectures/operations/operation.h"

#include <math.h>
#include <string.h>

/* ---- numbers that are made ------------------------------------------------------------------ */

static gufo_status generate_view(const operation_call *c, const float *values, uint64_t count,
                                 gufo_error *error)
{
    gufo_status status = plan_view(c->planner->plan, values, count, &c->item->views[0], error);

    if (status != GUFO_OK)
        return status;
    c->item->n_views = 1;
    return GUFO_OK;
}

/* ---- factors of the frequencies of rotary positions ------------------------------------------ */

/* The factors of Llama 3.1 leave short waves as they are, make long ones longer by one factor, and pass
 * from one to the other between.  All steps are rounded to F32, as the models were trained. */

enum { MOST_FACTORS = 1 << 16 };

/* A parameter of rotary positions; NULL: it has none. */
static json_t *parameter(const model_config *config, const char *name)
{
    json_t *all = config->ropes, *full = json_object_get(all, "full_attention");
    json_t *value = json_object_get(full != NULL ? full : all, name);

    return json_is_null(value) ? NULL : value;
}

static float real_or(const model_config *config, const char *name, double otherwise)
{
    json_t *value = parameter(config, name);

    return (float)(json_is_number(value) ? json_number_value(value) : otherwise);
}

/* ---- llama3 --------------------------------------------------------------------------------- */

float llama3_factor(const llama3_ropes *l, uint64_t index)
{
    float power = (float)pow((double)l->base, (double)((float)(2 * index) / l->size));
    float frequency = 1.0f / power, wave = 1.0f / frequency * 6.28318531f, smooth;

    if (wave < l->context / l->high)
        return 1.0f;
    if (wave > l->context / l->low || !(l->high > l->low)) /* equal in Llama 4 */
        return l->factor;
    smooth = (1.0f / wave * l->context - l->low) / (l->high - l->low);
    return 1.0f / ((1.0f - smooth) / l->factor + smooth);
}

/* Argument: the factor where the configuration has none. */
static gufo_status generate_llama3(const operation_call *c, gufo_error *error)
{
    const model_config *config = c->planner->config;
    const gufo_allocator *a = c->planner->plan->allocator;
    llama3_ropes l = {.base = real_or(config, "rope_theta", 10000),
                      .factor = real_or(config, "factor", (double)c->numbers[0]),
                      .low = real_or(config, "low_freq_factor", 1),
                      .high = real_or(config, "high_freq_factor", 4),
                      .context = real_or(config, "original_max_position_embeddings", 8192)};
    uint64_t size;
    gufo_status status =
        config_number(config, "else(head_dim, hidden_size // num_attention_heads)", &size, error);
    float *values;

    if (status != GUFO_OK)
        return status;
    if (size < 2 || size % 2 != 0 || size / 2 > MOST_FACTORS || !(l.high >= l.low) ||
        !(l.low > 0) || !(l.factor > 0) || !(l.base > 0))
        return refuse(error, GUFO_E_MALFORMED,
                      "config.json: the parameters of rope_type llama3 make no sense");
    l.size = (float)size;
    values = mem_array(a, size / 2, sizeof *values);
    if (values == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < size / 2; i++)
        values[i] = llama3_factor(&l, i);
    status = generate_view(c, values, size / 2, error);
    mem_free(a, values);
    return status;
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* Arguments: a field of the rotary parameters that is a list, and how many numbers it has. */
static gufo_status generate_factors(const operation_call *c, gufo_error *error)
{
    const gufo_allocator *a = c->planner->plan->allocator;
    char name[64] = "";
    json_t *list;
    size_t count;
    float *values;
    gufo_status status = GUFO_OK;

    memcpy(name, c->texts[0].data, c->texts[0].len < sizeof name ? c->texts[0].len : 0);
    list = parameter(c->planner->config, name);
    count = json_array_size(list);
    if (count != c->numbers[1] || count == 0 || count > MOST_FACTORS)
        return refuse(error, GUFO_E_MALFORMED, "config.json: %s must be a list of %s numbers", name,
                      GROUPED(c->numbers[1]));
    values = mem_array(a, count, sizeof *values);
    if (values == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        json_t *number = json_array_get(list, i);

        values[i] = (float)json_number_value(number);
        if (!json_is_number(number))
            status = refuse(error, GUFO_E_MALFORMED, "config.json: entry %zu of %s is not a number",
                            i, name);
    }
    if (status == GUFO_OK)
        status = generate_view(c, values, count, error);
    mem_free(a, values);
    return status;
}

/* Gemma 4 rotates a part of each head, as if the rest had waves without end: readers take frequencies
 * that are divided by these factors.  Arguments: the size of a head, and how many of its halves are
 * rotated. */
static gufo_status generate_proportional(const operation_call *c, gufo_error *error)
{
    const gufo_allocator *a = c->planner->plan->allocator;
    uint64_t count = c->numbers[0] / 2, rotated = c->numbers[1];
    gufo_status status;
    float *values;

    if (count == 0 || count > MOST_FACTORS || rotated > count)
        return refuse(error, GUFO_E_MALFORMED, "config.json: %s rotary factors of %s make no sense",
                      GROUPED(rotated), GROUPED(count));
    values = mem_array(a, count, sizeof *values);
    if (values == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < count; i++)
        values[i] = i < rotated ? 1 : 1e30f;
    status = generate_view(c, values, count, error);
    mem_free(a, values);
    return status;
}

/* ---- mel filters ----------------------------------------------------------------------------- */

/* Mel filters: how much of each frequency of a Fourier transform a mel band hears.
 *
 *     band 0   /\        triangles between neighbours that are equally far apart in mels,
 *     band 1    /\       each of area 1: 2 / width in Hz
 *     band 2      / \
 *
 * The scale is that of Slaney's Auditory Toolbox, which audio models are trained with: 200/3 Hz a
 * mel up to 1000 Hz, and 27 mels for each factor of 6.4 above.  Checkpoints do not have them.
 * The height is rounded to F32 before it is scaled, as the filters of the trained models were. */

enum { MOST_BANDS = 1024, LARGEST_TRANSFORM = 1 << 16, HIGHEST_RATE = 1 << 20 };

#define LINEAR_HZ (200.0 / 3) /* of a mel */
#define LINEAR_MELS 15.0      /* up to 1000 Hz */
#define FACTOR_MELS 27.0      /* for a factor of 6.4 */

static double mels_of(double hz)
{
    return hz < 1000 ? hz / LINEAR_HZ : LINEAR_MELS + FACTOR_MELS * log(hz / 1000) / log(6.4);
}

static double hz_of(double mels)
{
    return mels < LINEAR_MELS ? mels * LINEAR_HZ
                              : 1000 * pow(6.4, (mels - LINEAR_MELS) / FACTOR_MELS);
}

static void fill_band(float *out, uint64_t frequencies, double step, const double edges[3])
{
    const double scale = 2 / (edges[2] - edges[0]);

    for (uint64_t i = 0; i < frequencies; i++) {
        double hz = (double)i * step;
        double up = (hz - edges[0]) / (edges[1] - edges[0]);
        double down = (edges[2] - hz) / (edges[2] - edges[1]);
        float height = (float)fmax(0, fmin(up, down));

        out[i] = (float)((double)height * scale);
    }
}

/* Arguments: samples in a second, samples of a transform, and filters. */
static gufo_status generate_mels(const operation_call *c, gufo_error *error)
{
    const gufo_allocator *a = c->planner->plan->allocator;
    const uint64_t rate = c->numbers[0], size = c->numbers[1], bands = c->numbers[2];
    const uint64_t frequencies = size / 2 + 1;
    double step, spacing;
    gufo_status status;
    float *values;

    if (rate == 0 || rate > HIGHEST_RATE || size == 0 || size > LARGEST_TRANSFORM || bands == 0 ||
        bands > MOST_BANDS)
        return refuse(error, GUFO_E_MALFORMED, "config.json: %s mel filters make no sense",
                      GROUPED(bands));
    values = mem_array(a, (size_t)(bands * frequencies), sizeof *values);
    if (values == NULL)
        return fail_memory(error);
    step = (double)rate / (double)size;
    spacing = mels_of((double)rate / 2) / (double)(bands + 1);
    for (uint64_t i = 0; i < bands; i++) {
        const double edges[3] = {hz_of(spacing * (double)i), hz_of(spacing * (double)(i + 1)),
                                 hz_of(spacing * (double)(i + 2))};

        fill_band(values + i * frequencies, frequencies, step, edges);
    }
    status = generate_view(c, values, bands * frequencies, error);
    mem_free(a, values);
    return status;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const operation operations[] = {
    /* names */
    {"plain", "", OPERATION_ON_ITEMS, names_keep, 0},
    {"drop", "", OPERATION_ON_ITEMS, names_drop, OPERATION_DROPS},
    {"skip", "", OPERATION_ON_ITEMS, names_skip, OPERATION_DROPS},
    {"rename", "t|t", OPERATION_ON_NAMES, names_rename, 0},
    {"strip", "t", OPERATION_ON_NAMES, names_strip, 0},
    {"begin", "t", OPERATION_ON_NAMES, names_begin, 0},
    {"end", "t", OPERATION_ON_NAMES, names_end, 0},
    {"renumber", "n", OPERATION_ON_NAMES, names_renumber, 0},
    {"number", "n", OPERATION_ON_NAMES, names_number, 0},
    {"first", "t", OPERATION_ON_ITEMS, names_first, 0},
    /* shapes and parts */
    {"transpose", "", OPERATION_ON_VIEWS, shape_transpose, OPERATION_TRANSPOSES},
    {"swap", "nn", OPERATION_ON_VIEWS, shape_swap, 0},
    {"reshape", "n|*", OPERATION_ON_VIEWS, shape_reshape, 0},
    {"squeeze", "", OPERATION_ON_VIEWS, shape_squeeze, 0},
    {"column", "", OPERATION_ON_VIEWS, shape_column, 0},
    {"flatten", "", OPERATION_ON_VIEWS, shape_flatten, 0},
    {"divide", "n|t", OPERATION_ON_ITEMS, shape_divide, 0},
    {"split", "nn|*", OPERATION_ON_ITEMS, shape_split, 0},
    {"alternate", "|t", OPERATION_ON_ITEMS, shape_alternate, 0},
    {"copy", "", OPERATION_ON_ITEMS, shape_copy, 0},
    {"firstrows", "n", OPERATION_ON_VIEWS, shape_first_rows, 0},
    {"rowsfrom", "n", OPERATION_ON_VIEWS, shape_rows_from, 0},
    {"padrows", "n", OPERATION_ON_VIEWS, shape_pad_rows, 0},
    {"repeat", "n", OPERATION_ON_VIEWS, shape_repeat, 0},
    /* several tensors */
    {"stack", "t|n", OPERATION_STACKS, NULL, OPERATION_NEW_AXIS},
    {"join", "t|n", OPERATION_STACKS, NULL, 0},
    /* heads */
    {"permute", "n", OPERATION_ON_VIEWS, heads_permute, 0},
    {"unpermute", "nn", OPERATION_ON_VIEWS, heads_unpermute, 0},
    {"regroup3", "n", OPERATION_ON_VIEWS, heads_regroup3, 0},
    {"regroupkv", "nn", OPERATION_ON_ITEMS, heads_regroup_kv, 0},
    {"splitkv", "nn", OPERATION_ON_ITEMS, heads_split_kv, 0},
    {"qkvz", "nnnn", OPERATION_ON_ITEMS, heads_qkvz, 0},
    {"tile", "nnn|n", OPERATION_ON_VIEWS, heads_tile, 0},
    {"tilecolumns", "nnn", OPERATION_ON_VIEWS, heads_tile_columns, 0},
    /* arithmetic */
    {"add", "r", OPERATION_ON_VIEWS, values_add, 0},
    {"negexp", "", OPERATION_ON_VIEWS, values_neg_exp, 0},
    {"halve", "n", OPERATION_ON_VIEWS, values_halve, 0},
    {"multiply", "r", OPERATION_ON_VIEWS, values_multiply, 0},
    {"ternary", "", OPERATION_ON_VIEWS, values_ternary, 0},
    {"multiplyrows", "tnn|*", OPERATION_ON_VIEWS, values_multiply_rows, 0},
    /* what looks at numbers */
    {"zero", "", OPERATION_ON_ITEMS, data_zero, OPERATION_DROPS},
    {"diagonal", "nnn|*", OPERATION_ON_ITEMS, data_diagonal, 0},
    {"dropifequal", "t", OPERATION_ON_ITEMS, data_drop_if_equal, 0},
    {"tokenrows", "tt|*", OPERATION_ON_ITEMS, data_token_rows, 0},
    {"key", "t", OPERATION_ON_ITEMS, data_key, 0},
    /* generated */
    {"llama3", "n", OPERATION_ON_ITEMS, generate_llama3, 0},
    {"factors", "tn", OPERATION_ON_ITEMS, generate_factors, 0},
    {"proportional", "nn", OPERATION_ON_ITEMS, generate_proportional, 0},
    {"mels", "nnn", OPERATION_ON_ITEMS, generate_mels, 0},
    /* types, and what is not converted yet */
    {"F32", "", OPERATION_ON_ITEMS, names_keep, OPERATION_TO_F32},
    {"F16", "", OPERATION_ON_ITEMS, names_keep, OPERATION_TO_F16},
    {"half", "", OPERATION_ON_ITEMS, names_keep, OPERATION_TO_HALF},
    {"any", "", OPERATION_ON_ITEMS, names_keep, 0},
    {"refuse", "t", OPERATION_ON_ITEMS, names_refuse, OPERATION_DROPS},
};

const operation *operation_find(gufo_str name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (gufo_str_equal(name, gufo_str_of(operations[i].name)))
            return &operations[i];
    return NULL;
}

/* Letters before |, and all letters. */
static void count_letters(const operation *o, uint32_t *least, uint32_t *all, bool *more)
{
    bool optional = false;

    *least = *all = 0;
    *more = false;
    for (const char *c = o->arguments; *c != '\0'; c++) {
        if (*c == '|') {
            optional = true;
        } else if (*c == '*') {
            *more = true;
        } else {
            *least += !optional;
            *all += 1;
        }
    }
}

bool operation_takes(const operation *o, uint32_t count)
{
    uint32_t least, all;
    bool more;

    count_letters(o, &least, &all, &more);
    return count >= least && (more || count <= all);
}

char operation_wants(const operation *o, uint32_t index)
{
    char last = 't';

    for (const char *c = o->arguments; *c != '\0'; c++) {
        if (!is_letter(*c))
            continue;
        last = *c;
        if (index-- == 0)
            break;
    }
    return last;
}
