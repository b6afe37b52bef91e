/* The mixtures as a table.  The first row counts whose file types, kinds and facts all match:
 *
 *     file types            kinds    facts (all of them)          type
 *     Q4_K_M or Q5_K_M      V        FACT_MORE                    Q6_K
 *
 * If no row matches, the type is the base type of the file type.  The rules are those of
 * llama-quantize; they come from measurements on single models over the years, and have no deeper
 * reason. */
#include "quant/recipes/recipe.h"

/* ---- sets ----------------------------------------------------------------------------------- */

#define MADE(name) (UINT64_C(1) << GUFO_FILE_TYPE_##name)
#define ANY UINT64_MAX

/* The smallest ones have their own rules. */
#define ONE_BIT (MADE(IQ1_S) | MADE(IQ1_M))
#define TWO_BITS (MADE(IQ2_XXS) | MADE(IQ2_XS))
#define BIGGER_TWO_BITS (MADE(IQ2_S) | MADE(IQ2_M))
#define SMALLEST (ONE_BIT | TWO_BITS | BIGGER_TWO_BITS)

#define KIND(name) (1u << KIND_##name)
#define ANY_KIND ((1u << KIND_COUNT) - 1)

enum { BASE = GUFO_TYPE_F32 }; /* no mixture has F32 in it */

/* ---- rules ---------------------------------------------------------------------------------- */

typedef struct mix_rule {
    uint64_t file_types;
    uint32_t kinds;
    uint32_t facts;
    uint32_t type;
} mix_rule;

#define TO(name) GUFO_TYPE_##name

static const mix_rule rules[] = {
    /* the output matrix */
    {MADE(MXFP4_MOE), KIND(OUTPUT), 0, TO(Q8_0)},
    {ANY, KIND(OUTPUT), FACT_FALCON, TO(Q8_0)},
    {ANY, KIND(OUTPUT), FACT_MISFIT, TO(Q8_0)},
    {SMALLEST | MADE(IQ3_XXS), KIND(OUTPUT), 0, TO(Q5_K)},
    {MADE(Q8_0), KIND(OUTPUT), 0, BASE},
    {ANY, KIND(OUTPUT), 0, TO(Q6_K)},

    /* MXFP4_MOE: the experts */
    {MADE(MXFP4_MOE), ANY_KIND, FACT_STACK, BASE},
    {MADE(MXFP4_MOE), ANY_KIND, 0, TO(Q8_0)},

    /* embeddings of tokens */
    {ONE_BIT | TWO_BITS, KIND(EMBEDDING), 0, TO(Q2_K)},
    {BIGGER_TWO_BITS | MADE(IQ3_XXS), KIND(EMBEDDING), 0, TO(IQ3_S)},
    {MADE(TQ1_0) | MADE(TQ2_0) | MADE(Q2_0), KIND(EMBEDDING), 0, TO(Q4_K)},

    /* the smallest file types */
    {SMALLEST, KIND(V), FACT_SHARED, TO(Q4_K)},
    {BIGGER_TWO_BITS, KIND(V), 0, TO(IQ3_S)},
    {SMALLEST, KIND(V), 0, TO(Q2_K)},
    {SMALLEST, KIND(K), FACT_8_EXPERTS, TO(Q4_K)},
    {BIGGER_TWO_BITS, KIND(DOWN), FACT_FIRST_8TH, TO(IQ3_S)},
    {SMALLEST, KIND(DOWN), FACT_FIRST_8TH, TO(Q2_K)},
    {SMALLEST, KIND(ATTENTION_OUTPUT), FACT_8_EXPERTS, TO(Q5_K)},
    {BIGGER_TWO_BITS, KIND(ATTENTION_OUTPUT), 0, TO(IQ3_S)},
    {ONE_BIT, KIND(ATTENTION_OUTPUT), 0, TO(IQ2_XXS)},

    /* all others: values */
    {ANY, KIND(V), FACT_8_EXPERTS, TO(Q8_0)},
    {MADE(Q2_K) | MADE(Q2_K_S) | MADE(IQ3_XXS) | MADE(IQ3_XS) | MADE(IQ3_S), KIND(V), FACT_4_HEADS,
     TO(Q4_K)},
    {MADE(Q2_K), KIND(V), 0, TO(Q3_K)},
    {MADE(IQ3_XXS), KIND(V), FACT_NO_IMPORTANCE, TO(IQ3_S)},
    {MADE(IQ3_M), KIND(V), 0, TO(Q4_K)},
    {MADE(Q3_K_M), KIND(V), FACT_FIRST_2, TO(Q5_K)},
    {MADE(Q3_K_M), KIND(V), 0, TO(Q4_K)},
    {MADE(Q3_K_L), KIND(V), 0, TO(Q5_K)},
    {MADE(IQ4_NL) | MADE(IQ4_XS), KIND(V), FACT_4_HEADS, TO(Q5_K)},
    {MADE(Q4_K_S), KIND(V), FACT_FIRST_4, TO(Q5_K)},
    {MADE(Q4_K_M) | MADE(Q5_K_M), KIND(V), FACT_MORE, TO(Q6_K)},

    /* keys and queries */
    {ANY, KIND(K), FACT_8_EXPERTS, TO(Q8_0)},
    {MADE(IQ3_XS), KIND(K) | KIND(Q), 0, TO(IQ3_XXS)},
    {MADE(IQ3_XXS), KIND(K) | KIND(Q), 0, TO(IQ2_S)},

    /* feed-forward */
    {MADE(IQ3_XS), KIND(GATE) | KIND(UP), FACT_MIDDLE, TO(IQ3_XXS)},
    {MADE(Q2_K), KIND(DOWN), 0, TO(Q3_K)},
    {MADE(Q2_K_S), KIND(DOWN), FACT_FIRST_8TH, TO(Q4_K)},
    {MADE(IQ3_XXS), KIND(DOWN), FACT_NO_IMPORTANCE | FACT_FIRST_8TH, TO(Q4_K)},
    {MADE(IQ3_XXS), KIND(DOWN), FACT_NO_IMPORTANCE, TO(Q3_K)},
    {MADE(Q3_K_M), KIND(DOWN), FACT_FIRST_16TH, TO(Q5_K)},
    {MADE(Q3_K_M), KIND(DOWN), FACT_NOT_FALCON, TO(Q4_K)},
    {MADE(Q3_K_M), KIND(DOWN), FACT_MORE, TO(Q4_K)},
    {MADE(Q3_K_L), KIND(DOWN), FACT_FALCON, TO(Q4_K)},
    {MADE(Q3_K_L), KIND(DOWN), 0, TO(Q5_K)},
    {MADE(IQ3_M), KIND(DOWN), FACT_FIRST_8TH, TO(Q4_K)},
    {MADE(IQ3_M), KIND(DOWN), FACT_8_EXPERTS | FACT_MORE, TO(Q4_K)},
    {MADE(Q4_K_S), KIND(DOWN), FACT_NOT_FALCON | FACT_FIRST_8TH, TO(Q5_K)},
    {MADE(Q4_K_M), KIND(DOWN), FACT_NOT_FALCON | FACT_MORE, TO(Q6_K)},
    {MADE(Q4_K_M), KIND(DOWN), FACT_FALCON | FACT_FIRST_16TH, TO(Q6_K)},
    {MADE(Q4_K_M), KIND(DOWN), FACT_FALCON | FACT_MORE, TO(Q5_K)},
    {MADE(Q5_K_M), KIND(DOWN), FACT_MORE, TO(Q6_K)},
    {MADE(IQ4_NL) | MADE(IQ4_XS), KIND(DOWN), FACT_NO_IMPORTANCE | FACT_FIRST_8TH, TO(Q5_K)},
    {MADE(Q4_0), KIND(DOWN), FACT_IMPORTANCE | FACT_FIRST_8TH, TO(Q4_1)},
    {MADE(Q5_0), KIND(DOWN), FACT_IMPORTANCE | FACT_FIRST_8TH, TO(Q5_1)},

    /* the output of attention */
    {MADE(Q2_K) | MADE(Q3_K_S) | MADE(Q3_K_M) | MADE(Q4_K_S) | MADE(Q4_K_M) | MADE(IQ3_XXS) |
         MADE(IQ3_XS) | MADE(IQ3_S) | MADE(IQ3_M) | MADE(IQ4_NL) | MADE(IQ4_XS),
     KIND(ATTENTION_OUTPUT), FACT_NOT_FALCON | FACT_8_EXPERTS, TO(Q5_K)},
    {MADE(Q2_K), KIND(ATTENTION_OUTPUT), FACT_NOT_FALCON | FACT_NOT_8_EXPERTS, TO(Q3_K)},
    {MADE(IQ3_XXS), KIND(ATTENTION_OUTPUT), FACT_NOT_FALCON | FACT_NOT_8_EXPERTS, TO(IQ3_S)},
    {MADE(Q3_K_M) | MADE(IQ3_M), KIND(ATTENTION_OUTPUT), FACT_NOT_FALCON | FACT_NOT_8_EXPERTS,
     TO(Q4_K)},
    {MADE(Q3_K_L), KIND(ATTENTION_OUTPUT), FACT_NOT_FALCON | FACT_NOT_8_EXPERTS, TO(Q5_K)},
    {MADE(Q3_K_L), KIND(ATTENTION_OUTPUT), FACT_FALCON, TO(Q4_K)},
};

static bool applies(const mix_rule *rule, const gufo_file_type *file_type, tensor_kind kind,
                    uint32_t facts)
{
    return (rule->file_types >> file_type->id & 1) != 0 && (rule->kinds >> kind & 1) != 0 &&
           (rule->facts & ~facts) == 0;
}

static uint32_t choose(const gufo_file_type *file_type, tensor_kind kind, uint32_t facts)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (applies(&rules[i], file_type, kind, facts))
            return rules[i].type == BASE ? file_type->base_type : rules[i].type;
    return file_type->base_type;
}

bool mix_counts_always(const gufo_file_type *file_type)
{
    return (SMALLEST >> file_type->id & 1) != 0;
}

/* Where eight heads share their values, those are so small that better ones cost next to nothing.
 */
uint32_t mix_choose(const gufo_file_type *file_type, tensor_kind kind, uint32_t facts)
{
    uint32_t type = choose(file_type, kind, facts);

    if (kind == KIND_V && (facts & FACT_70B) != 0 && !mix_counts_always(file_type) &&
        (type == GUFO_TYPE_Q3_K || type == GUFO_TYPE_Q4_K))
        return GUFO_TYPE_Q5_K;
    return type;
}

/* ---- facts ---------------------------------------------------------------------------------- */

/* Models called "70B" for the purpose of the recipes: by architecture and number of layers. */
static const struct {
    const char *architecture;
    uint64_t layers;
    bool grouped; /* only if heads share keys and values */
} class_70b[] = {
    {"llama", 80, true}, {"qwen2", 80, false}, {"olmo", 80, false},
    {"deci", 80, false}, {"jais2", 68, false},
};

static bool is_70b(const gufo_recipe_model *model)
{
    for (size_t i = 0; i < sizeof class_70b / sizeof *class_70b; i++)
        if (gufo_str_equal(model->architecture, gufo_str_of(class_70b[i].architecture)) &&
            model->layers == class_70b[i].layers)
            return !class_70b[i].grouped || model->heads != model->key_value_heads;
    return false;
}

static uint32_t fact_if(bool holds, uint32_t fact)
{
    return holds ? fact : 0;
}

uint32_t mix_model_facts(const gufo_recipe_model *model, bool importance)
{
    bool falcon = gufo_str_equal(model->architecture, gufo_str_of("falcon"));
    bool shared_heads = model->key_value_heads != 0 && model->heads / model->key_value_heads >= 4;
    bool eight = model->experts == 8;

    return (falcon ? FACT_FALCON : FACT_NOT_FALCON) |
           (importance ? FACT_IMPORTANCE : FACT_NO_IMPORTANCE) |
           (eight ? FACT_8_EXPERTS : FACT_NOT_8_EXPERTS) | fact_if(shared_heads, FACT_4_HEADS) |
           fact_if(shared_heads || model->experts >= 4, FACT_SHARED) |
           fact_if(is_70b(model), FACT_70B);
}

uint32_t mix_place_facts(uint64_t i, uint64_t n)
{
    uint64_t eighth = n / 8, last = n - eighth - (n % 8 != 0); /* 7n/8 without overflow */
    bool first = i < eighth, middle = !first && i < last;
    bool more = !middle || (i - eighth) % 3 == 2;

    return fact_if(i < 2, FACT_FIRST_2) | fact_if(i < 4, FACT_FIRST_4) |
           fact_if(i < n / 16, FACT_FIRST_16TH) | fact_if(first, FACT_FIRST_8TH) |
           fact_if(middle, FACT_MIDDLE) | fact_if(more, FACT_MORE);
}
