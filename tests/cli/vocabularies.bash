# Small vocabularies for the tests of tokenize and detokenize.
# shellcheck shell=bash

# make_spm OUT [WORD...]: tokens 0 <unk>, 1 <s>, 2 </s>, 3 to 258 the bytes, 259 on a few pieces;
# further words of make_gguf.
make_spm() {
    local out=$1
    local bytes=('<0x'{{0..9},{A..F}}{{0..9},{A..F}}'>') # without a loop: bats traces every command
    local tokens=('<unk>' '<s>' '</s>' "${bytes[@]}")
    local types=(2 3 3 "${bytes[@]/*/6}") scores=(0 0 0 "${bytes[@]/*/0}")
    tokens+=('▁' h e l o w r d he ll hell hello '▁hello' '▁w' or)
    types+=(1 1 1 1 1 1 1 1 1 1 1 1 1 1 1)
    scores+=(-10 -11 -12 -13 -14 -15 -16 -17 -1 -2 -3 -4 -5 -6 -7)
    make_gguf "$out" kv general.architecture string llama kv tokenizer.ggml.model string llama \
        arr tokenizer.ggml.tokens string ${#tokens[@]} "${tokens[@]}" \
        arr tokenizer.ggml.token_type int32 ${#types[@]} "${types[@]}" \
        arr tokenizer.ggml.scores float32 ${#scores[@]} "${scores[@]}" "${@:2}"
}

# make_bpe OUT [WORD...]: tokens 0 to 9 bytes, 10 on merged ones, 14 <|end|>, which ends a text.
make_bpe() {
    make_gguf "$1" kv general.architecture string gpt2 kv tokenizer.ggml.model string gpt2 \
        kv tokenizer.ggml.pre string gpt-2 \
        arr tokenizer.ggml.tokens string 15 h e l o w 'Ġ' . Ã '©' a he ll hell 'Ġw' '<|end|>' \
        arr tokenizer.ggml.token_type int32 15 1 1 1 1 1 1 1 1 1 1 1 1 1 1 3 \
        arr tokenizer.ggml.merges string 4 'h e' 'l l' 'he ll' 'Ġ w' \
        kv tokenizer.ggml.bos_token_id uint32 14 kv tokenizer.ggml.eos_token_id uint32 14 "${@:2}"
}

# make_wpm OUT: tokens 0 [UNK], 1 [CLS], 2 [SEP], 3 on words and their parts.
make_wpm() {
    make_gguf "$1" kv general.architecture string bert kv tokenizer.ggml.model string bert \
        arr tokenizer.ggml.tokens string 8 '[UNK]' '[CLS]' '[SEP]' '▁hello' '▁wor' ld '▁?' '▁é' \
        arr tokenizer.ggml.token_type int32 8 2 3 3 1 1 1 1 1 \
        kv tokenizer.ggml.bos_token_id uint32 1 kv tokenizer.ggml.seperator_token_id uint32 2 \
        kv tokenizer.ggml.unknown_token_id uint32 0
}

# shared_vocabulary NAME: the path of a real one, as $shared_vocabulary; skips the test without it.
shared_vocabulary() {
    shared_vocabulary=${GUFO_SHARED:-}/data/vocab/ggml-vocab-$1.gguf
    [ -e "$shared_vocabulary" ] || shared_vocabulary=${GUFO_SHARED:-}/data/text/vocabs/$1.gguf
    [ -e "$shared_vocabulary" ] || skip "no $shared_vocabulary"
}
