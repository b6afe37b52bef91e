/* The readers of vocabularies, which tokenizers.c has in a table.
 *
 * Each sets tokenizer.ggml.* up to the list of merges. GUFO_E_NOT_FOUND: the files that it needs are
 * missing or not for it (reading_pass). */
#ifndef IMPORT_TOKENIZERS_READERS_H
#define IMPORT_TOKENIZERS_READERS_H

#include "import/tokenizers/reading.h"

#define WORLD_FILE "rwkv_vocab_v20230424.txt"

typedef gufo_status read_vocabulary(tokenizer_reading *r);

read_vocabulary read_spm, read_phi3, read_internlm2, read_arctic, read_chatglm3; /* pieces.c */
read_vocabulary read_bpe, read_atomic, read_wpm; /* json_vocabulary.c */
read_vocabulary read_hf, read_gemma4;            /* json_pieces.c */
read_vocabulary read_ugm, read_xlmr, read_nomic; /* unigram.c */
read_vocabulary read_rwkv;                       /* world.c */
read_vocabulary read_qwen, read_tiktoken;        /* ranks.c */
read_vocabulary read_mistral;                    /* tekken.c */

/* Whether tokenizer.json has a vocabulary of pieces, BPE that falls back to bytes: read_hf is for it.
 * json_pieces.c */
bool json_has_pieces(tokenizer_reading *r);

#endif
