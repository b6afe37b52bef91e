#!/usr/bin/env bats
# bats file_tags=plain
# gufo explain

# bats sets stderr; some commands are for another shell.
# shellcheck disable=SC2154,SC2016

load common

# cell NAME TEXT: the output has a line with exactly this name and text.
cell() {
    local line
    printf -v line '  %-16s%s' "$1" "$2"
    grep -qxF -e "$line" <<<"$output" || { printf 'not found: %s\nin: %s\n' "$line" "$output"; return 1; }
}

# without PATTERN [FILE]: no line matches.
without() {
    if grep -E -e "$@"; then
        return 1
    fi
}

@test "explain: a key" {
    run -0 --separate-stderr gufo explain general.alignment
    same 'general.alignment  metadata key
  key             general.alignment
  type            uint32
  specification   uint32
  unit            bytes
  default         32
  status          standard
  since           2023
  group           General
  summary         Where tensor data may begin: at multiples of this, itself a multiple of 8
  example         gufo get FILE general.alignment'
    same_error ''
}

@test "explain: the type in the specification beside what writers write" {
    run -0 gufo explain llama.context_length
    cell type uint32
    cell specification uint64
    run -0 gufo explain --json llama.context_length general.sampling.temp
    has '"type":"uint32","specification":"uint64",'
    [[ "${lines[1]}" == *'"specification":null,'* ]]
}

@test "explain: a key of an architecture, of a file and as a template" {
    run -0 gufo explain mamba.ssm.conv_kernel
    [ "${lines[0]}" = 'mamba.ssm.conv_kernel  metadata key' ]
    cell key '{arch}.ssm.conv_kernel'
    cell example 'gufo get FILE mamba.ssm.conv_kernel'
    grep -q '^  used by         .*mamba, mamba2,' <<<"$output"
    run -0 gufo explain '{arch}.ssm.conv_kernel'
    [ "${lines[0]}" = '{arch}.ssm.conv_kernel  metadata key' ]
    # The example is about a file that there could be.
    first=$(sed -n 's/^  used by  *\([^,]*\),.*/\1/p' <<<"$output")
    cell example "gufo get FILE $first.ssm.conv_kernel"
}

@test "explain: keys with a number or a name in them" {
    run -0 gufo explain general.base_model.12.name
    cell key 'general.base_model.{id}.name'
    cell example 'gufo get FILE general.base_model.12.name'
    run -0 gufo explain 'general.base_model.{id}.name'
    cell example 'gufo get FILE general.base_model.0.name'
    run -0 gufo explain tokenizer.chat_template.rag
    cell key 'tokenizer.chat_template.{name}'
}

@test "explain: a key that has another name today" {
    run -0 gufo explain mpt.attention.clip_kqv
    cell status standard
    cell instead '{arch}.attention.clamp_kqv'
    run -0 gufo explain --json mpt.attention.clip_kqv
    has '"instead":"{arch}.attention.clamp_kqv"'
    run -0 gufo explain general.name
    lacks 'instead'
}

@test "explain: the users of a key are in lines that fit" {
    run -0 gufo explain llama.context_length
    [ "$(grep -c '^                  [a-z]' <<<"$output")" -gt 3 ]
    without '^.{97}' <<<"$output"
    # Each architecture once, as the registry has them.
    told=$(sed -n '/^  used by/,/^  example/p' <<<"$output" | sed -e '$d' -e 's/^  used by//' |
        tr ',' '\n' | tr -d ' ' | sed '/^$/d')
    known=$(awk -F'\t' '$2 == "context_length" { print $1 }' "$GUFO_TABLES/arch_keys.tsv")
    same_list "$known" "$told"
    run -0 gufo explain --json llama.context_length
    has "\"used_by\":[\"$(paste -sd, <<<"$known" | sed 's/,/","/g')\"]"
}

@test "explain: a tensor, of a file and as a template" {
    run -0 gufo explain blk.31.attn_q.weight
    [ "${lines[0]}" = 'blk.31.attn_q.weight  tensor' ]
    cell tensor 'blk.{bid}.attn_q'
    cell shape 'embedding_length,head_count*key_length'
    cell bias_shape 'head_count*key_length'
    cell summary 'query projection'
    cell example "gufo show --tensors='blk.31.attn_q.weight*' FILE"
    for name in blk.0.attn_q.bias blk.0.attn_q 'blk.{bid}.attn_q'; do
        run -0 gufo explain "$name"
        cell tensor 'blk.{bid}.attn_q'
    done
    cell example "gufo show --tensors='blk.0.attn_q*' FILE"
    run -1 gufo explain blk.0.attn_qx.weight
    run -1 gufo explain blk.0.attn_q_weight
}

@test "explain: the example finds the tensor" {
    make_gguf m.gguf kv general.architecture string llama tensor blk.0.attn_q.weight 0 8 32 tensor b 0 8 32
    run -0 gufo explain 'blk.{bid}.attn_q'
    example=$(sed -n 's/^  example *gufo //p' <<<"$output")
    eval "run -0 gufo ${example/FILE/m.gguf}"
    has 'blk.0.attn_q.weight'
    has '(1 of 2)'
}

@test "explain: element types and file types" {
    run -0 gufo explain Q4_0
    same 'Q4_0  element type
  type            Q4_0
  id              2
  block_elements  32
  block_bytes     18
  bits_per_weight 4.5
  encoding        quantized
  advice          older; Q4_K or IQ4_NL is better
  example         gufo show --tensors FILE | grep -w Q4_0
Q4_0  file type, general.file_type
  file_type       Q4_0
  id              2
  most_weights    Q4_0
  bits_per_weight 4.5
  made            made by gufo quantize
  advice          older; Q4_K or IQ4_NL is better
  example         gufo quantize IN.gguf OUT.gguf Q4_0'
    run -0 gufo explain --json Q4_0
    same '{"word":"Q4_0","matches":[{"kind":"type","type":"Q4_0","id":2,"block_elements":32,"block_bytes":18,"bits_per_weight":4.5,"encoding":"quantized","advice":"older; Q4_K or IQ4_NL is better","example":"gufo show --tensors FILE | grep -w Q4_0"},{"kind":"file type","file_type":"Q4_0","id":2,"most_weights":"Q4_0","bits_per_weight":4.5,"made":"made by gufo quantize","advice":"older; Q4_K or IQ4_NL is better","example":"gufo quantize IN.gguf OUT.gguf Q4_0"}]}'
    run -0 gufo explain Q4_K_M
    [ "${lines[0]}" = 'Q4_K_M  file type, general.file_type' ]
    cell most_weights Q4_K
    # What gufo cannot make is not an example of making it.
    run -0 gufo explain Q4_0_4_4
    cell made 'removed'
    lacks 'gufo quantize IN'
}

@test "explain: every file type in its examples can be made" {
    make_gguf m.gguf kv general.architecture string llama tensor blk.0.attn_q.weight 1 256x1 512
    mapfile -t names < <(rows filetypes | cut -d' ' -f1)
    gufo explain "${names[@]}" >told
    mapfile -t names < <(sed -n 's/^  example *gufo quantize IN.gguf OUT.gguf //p' told)
    [ "${#names[@]}" -gt 30 ]
    for name in "${names[@]}"; do
        gufo quantize --dry-run m.gguf "$name" >told 2>&1 || [ $? -ne 2 ] || { cat told; return 1; }
    done
}

@test "explain: architectures and tokenizers" {
    run -0 gufo explain llama
    [ "${lines[0]}" = 'llama  architecture' ]
    cell keys "$(gufo list keys --arch llama | wc -l)"
    cell tensors "$(gufo list tensors --arch llama | wc -l)"
    cell example 'gufo list keys --arch llama'
    has '  required key    attention.head_count, attention.layer_norm_rms_epsilon, block_count,'
    has '  required tensor blk.{bid}.attn_k, blk.{bid}.attn_norm,'
    has 'llama  tokenizer, tokenizer.ggml.model'
    cell arrays 'tokens scores token_type'
    cell bos 1
    run -0 gufo explain --json llama
    has '"kind":"architecture","arch":"llama","status":"standard","keys":'
    has '"converted_from":['
    has '"bos":1,"eos":2,"unknown":0,"separator":null,'
    # Rows of one class for several architectures, and for one.
    [ "$(gufo explain --json llama | grep -o '"converted_from":[^]]*' | grep -o '"LlamaForCausalLM"' | wc -l)" = 1 ]
    run -0 gufo explain gemma2
    has '  converted from  Gemma2ForCausalLM'
    has '  expected key    attention.head_count, attention.layer_norm_rms_epsilon'
    # Its line of memory, in words.
    has '  memory          a cache in all layers'
    has '                  windows in all layers but one of 2, the last, as long as the file says'
    has '                  windows of 4096 tokens where the file does not say'
    has 'buffers for computing by steps: a gated feed-forward part; measured within 3 %'
    # How a checkpoint becomes the model, with the rows that a page takes from others, and back.
    run -0 gufo explain axk2
    has '  config          num_key_value_heads = 1  # one key-value head is stored'
    has '                  attention.kv_lora_rank = kv_lora_rank|512'
    has '  tokenizer       bpe'
    has '  checked         hidden_act: "readers of the architecture compute silu" if '
    has '  tensor          *self_attn.q_b_proj.weight: diagonal: num_attention_heads, '
    has '*kv_b_proj.weight: reshape: num_key_value_heads, '
    has '  back to config  num_hidden_layers = block_count - else(nextn_predict_layers, 0)'
    run -0 gufo explain qwen3moe
    has '  pre-tokenizer   qwen2'
    has '  exported as     Qwen3MoeForCausalLM: qwen3_moe'
    run -0 gufo explain --json axk2
    has '{"kind":"params","name":"gated_norm_rank","value":"gated_norm_rank"}'
    has '"value":"drop","condition":"tie_word_embeddings == true"}'
    run -0 gufo explain --json whisper
    has '"lines":['
    run -0 gufo explain llama-bpe
    same 'llama-bpe  pre-tokenizer, tokenizer.ggml.pre
  pretokenizer    llama-bpe
  family          LLAMA3
  example         gufo get FILE tokenizer.ggml.pre'
}

@test "explain: rules, by id and by name" {
    run -0 gufo explain G205
    cell name key-duplicate
    cell severity error
    byId=$(tail -n +2 <<<"$output" | grep -v example)
    run -0 gufo explain key-duplicate
    same_list "$byId" "$(tail -n +2 <<<"$output" | grep -v example)"
    cell example 'gufo validate -v FILE | grep -w key-duplicate'
    run -0 gufo explain M201
    cell name key-required
}

@test "explain: everything that gufo list names" {
    for list in keys archs tensors types filetypes tokenizers pretokenizers rules; do
        rows "$list" | cut -d' ' -f1 >names
        mapfile -t names <names
        gufo explain --json "${names[@]}" >told
        [ "$(wc -l <told)" -eq "${#names[@]}" ]
        without '"matches":\[\]' told
        # No member of an object comes twice.
        without '"kind":[^{}]*"kind":' told
        gufo explain "${names[@]}" >text
        without '^  [a-z_]{16}|WORD|^  example.*[{]' text
    done
}

@test "explain: several words, one object each" {
    run -0 gufo explain Q8_0 general.name
    has 'Q8_0  element type'
    has 'general.name  metadata key'
    run -0 gufo explain --json Q8_0 general.name
    [ "${#lines[@]}" -eq 2 ]
    [[ "${lines[1]}" == '{"word":"general.name",'* ]]
}

@test "explain: a word that names nothing" {
    run -1 --separate-stderr gufo explain xylophone
    same ''
    same_error "gufo: 'xylophone' is not known"
    run -1 --separate-stderr gufo explain --json xylophone
    same '{"word":"xylophone","matches":[]}'
    run -1 --separate-stderr gufo explain Q8_0 xylophone general.name
    has 'Q8_0  element type'
    has 'general.name  metadata key'
    same_error "gufo: 'xylophone' is not known"
}

@test "explain: what may have been meant" {
    hint() {
        run -1 --separate-stderr gufo explain "$1"
        same_error "gufo: '$1' is not known; did you mean '$2'?"
    }
    hint q5_k_mm Q5_K_M
    hint general.licence general.license
    hint context_length '{arch}.context_length'
    hint head_count '{arch}.attention.head_count'
    hint ssm_a 'blk.{bid}.ssm_a'
    hint llama.contxt_length llama.context_length
    hint attention.head_cuont '{arch}.attention.head_count'
    hint blk.31.atn_q.weight 'blk.{bid}.attn_q'
    hint token_emdb.weight token_embd
}

@test "explain: no word can break the output" {
    for word in '' ' ' $'\e[31m' $'a\nb' '{' '}' '{arch}' '{arch}.' .context_length '.' '..' 'blk..x' '{id}' '%s%n' \
        $'\xff\xfe' "$(head -c 100000 /dev/zero | tr '\0' a)" "$(head -c 100000 /dev/zero | tr '\0' .)" \
        "llama.$(head -c 5000 /dev/zero | tr '\0' x)" 'blk.99999999999999999999.attn_q.weight'; do
        run -1 --separate-stderr gufo explain -- "$word"
        same ''
        [ "${#stderr_lines[@]}" -eq 1 ]
        [ "${#stderr}" -lt 1000 ]
        run -1 --separate-stderr gufo explain --json -- "$word"
        [ "${#lines[@]}" -eq 1 ]
    done
    # An architecture may have any name: it is shown safely, and left out of the command to copy.
    name=$'a\e[31m\n;reboot\xff'
    run -0 gufo explain "$name.context_length"
    [ "${lines[0]}" = 'a\u{1b}[31m\n;reboot\xff.context_length  metadata key' ]
    [[ "${lines[-1]}" =~ ^'  example         gufo get FILE '[a-z0-9_-]+'.context_length'$ ]]
    run -0 gufo explain --json "$name.context_length"
    [[ "$output" == '{"word":{"base64":"'* ]]
    [ "${#lines[@]}" -eq 1 ]
    long=$(head -c 5000 /dev/zero | tr '\0' a)
    run -0 gufo explain "$long.context_length"
    [ "${#lines[-1]}" -lt 200 ]
}

@test "explain: wrong usage" {
    run -2 --separate-stderr gufo explain
    same ''
    same_error 'gufo: no word is given (see gufo help explain)'
    run -2 gufo explain --frobnicate llama
}

@test "explain: a full disk and a closed pipe" {
    if [ -w /dev/full ]; then
        run -3 --separate-stderr "$BASH" -c '"$GUFO" explain llama >/dev/full'
        [ "${#stderr_lines[@]}" -eq 1 ]
    fi
    mapfile -t names < <(gufo list keys | cut -d' ' -f1)
    run -0 --separate-stderr "$BASH" -c 'set -o pipefail; "$GUFO" explain "$@" | head -n 1' - "${names[@]}"
    [ "${#lines[@]}" -eq 1 ]
    same_error ''
}

@test "explain: enumerated keys, types of values, the format's own names" {
    run -0 gufo explain general.file_type
    has '  value           15        Q4_K_M'
    run -0 gufo explain general.file_type=15
    has '  value           15        Q4_K_M'
    lacks 'Q8_0'
    run -0 gufo explain --json llama.rope.scaling.type=yarn
    has '"values":[{"value":"yarn","meaning":"YaRN: '
    run -0 gufo explain --json general.file_type=15 llama.pooling_type=0
    has '"values":[{"value":15,"meaning":"Q4_K_M"}]'
    has '"values":[{"value":0,"meaning":"none'
    run -0 gufo explain llama.tensor_data_layout 'falcon.tensor_data_layout=jploski'
    has '  value           reference '
    has '  value           Meta AI original pth '
    has '  value           jploski '
    # As numbers where the key has numbers.
    gufo explain --json general.file_type tokenizer.ggml.token_type llama.pooling_type \
        llama.expert_gating_func general.quantization_version >told
    without '"value":"' told
    gufo explain --json general.architecture tokenizer.ggml.model tokenizer.ggml.pre general.type >told
    without '"value":[^"]' told
    run -0 gufo explain uint32
    [ "${lines[0]}" = 'uint32  type of a metadata value' ]
    run -0 gufo explain array
    has 'the type of its elements'
    cell example 'gufo edit --set-json=KEY=uint32:[1,2] FILE'
    for pair in GGML_TYPE_Q4_0:Q4_0 MOSTLY_Q4_K_M:Q4_K_M LLAMA_FTYPE_MOSTLY_Q4_K_M:Q4_K_M \
        GGUF_TYPE_UINT8:uint8 gguf_type_uint8:uint8 ALL_F32:F32 mostly_q4_k_m:Q4_K_M; do
        run -0 gufo explain "${pair%:*}"
        [[ "${lines[1]}" == *" ${pair#*:}" ]]
        [[ "${lines[-1]}" != *"${pair%:*}"* ]] # an example has the name that commands take
    done
}
