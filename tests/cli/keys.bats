#!/usr/bin/env bats
# bats file_tags=plain
# Every key has one meaning under every reader: its other names (registry/key_aliases.tsv) change what each of them
# does, and what readers take where a key is missing is what they do.

# bats sets stderr.
# shellcheck disable=SC2154

load common
load vocabularies

# ---- models ----------------------------------------------------------------------------------------------------------

# model_words ARCHITECTURE LENGTH: a model that every reader takes, with this length of the feed-forward part, as words of
# make_gguf.
model_words() {
    local bytes=('<0x'{{0..9},{A..F}}{{0..9},{A..F}}'>')
    local tokens=('<unk>' '<s>' '</s>' "${bytes[@]}" '▁' h e l o he el ll hell '▁he' '<sep>' '<pre>')
    local types=(2 3 3 "${bytes[@]/*/6}" 1 1 1 1 1 1 1 1 1 1 3 3) scores=(0 0 0 "${bytes[@]/*/0}")
    scores+=(-10 -11 -12 -13 -14 -2 -1 -3 -4 -5 0 0)
    words=(kv general.architecture string "$1" kv general.name string Tiny
        kv general.source.repo_url string https://huggingface.co/nest/egg
        kv general.source.url string https://example.org
        kv "$1.block_count" uint32 1 kv "$1.context_length" uint32 64 kv "$1.embedding_length" uint32 32
        kv "$1.feed_forward_length" uint32 "$2" kv "$1.attention.head_count" uint32 4
        kv "$1.attention.layer_norm_rms_epsilon" float32 1e-5 kv "$1.attention.layer_norm_epsilon" float32 1e-5
        kv "$1.rope.dimension_count" uint32 8 kv "$1.rope.scaling.factor" float32 4
        kv "$1.attention.max_alibi_bias" float32 8 kv "$1.attention.clamp_kqv" float32 6
        kv tokenizer.ggml.model string llama
        arr tokenizer.ggml.tokens string ${#tokens[@]} "${tokens[@]}"
        arr tokenizer.ggml.scores float32 ${#scores[@]} "${scores[@]}"
        arr tokenizer.ggml.token_type int32 ${#types[@]} "${types[@]}"
        kv tokenizer.ggml.bos_token_id uint32 1 kv tokenizer.ggml.eos_token_id uint32 2
        kv tokenizer.ggml.separator_token_id uint32 269
        kv tokenizer.ggml.fim_pre_token_id uint32 270 kv tokenizer.ggml.fim_suf_token_id uint32 259
        kv tokenizer.ggml.fim_mid_token_id uint32 260
        kv tokenizer.chat_template string '{{ bos_token }}|{{ sep_token }}')
}

tensors_of_llama=(tensor token_embd.weight 0 32x271 34688 tensor output_norm.weight 0 32 128
    tensor blk.0.attn_norm.weight 0 32 128 tensor blk.0.ffn_norm.weight 0 32 128
    tensor blk.0.attn_q.weight 0 32x32 4096 tensor blk.0.attn_k.weight 0 32x32 4096
    tensor blk.0.attn_v.weight 0 32x32 4096 tensor blk.0.attn_output.weight 0 32x32 4096
    tensor blk.0.ffn_gate.weight 0 32x64 8192 tensor blk.0.ffn_up.weight 0 32x64 8192
    tensor blk.0.ffn_down.weight 0 64x32 8192)
tensors_of_mpt=(tensor token_embd.weight 0 32x271 34688 tensor output_norm.weight 0 32 128
    tensor blk.0.attn_norm.weight 0 32 128 tensor blk.0.ffn_norm.weight 0 32 128
    tensor blk.0.attn_qkv.weight 0 32x96 12288 tensor blk.0.attn_output.weight 0 32x32 4096
    tensor blk.0.ffn_up.weight 0 32x128 16384 tensor blk.0.ffn_down.weight 0 128x32 16384)

declare -gA feed_forward=([llama]=64 [mpt]=128)

# make ARCHITECTURE FOLDER KEY NAME [VALUE]: the model in FOLDER/m.gguf, with the key under another name, or with
# another value; without it where NAME is empty.
make() {
    local words i at
    local -n tensors=tensors_of_$1
    model_words "$1" "${feed_forward[$1]}"
    for ((i = 0; i < ${#words[@]}; i++)); do
        [ "${words[i]}" != "$3" ] || at=$i
    done
    words[at]=$4
    if [ -n "${5:-}" ]; then
        words[at + 2]=$5
    fi
    if [ -z "$4" ]; then
        words=("${words[@]:0:at - 1}" "${words[@]:at + (${#words[at - 1]} == 2 ? 3 : 3 + words[at + 2])}")
    fi
    mkdir "$2"
    make_gguf "$2/m.gguf" "${words[@]}" "${tensors[@]}"
}

# ---- readers: what each does with m.gguf, in its own folder ----------------------------------------------------------

# The size of the file is that of its names, too.
read_show() {
    gufo show --summary --markdown m.gguf | sed '/^| Size/d'
}

read_summary() {
    gufo show --summary m.gguf | sed '/^ *Size/d'
    gufo show --summary --json m.gguf | sed -E 's/"(file_size|size|data_offset)":[0-9]+//g'
}

read_estimate() {
    gufo estimate --json -c 64 m.gguf
    gufo estimate --json -c 64 --devices 1 --gpu-layers 99 m.gguf
}

read_export() {
    gufo export -q m.gguf out
    rm out/gguf-metadata.json out/model.safetensors
    (cd out && cat -- *)
}

# What stays of the name is the name of today.
read_convert() {
    gufo export -q m.gguf there
    gufo convert -q there back.gguf F32
    gufo show --json --metadata back.gguf | sed 's/"offset":[0-9]*//g'
}

read_tokenize() {
    gufo tokenize --json m.gguf 'hello  12<sep><pre>'
}

read_template() {
    gufo template m.gguf </dev/null
}

read_vocab() {
    gufo vocab m.gguf
}

# read_all FOLDER READER...
read_all() {
    local reader
    cd "$1" || return
    for reader in "${@:2}"; do
        echo "== $reader"
        "read_$reader" 2>&1 || true
    done
    cd ..
}

# ---- other names -----------------------------------------------------------------------------------------------------

# The readers of each key that has other names.
declare -gA readers=(
    [general.source.repo_url]='show'
    [general.source.url]='convert'
    [tokenizer.ggml.tokens]='show summary estimate export convert tokenize template vocab'
    [tokenizer.ggml.scores]='export convert tokenize'
    [tokenizer.ggml.separator_token_id]='show summary export template vocab'
    [tokenizer.ggml.fim_pre_token_id]='show summary convert vocab'
    [tokenizer.ggml.fim_suf_token_id]='show summary convert vocab'
    [tokenizer.ggml.fim_mid_token_id]='show summary convert vocab'
    ['{arch}.block_count']='show summary estimate export convert'
    ['{arch}.context_length']='show summary export convert'
    ['{arch}.embedding_length']='show summary estimate export convert'
    ['{arch}.attention.head_count']='show summary estimate export convert'
    ['{arch}.attention.max_alibi_bias']='export convert'
    ['{arch}.attention.clamp_kqv']='export convert'
    ['{arch}.rope.dimension_count']='show summary convert'
    ['{arch}.rope.scaling.factor']='show summary export convert'
)

# What other names have instead of the value.
declare -gA values=([general.source.huggingface.repository]=nest/egg)

# The other names of keys, and their keys of today.
other_names() {
    gufo list keys --json | sed 's/{"key"/\n&/g' |
        sed -n 's/^{"key":"\([^"]*\)".*"instead":"\([^"]*\)".*/\1 \2/p'
}

@test "keys: every other name is read as the key of today" {
    local name today arch
    other_names >names.txt
    [ "$(wc -l <names.txt)" -ge 21 ]
    while read -r name today; do
        [ -n "${readers[$today]:-}" ] || { echo "no readers of $today are known"; return 1; }
        arch=llama
        [[ $today != *.attention.max_alibi_bias && $today != *.attention.clamp_kqv ]] || arch=mpt
        rm -rf right other none
        make "$arch" right "${today/'{arch}'/$arch}" "${today/'{arch}'/$arch}"
        make "$arch" other "${today/'{arch}'/$arch}" "${name/'{arch}'/$arch}" "${values[$name]:-}"
        make "$arch" none "${today/'{arch}'/$arch}" ''
        # shellcheck disable=SC2086
        for reader in ${readers[$today]}; do
            read_all right "$reader" >right.txt
            read_all other "$reader" >other.txt
            read_all none "$reader" >none.txt
            diff right.txt other.txt || { echo "$reader: $name is not $today"; return 1; }
            ! diff -q right.txt none.txt >none.diff || { echo "$reader: $today changes nothing"; return 1; }
        done
    done <names.txt
}

# ---- what readers take without a key ---------------------------------------------------------------------------------

# Of each key with a default that a reader computes with: an architecture, its type, the default as a value, another
# value, and readers.
declare -gA defaults=(
    [general.type]='llama string model adapter export'
    [tokenizer.ggml.pre]='gpt2 string default starcoder tokenize'
    [tokenizer.ggml.remove_extra_whitespaces]='t5 bool 0 1 tokenize'
    ['{arch}.attention.causal']='gemma-embedding bool 1 0 estimate'
    ['{arch}.attention.head_count_kv']='llama uint32 4 1 estimate quantize'
    ['{arch}.attention.key_length']='llama uint32 64 32 estimate validate'
    ['{arch}.attention.key_length_swa']='gemma3 uint32 64 32 estimate'
    ['{arch}.attention.shared_kv_layers']='gemma4 uint32 0 1 estimate'
    ['{arch}.attention.value_length']='llama uint32 64 32 estimate validate'
    ['{arch}.attention.value_length_swa']='gemma3 uint32 64 32 estimate'
    ['{arch}.embedding_length_per_layer_input']='gemma3n uint32 256 512 estimate'
    ['{arch}.expert_count']='qwen2moe uint32 0 8 estimate'
    ['{arch}.expert_feed_forward_length']='qwen2moe uint32 64 100000 estimate'
    ['{arch}.expert_shared_count']='qwen2moe uint32 0 2000 estimate'
    ['{arch}.expert_used_count']='qwen2moe uint32 0 2 estimate'
    ['{arch}.full_attention_interval']='qwen3next uint32 4 2 estimate'
    ['{arch}.nextn_predict_layers']='hy_v3 uint32 0 1 estimate'
    ['{arch}.rope.scaling.type']='llama string linear yarn show summary export'
    ['{arch}.ssm.group_count']='mamba2 uint32 0 2 estimate'
    ['{arch}.token_shift_count']='rwkv6 uint32 2 1 estimate'
)

# Defaults that no reader above computes with by themselves: they go with other keys, are what presence alone decides,
# or are for programs that run models.
undecided=' adapter.lora.alpha clip.audio.projector_type clip.has_audio_encoder clip.has_llava_projector
    clip.has_vision_encoder clip.use_gelu clip.use_silu clip.vision.attention.head_count_kv
    clip.vision.mm_patch_merge_type clip.vision.n_wa_pattern clip.vision.projector_type clip.vision.spatial_merge_size
    diffusion.shift_logits general.alignment general.base_model.count general.dataset.count
    tokenizer.ggml.add_bos_token tokenizer.ggml.add_eos_token tokenizer.ggml.add_padding_token
    tokenizer.ggml.add_sep_token tokenizer.ggml.add_space_prefix tokenizer.ggml.token_type_count
    {arch}.attention.clamp_kqv {arch}.attention.max_alibi_bias {arch}.attention.q_lora_rank {arch}.attention.scale
    {arch}.attention.sliding_window {arch}.decoder_block_count {arch}.embedding_length_out {arch}.expert_group_count
    {arch}.expert_group_used_count {arch}.expert_weights_norm {arch}.expert_weights_scale {arch}.hash_layer_count
    {arch}.interleave_moe_layer_step {arch}.leading_dense_block_count {arch}.moe_every_n_layers
    {arch}.n_deepstack_layers {arch}.norm_before_fc {arch}.norm_before_residual {arch}.pooling_type
    {arch}.rescale_every_n_layers {arch}.rope.dimension_count {arch}.rope.dimension_count_swa {arch}.rope.freq_base
    {arch}.rope.freq_base_swa {arch}.rope.scale {arch}.rope.scale_linear {arch}.rope.scaling.attn_factor
    {arch}.rope.scaling.factor {arch}.rope.scaling.finetuned {arch}.rope.scaling.original_context_length
    {arch}.rope.scaling.yarn_attn_factor {arch}.rope.scaling.yarn_beta_fast {arch}.rope.scaling.yarn_beta_slow
    {arch}.ssm.dt_b_c_rms {arch}.swin_norm {arch}.tensor_data_layout {arch}.vocab_size '

read_quantize() {
    gufo quantize --dry-run m.gguf Q2_K
}

read_validate() {
    gufo validate m.gguf
}

# Models of few words for each architecture, with what its readers ask for.
sizes_of() {
    words=(kv general.architecture string "$1" kv "$1.context_length" uint32 256 kv "$1.embedding_length" uint32 256
        kv "$1.block_count" uint32 4 kv "$1.attention.head_count" uint32 4 kv "$1.feed_forward_length" uint32 64
        kv "$1.attention.sliding_window" uint32 64 kv "$1.ssm.conv_kernel" uint32 4 kv "$1.ssm.inner_size" uint32 32
        kv "$1.ssm.state_size" uint32 8 kv "$1.ssm.time_step_rank" uint32 2 kv "$1.wkv.head_size" uint32 8
        kv "$1.rope.scaling.factor" float32 4
        arr tokenizer.ggml.tokens string 3 a b c)
}

words_of_gpt2() {
    words=(kv general.architecture string gpt2 kv tokenizer.ggml.model string gpt2
        arr tokenizer.ggml.tokens string 6 h e 1 2 12 'Ġ'
        arr tokenizer.ggml.token_type int32 6 1 1 1 1 1 1
        arr tokenizer.ggml.merges string 1 '1 2')
}

words_of_t5() {
    words=(kv general.architecture string t5 kv tokenizer.ggml.model string t5
        arr tokenizer.ggml.tokens string 7 '<pad>' '</s>' '<unk>' '▁' h '▁h' 1
        arr tokenizer.ggml.scores float32 7 0 0 0 -1 -2 -3 -4
        arr tokenizer.ggml.token_type int32 7 3 3 2 1 1 1 1)
}

words_of_qwen2moe() {
    sizes_of qwen2moe
    [ "$1" = expert_count ] || words+=(kv qwen2moe.expert_count uint32 8)
    [ "$1" = expert_used_count ] || words+=(kv qwen2moe.expert_used_count uint32 4)
    [ "$1" = expert_feed_forward_length ] || words+=(kv qwen2moe.expert_feed_forward_length uint32 64)
    tensors=(tensor blk.0.ffn_gate_exps.weight 0 256x2x8 16384)
}

# make_with FOLDER ARCHITECTURE KEY [TYPE VALUE]: a model, without the key or with this value of it.
make_with() {
    local words tensors=()
    if declare -F "words_of_$2" >/dev/null; then
        "words_of_$2" "${3##*.}"
    else
        sizes_of "$2"
    fi
    mkdir "$1"
    make_gguf "$1/m.gguf" "${words[@]}" ${4+kv "$3" "$4" "$5"} tensor token_embd.weight 0 256x3 3072 \
        tensor blk.0.attn_q.weight 0 256x256 262144 tensor blk.0.attn_v.weight 0 256x256 262144 "${tensors[@]}"
}

with_default() {
    gufo list keys --json | sed 's/{"key"/\n&/g' | sed -n 's/^{"key":"\([^"]*\)".*"default":"[^"]*".*/\1/p'
}

@test "keys: a missing key is what readers take instead" {
    local key row arch type default other reader
    with_default >keys.txt
    [ "$(wc -l <keys.txt)" -ge 70 ]
    while read -r key; do
        row=${defaults[$key]:-}
        if [ -z "$row" ]; then
            [[ $undecided == *[[:space:]]"$key"[[:space:]]* ]] || { echo "no readers of $key are known"; return 1; }
            continue
        fi
        read -r arch type default other row <<<"$row"
        rm -rf none same other
        make_with none "$arch" "${key/'{arch}'/$arch}"
        make_with same "$arch" "${key/'{arch}'/$arch}" "$type" "$default"
        make_with other "$arch" "${key/'{arch}'/$arch}" "$type" "$other"
        for reader in $row; do
            read_all none "$reader" | grep -av warning >none.txt
            read_all same "$reader" | grep -av warning >same.txt
            read_all other "$reader" | grep -av warning >other.txt
            diff none.txt same.txt || { echo "$reader: $key is not $default"; return 1; }
            ! diff -q none.txt other.txt >none.diff || { echo "$reader: $key changes nothing"; return 1; }
        done
    done <keys.txt
}

# ---- models that were read as others ---------------------------------------------------------------------------------

@test "keys: an MPT model with the names of the specification is exported as it is" {
    make_gguf m.gguf kv general.architecture string mpt kv mpt.context_length uint32 64 \
        kv mpt.embedding_length uint32 32 kv mpt.block_count uint32 1 kv mpt.attention.head_count uint32 4 \
        kv mpt.attention.alibi_bias_max float32 8 kv mpt.attention.clip_kqv float32 6 "${tensors_of_mpt[@]}"
    gufo export -q m.gguf out
    output=$(tr -d ' \n' <out/config.json)
    has '"alibi":true'
    has '"alibi_bias_max":8.0'
    has '"clip_qkv":6.0'
}

@test "keys: a factor of rope without a type is linear" {
    for name in rope.scale_linear rope.scale rope.scaling.factor; do
        rm -rf out
        make_gguf m.gguf kv general.architecture string llama kv llama.block_count uint32 1 \
            kv llama.context_length uint32 64 kv llama.embedding_length uint32 32 \
            kv llama.feed_forward_length uint32 64 kv llama.attention.head_count uint32 4 \
            kv llama.attention.layer_norm_rms_epsilon float32 1e-5 kv "llama.$name" float32 4 "${tensors_of_llama[@]}"
        run -0 gufo show --summary m.gguf
        has 'linear scaling by 4'
        gufo export -q m.gguf out
        output=$(tr -d ' \n' <out/config.json)
        has '"rope_scaling":{"factor":4.0,"rope_type":"linear"}'
        gufo convert -q --force out back.gguf F32
        run -0 gufo show --summary back.gguf
        has 'linear scaling by 4'
    done
}

@test "keys: the separator under both names" {
    for name in separator seperator; do
        rm -rf out
        make_gguf m.gguf kv general.architecture string bert kv bert.context_length uint32 64 \
            kv bert.embedding_length uint32 32 kv bert.block_count uint32 1 kv bert.feed_forward_length uint32 64 \
            kv bert.attention.head_count uint32 4 kv bert.attention.layer_norm_epsilon float32 1e-12 \
            kv tokenizer.ggml.model string bert \
            arr tokenizer.ggml.tokens string 5 '[UNK]' '[CLS]' '[END]' '▁hello' '[SEP]' \
            arr tokenizer.ggml.token_type int32 5 2 3 3 1 3 kv tokenizer.ggml.bos_token_id uint32 1 \
            kv tokenizer.ggml.unknown_token_id uint32 0 kv "tokenizer.ggml.${name}_token_id" uint32 2 \
            kv tokenizer.chat_template string '{{ sep_token }}'
        run -0 gufo tokenize m.gguf hello
        has '2  "[END]"'
        run -0 gufo template m.gguf
        same '[END]'
        gufo export -q m.gguf out
        output=$(tr -d ' \n' <out/tokenizer_config.json)
        has '"sep_token":"[END]"'
        grep -q '"sep_token_id": 2' out/config.json
    done
}

@test "keys: a model without some of its layers keeps the name of their number" {
    make llama old llama.block_count llama.num_layers 2
    gufo quantize -q --prune-layers 0 old/m.gguf pruned.gguf COPY
    run -0 gufo get pruned.gguf llama.num_layers
    same 1
    run -1 gufo get pruned.gguf llama.block_count
}

@test "keys: a vocabulary taken from a model with old names" {
    mkdir source
    "$GUFO_TEST_BIN/make_checkpoint" source
    gufo convert -q source right.gguf
    gufo edit -q right.gguf -o old.gguf --as-is --rename tokenizer.ggml.tokens=tokenizer.embedded.tokens
    gufo convert -q source taken.gguf --vocab-from old.gguf
    gufo diff right.gguf taken.gguf
}
