/* stubs */
#include "import/tokenizers/readers.h"
gufo_status read_hf(tokenizer_reading *r)
{
    return reading_pass(r, "tokenizer.json", NULL);
}
gufo_status read_gemma4(tokenizer_reading *r)
{
    return reading_pass(r, "tokenizer.json", NULL);
}
gufo_status read_ugm(tokenizer_reading *r)
{
    return reading_pass(r, "tokenizer.json", NULL);
}
gufo_status read_xlmr(tokenizer_reading *r)
{
    return reading_pass(r, "tokenizer.json", NULL);
}
gufo_status read_rwkv(tokenizer_reading *r)
{
    return reading_pass(r, "tokenizer.json", NULL);
}
gufo_status read_qwen(tokenizer_reading *r)
{
    return reading_pass(r, "tokenizer.json", NULL);
}
gufo_status read_tiktoken(tokenizer_reading *r)
{
    return reading_pass(r, "tokenizer.json", NULL);
}
gufo_status read_mistral(tokenizer_reading *r)
{
    return reading_pass(r, "tokenizer.json", NULL);
}
