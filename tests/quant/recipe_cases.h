/* What the reference chooses: a selection of its answers, so that every rule is asked for at least
 * once.
 *
 *     model, file type, and the types of output, token_embd, attn_q, attn_k, attn_v (or attn_qkv),
 *     attn_output, ffn_gate, ffn_up, ffn_down: for all layers, or run-length coded; - for none */
#ifndef TEST_QUANT_RECIPE_CASES_H
#define TEST_QUANT_RECIPE_CASES_H

/* Of 32 layers: the first and the last eighth, and every third between. */
#define MORE(a, b)                                                                                \
    a "*4," b "*2," a "," b "*2," a "," b "*2," a "," b "*2," a "," b "*2," a "," b "*2," a "," b \
      "*2," a "," b "*2," a "*5"

static const struct recipe_case {
    const char *model, *file_type, *expected;
} recipe_cases[] = {
    {"dense32_gqa4", "Q1_0", "Q6_K Q1_0 Q1_0 Q1_0 Q1_0 Q1_0 Q1_0 Q1_0 Q1_0"},
    {"dense32_gqa4", "Q2_0", "Q6_K Q4_K Q2_0 Q2_0 Q2_0 Q2_0 Q2_0 Q2_0 Q2_0"},
    {"dense32_gqa4", "Q4_0", "Q6_K Q4_0 Q4_0 Q4_0 Q4_0 Q4_0 Q4_0 Q4_0 Q4_0"},
    {"dense32_gqa4", "Q4_1", "Q6_K Q4_1 Q4_1 Q4_1 Q4_1 Q4_1 Q4_1 Q4_1 Q4_1"},
    {"dense32_gqa4", "MXFP4_MOE", "Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0"},
    {"dense32_gqa4", "Q5_0", "Q6_K Q5_0 Q5_0 Q5_0 Q5_0 Q5_0 Q5_0 Q5_0 Q5_0"},
    {"dense32_gqa4", "Q5_1", "Q6_K Q5_1 Q5_1 Q5_1 Q5_1 Q5_1 Q5_1 Q5_1 Q5_1"},
    {"dense32_gqa4", "IQ2_XXS",
     "Q5_K Q2_K IQ2_XXS IQ2_XXS Q4_K IQ2_XXS IQ2_XXS IQ2_XXS Q2_K*4,IQ2_XXS*28"},
    {"dense32_gqa4", "IQ2_XS",
     "Q5_K Q2_K IQ2_XS IQ2_XS Q4_K IQ2_XS IQ2_XS IQ2_XS Q2_K*4,IQ2_XS*28"},
    {"dense32_gqa4", "IQ2_S",
     "Q5_K IQ3_S IQ2_XS IQ2_XS Q4_K IQ3_S IQ2_XS IQ2_XS IQ3_S*4,IQ2_XS*28"},
    {"dense32_gqa4", "IQ2_M", "Q5_K IQ3_S IQ2_S IQ2_S Q4_K IQ3_S IQ2_S IQ2_S IQ3_S*4,IQ2_S*28"},
    {"dense32_gqa4", "IQ1_S", "Q5_K Q2_K IQ1_S IQ1_S Q4_K IQ2_XXS IQ1_S IQ1_S Q2_K*4,IQ1_S*28"},
    {"dense32_gqa4", "IQ1_M", "Q5_K Q2_K IQ1_M IQ1_M Q4_K IQ2_XXS IQ1_M IQ1_M Q2_K*4,IQ1_M*28"},
    {"dense32_gqa4", "TQ1_0", "Q6_K Q4_K TQ1_0 TQ1_0 TQ1_0 TQ1_0 TQ1_0 TQ1_0 TQ1_0"},
    {"dense32_gqa4", "TQ2_0", "Q6_K Q4_K TQ2_0 TQ2_0 TQ2_0 TQ2_0 TQ2_0 TQ2_0 TQ2_0"},
    {"dense32_gqa4", "Q2_K", "Q6_K Q2_K Q2_K Q2_K Q4_K Q3_K Q2_K Q2_K Q3_K"},
    {"dense32_gqa4", "Q2_K_S", "Q6_K Q2_K Q2_K Q2_K Q4_K Q2_K Q2_K Q2_K Q4_K*4,Q2_K*28"},
    {"dense32_gqa4", "IQ3_XXS", "Q5_K IQ3_S IQ2_S IQ2_S Q4_K IQ3_S IQ3_XXS IQ3_XXS Q4_K*4,Q3_K*28"},
    {"dense32_gqa4", "IQ3_S", "Q6_K IQ3_S IQ3_S IQ3_S Q4_K IQ3_S IQ3_S IQ3_S IQ3_S"},
    {"dense32_gqa4", "IQ3_M", "Q6_K IQ3_S IQ3_S IQ3_S Q4_K Q4_K IQ3_S IQ3_S Q4_K*4,IQ3_S*28"},
    {"dense32_gqa4", "IQ3_XS",
     "Q6_K IQ3_S IQ3_XXS IQ3_XXS Q4_K IQ3_S IQ3_S*4,IQ3_XXS*24,IQ3_S*4 IQ3_S*4,IQ3_XXS*24,IQ3_S*4 "
     "IQ3_S"},
    {"dense32_gqa4", "Q3_K_S", "Q6_K Q3_K Q3_K Q3_K Q3_K Q3_K Q3_K Q3_K Q3_K"},
    {"dense32_gqa4", "Q3_K_M", "Q6_K Q3_K Q3_K Q3_K Q5_K*2,Q4_K*30 Q4_K Q3_K Q3_K Q5_K*2,Q4_K*30"},
    {"dense32_gqa4", "Q3_K_L", "Q6_K Q3_K Q3_K Q3_K Q5_K Q5_K Q3_K Q3_K Q5_K"},
    {"dense32_gqa4", "IQ4_NL",
     "Q6_K IQ4_NL IQ4_NL IQ4_NL Q5_K IQ4_NL IQ4_NL IQ4_NL Q5_K*4,IQ4_NL*28"},
    {"dense32_gqa4", "IQ4_XS",
     "Q6_K IQ4_XS IQ4_XS IQ4_XS Q5_K IQ4_XS IQ4_XS IQ4_XS Q5_K*4,IQ4_XS*28"},
    {"dense32_gqa4", "Q4_K_S", "Q6_K Q4_K Q4_K Q4_K Q5_K*4,Q4_K*28 Q4_K Q4_K Q4_K Q5_K*4,Q4_K*28"},
    {"dense32_gqa4", "Q4_K_M",
     "Q6_K Q4_K Q4_K Q4_K " MORE("Q6_K", "Q4_K") " Q4_K Q4_K Q4_K " MORE("Q6_K", "Q4_K")},
    {"dense32_gqa4", "Q5_K_S", "Q6_K Q5_K Q5_K Q5_K Q5_K Q5_K Q5_K Q5_K Q5_K"},
    {"dense32_gqa4", "Q5_K_M",
     "Q6_K Q5_K Q5_K Q5_K " MORE("Q6_K", "Q5_K") " Q5_K Q5_K Q5_K " MORE("Q6_K", "Q5_K")},
    {"dense32_gqa4", "Q6_K", "Q6_K Q6_K Q6_K Q6_K Q6_K Q6_K Q6_K Q6_K Q6_K"},
    {"dense32_gqa4", "Q8_0", "Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0"},

    {"dense32_gqa1", "IQ2_S",
     "Q5_K IQ3_S IQ2_XS IQ2_XS IQ3_S IQ3_S IQ2_XS IQ2_XS IQ3_S*4,IQ2_XS*28"},
    {"dense32_gqa1", "IQ1_M", "Q5_K Q2_K IQ1_M IQ1_M Q2_K IQ2_XXS IQ1_M IQ1_M Q2_K*4,IQ1_M*28"},
    {"dense32_gqa1", "Q2_K", "Q6_K Q2_K Q2_K Q2_K Q3_K Q3_K Q2_K Q2_K Q3_K"},
    {"dense32_gqa1", "Q2_K_S", "Q6_K Q2_K Q2_K Q2_K Q2_K Q2_K Q2_K Q2_K Q4_K*4,Q2_K*28"},
    {"dense32_gqa1", "IQ3_XXS",
     "Q5_K IQ3_S IQ2_S IQ2_S IQ3_S IQ3_S IQ3_XXS IQ3_XXS Q4_K*4,Q3_K*28"},
    {"dense32_gqa1", "IQ3_S", "Q6_K IQ3_S IQ3_S IQ3_S IQ3_S IQ3_S IQ3_S IQ3_S IQ3_S"},
    {"dense32_gqa1", "IQ3_XS",
     "Q6_K IQ3_S IQ3_XXS IQ3_XXS IQ3_S IQ3_S IQ3_S*4,IQ3_XXS*24,IQ3_S*4 IQ3_S*4,IQ3_XXS*24,IQ3_S*4 "
     "IQ3_S"},
    {"dense32_gqa1", "IQ4_XS",
     "Q6_K IQ4_XS IQ4_XS IQ4_XS IQ4_XS IQ4_XS IQ4_XS IQ4_XS Q5_K*4,IQ4_XS*28"},

    {"dense32_gqa4_imatrix", "Q4_0", "Q6_K Q4_0 Q4_0 Q4_0 Q4_0 Q4_0 Q4_0 Q4_0 Q4_1*4,Q4_0*28"},
    {"dense32_gqa4_imatrix", "Q5_0", "Q6_K Q5_0 Q5_0 Q5_0 Q5_0 Q5_0 Q5_0 Q5_0 Q5_1*4,Q5_0*28"},
    {"dense32_gqa4_imatrix", "IQ3_XXS",
     "Q5_K IQ3_S IQ2_S IQ2_S Q4_K IQ3_S IQ3_XXS IQ3_XXS IQ3_XXS"},
    {"dense32_gqa4_imatrix", "IQ4_XS",
     "Q6_K IQ4_XS IQ4_XS IQ4_XS Q5_K IQ4_XS IQ4_XS IQ4_XS IQ4_XS"},

    {"dense80_gqa8_llama70b", "IQ2_S",
     "Q5_K IQ3_S IQ2_XS IQ2_XS Q4_K IQ3_S IQ2_XS IQ2_XS IQ3_S*10,IQ2_XS*70"},
    {"dense80_gqa8_llama70b", "Q2_K", "Q6_K Q2_K Q2_K Q2_K Q5_K Q3_K Q2_K Q2_K Q3_K"},
    {"dense80_gqa8_llama70b", "IQ3_M",
     "Q6_K IQ3_S IQ3_S IQ3_S Q5_K Q4_K IQ3_S IQ3_S Q4_K*10,IQ3_S*70"},
    {"dense80_gqa8_llama70b", "Q3_K_S", "Q6_K Q3_K Q3_K Q3_K Q5_K Q3_K Q3_K Q3_K Q3_K"},
    {"dense80_gqa8_llama70b", "Q3_K_M", "Q6_K Q3_K Q3_K Q3_K Q5_K Q4_K Q3_K Q3_K Q5_K*5,Q4_K*75"},
    {"dense80_gqa8_llama70b", "Q4_K_S", "Q6_K Q4_K Q4_K Q4_K Q5_K Q4_K Q4_K Q4_K Q5_K*10,Q4_K*70"},
    {"dense80_gqa8_llama70b", "Q6_K", "Q6_K Q6_K Q6_K Q6_K Q6_K Q6_K Q6_K Q6_K Q6_K"},

    {"moe32_e8_gqa4", "Q4_0", "Q6_K Q4_0 Q4_0 Q8_0 Q8_0 Q4_0 Q4_0 Q4_0 Q4_1*4,Q4_0*28"},
    {"moe32_e8_gqa4", "MXFP4_MOE", "Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 MXFP4 MXFP4 MXFP4"},
    {"moe32_e8_gqa4", "IQ2_M", "Q5_K IQ3_S IQ2_S Q4_K Q4_K Q5_K IQ2_S IQ2_S IQ3_S*4,IQ2_S*28"},
    {"moe32_e8_gqa4", "IQ1_S", "Q5_K Q2_K IQ1_S Q4_K Q4_K Q5_K IQ1_S IQ1_S Q2_K*4,IQ1_S*28"},
    {"moe32_e8_gqa4", "Q2_K_S", "Q6_K Q2_K Q2_K Q8_0 Q8_0 Q2_K Q2_K Q2_K Q4_K*4,Q2_K*28"},
    {"moe32_e8_gqa4", "IQ3_M",
     "Q6_K IQ3_S IQ3_S Q8_0 Q8_0 Q5_K IQ3_S IQ3_S " MORE("Q4_K", "IQ3_S")},
    {"moe32_e8_gqa4", "IQ3_XS",
     "Q6_K IQ3_S IQ3_XXS Q8_0 Q8_0 Q5_K IQ3_S*4,IQ3_XXS*24,IQ3_S*4 IQ3_S*4,IQ3_XXS*24,IQ3_S*4 "
     "IQ3_S"},
    {"moe32_e8_gqa4", "Q3_K_L", "Q6_K Q3_K Q3_K Q8_0 Q8_0 Q3_K Q3_K Q3_K Q5_K"},
    {"moe32_e8_gqa4", "Q4_K_M", "Q6_K Q4_K Q4_K Q8_0 Q8_0 Q5_K Q4_K Q4_K " MORE("Q6_K", "Q4_K")},
    {"moe32_e8_gqa4", "Q6_K", "Q6_K Q6_K Q6_K Q8_0 Q8_0 Q6_K Q6_K Q6_K Q6_K"},

    {"moe28_e64_gqa1", "MXFP4_MOE", "Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 MXFP4 MXFP4 MXFP4"},
    {"moe28_e64_gqa1", "IQ2_XXS",
     "Q5_K Q2_K IQ2_XXS IQ2_XXS Q4_K IQ2_XXS IQ2_XXS IQ2_XXS Q2_K*3,IQ2_XXS*25"},
    {"moe28_e64_gqa1", "IQ2_M", "Q5_K IQ3_S IQ2_S IQ2_S Q4_K IQ3_S IQ2_S IQ2_S IQ3_S*3,IQ2_S*25"},
    {"moe28_e64_gqa1", "Q4_K_S",
     "Q6_K Q4_K Q4_K Q4_K Q5_K*4,Q4_K*24 Q4_K Q4_K Q4_K Q5_K*3,Q4_K*25"},

    {"dense16_gqa4_tied", "MXFP4_MOE", "- Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0"},
    {"dense16_gqa4_tied", "IQ2_XS",
     "- Q5_K IQ2_XS IQ2_XS Q4_K IQ2_XS IQ2_XS IQ2_XS Q2_K*2,IQ2_XS*14"},
    {"dense16_gqa4_tied", "Q4_K_M",
     "- Q6_K Q4_K Q4_K Q6_K*2,Q4_K*2,Q6_K,Q4_K*2,Q6_K,Q4_K*2,Q6_K,Q4_K*2,Q6_K*3 Q4_K Q4_K Q4_K "
     "Q6_K*2,Q4_K*2,Q6_K,Q4_K*2,Q6_K,Q4_K*2,Q6_K,Q4_K*2,Q6_K*3"},
    {"dense16_gqa4_tied", "Q8_0", "- Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0 Q8_0"},

    {"dense30_cols576", "IQ2_XXS",
     "- Q8_0 IQ4_NL IQ4_NL Q4_0 IQ4_NL IQ4_NL IQ4_NL Q4_0*3,IQ4_NL*27"},
    {"dense30_cols576", "Q2_K", "- Q8_0 Q4_0 Q4_0 Q4_0 Q4_0 Q4_0 Q4_0 Q4_0"},
    {"dense30_cols576", "Q4_K_M",
     "- Q8_0 Q5_0 Q5_0 "
     "Q8_0*3,Q5_0*2,Q8_0,Q5_0*2,Q8_0,Q5_0*2,Q8_0,Q5_0*2,Q8_0,Q5_0*2,Q8_0,Q5_0*2,Q8_0,Q5_0*2,Q8_0,"
     "Q5_0*2,Q8_0*4 Q5_0 Q5_0 Q5_0 "
     "Q8_0*3,Q5_0*2,Q8_0,Q5_0*2,Q8_0,Q5_0*2,Q8_0,Q5_0*2,Q8_0,Q5_0*2,Q8_0,Q5_0*2,Q8_0,Q5_0*2,Q8_0,"
     "Q5_0*2,Q8_0*4"},

    {"falcon32_fused", "Q4_0", "Q8_0 Q4_0 - - Q4_0 Q4_0 - Q4_0 Q4_0"},
    {"falcon32_fused", "IQ3_M", "Q8_0 IQ4_NL - - Q5_0 IQ4_NL - IQ4_NL Q5_0*4,IQ4_NL*28"},
    {"falcon32_fused", "Q3_K_M",
     "Q8_0 Q4_0 - - Q5_1*2,Q5_0*30 Q4_0 - Q4_0 "
     "Q5_1*2,Q5_0*2,Q4_0*2,Q5_0,Q4_0*2,Q5_0,Q4_0*2,Q5_0,Q4_0*2,Q5_0,Q4_0*2,Q5_0,Q4_0*2,Q5_0,Q4_0*2,"
     "Q5_0,Q4_0*2,Q5_0*5"},
    {"falcon32_fused", "Q3_K_L", "Q8_0 Q4_0 - - Q5_1 Q5_0 - Q4_0 Q5_0"},
    {"falcon32_fused", "Q4_K_S", "Q8_0 Q5_0 - - Q5_1*4,Q5_0*28 Q5_0 - Q5_0 Q5_0"},
    {"falcon32_fused", "Q4_K_M",
     "Q8_0 Q5_0 - - " MORE("Q8_0",
                           "Q5_0") " Q5_0 - Q5_0 "
                                   "Q8_0*2,Q5_1*2,Q5_0*2,Q5_1,Q5_0*2,Q5_1,Q5_0*2,Q5_1,Q5_0*2,Q5_1,"
                                   "Q5_0*2,Q5_1,Q5_0*2,Q5_1,Q5_0*2,Q5_1,Q5_0*2,Q5_1*5"},
};

#endif
