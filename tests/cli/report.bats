#!/usr/bin/env bats
# gufo report

# bats sets stderr.
# shellcheck disable=SC2154

load common

# sample KIND...: models of tests/report/sample_models.py, whose data takes no space.
sample() {
    command -v python3 >/dev/null || skip "python3 is not installed"
    python3 "$GUFO_SOURCE/tests/report/sample_models.py" . "$@"
}

# page FILE...: writes out.html of them, into $output as one line without markup and styles.
page() {
    gufo report "$@" -o out.html --force
    output=$(sed -e '/<style>/,/<\/style>/d' -e '/<script>/,/<\/script>/d' out.html | tr '\n' ' ' |
        sed -E 's/<title[^>]*>[^<]*<\/title>|<desc[^>]*>[^<]*<\/desc>//g; s/<[^>]*>/ /g; s/ +/ /g')
}

@test "report: a page with all sections" {
    sample dense
    page dense.gguf
    has 'Sample qwen3 qwen3, Q4_K_M'
    has 'dense.gguf · GGUF v3, little-endian'
    has 'Layers 36'
    has '76 % of the bytes are feed-forward, 20 % attention, 2.5 % output.'
    has 'Most matrices are Q4_K; attn_v is Q6_K in 18 of 36 layers; ffn_down is Q6_K in 18 of 36 layers.'
    has 'Outside of the layers: output 6K Q6_K, token_embd 4K Q4_K. Not drawn: attn_k_norm, attn_norm, attn_q_norm, ffn_norm.'
    has '18 layers use 5.08 bits per weight, 18 use 4.50; the whole file 4.82.'
    has 'The file is whole: 399 of 399 tensors are complete, no gap, no overlap'
    has 'Layers 0–3, 6, 9, 12, 15, 18, 21, 24, 27, 30–35 18 × 11 tensors'
    has 'general.license string “apache-2.0”'
}

@test "report: a damaged file as far as it can be read" {
    sample truncated
    page truncated.gguf
    has '✕ 1 error'
    has 'The file ends inside blk.15.ffn_gate.weight: 176 of 399 tensors are complete, 2.2 GiB missing'
    has 'the file ends at byte 2,000,000,000'
    has 'G309 data-truncated'

    head -c 300 truncated.gguf >cut.gguf
    page cut.gguf
    has 'The file can be read up to byte'
    echo nonsense >not.gguf
    page not.gguf
    has 'not.gguf'
    has 'G101 magic'
    lacks 'Where the bytes are'
}

@test "report: gaps and overlaps" {
    make_gguf gap.gguf kv general.architecture string llama tensor a 0 8 32 at 128 tensor b 0 8 32
    page gap.gguf
    has '1 gap with 96 bytes'
    make_gguf overlap.gguf kv general.architecture string llama tensor a 0 16 64 at 32 tensor b 0 16 64
    page overlap.gguf
    has '1 overlap with 32 bytes'
}

@test "report: models without layers, tensors, keys" {
    sample one empty vocabulary unknown mixed experts
    page one.gguf
    has 'Where the bytes are'
    lacks 'Types per layer'
    page empty.gguf
    lacks 'Where the bytes are'
    lacks 'Metadata'
    page vocabulary.gguf
    has 'The file has no tensors'
    has 'tokenizer.ggml.tokens'
    page unknown.gguf
    has '? unknown (type 99)'
    page mixed.gguf
    has 'ssm_in'
    page experts.gguf
    has '128 × ffn_gate_exps'
    has 'Active '
}

@test "report: 128 layers are two panels; 1,000 tensors are below 500 KB" {
    sample deep thousand
    page deep.gguf
    [ "$(grep -o 'Element types per layer</title>' out.html | wc -l)" -eq 2 ]
    page thousand.gguf
    [ "$(wc -c <out.html)" -lt 500000 ]
}

@test "report: hostile texts stay texts" {
    sample hostile
    page hostile.gguf
    [ "$(grep -o '<script' out.html | wc -l)" -eq 1 ]
    has '&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;'
    has '\u{202e}'
    has '\xff\xfe\u{1b}[31mred\u{0}'
    lacks $'\u202e'
    lacks $'\e'
    [ "$(wc -c <out.html)" -lt 300000 ] # keys and texts of 64 KB are cut
}

@test "report: a set is one model" {
    make_gguf a.gguf kv general.architecture string llama tensor a.weight 0 64 256 tensor b.weight 0 64 256
    gufo split -q --max-tensors 1 a.gguf s
    page s-00001-of-00002.gguf
    has 'in 2 shards'
    has 'Shard 2: The file is whole: 1 of 1 tensor'
    page --single s-00001-of-00002.gguf
    lacks 'in 2 shards'
}

@test "report: several models on one page" {
    sample one empty
    page one.gguf empty.gguf one.gguf
    has '3 models'
    [ "$(grep -c '<article' out.html)" -eq 3 ]
    [ "$(grep -o ' id="[^"]*"' out.html | sort | uniq -d | wc -l)" -eq 0 ]
}

@test "report: the same files give the same page, in every locale" {
    sample dense
    gufo report dense.gguf -o a.html
    LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo gufo report dense.gguf -o b.html
    cmp a.html b.html
    gufo report dense.gguf -o c.html --date '27 November <b>'
    grep -q 'gufo report · 27 November &lt;b&gt;' c.html
    ! cmp -s a.html c.html
}

@test "report: an output that exists is replaced with --force alone, and never an input" {
    sample one
    echo mine >out.html
    run -2 --separate-stderr gufo report one.gguf -o out.html
    same_error 'gufo: out.html: target exists already (--force replaces it)'
    [ "$(cat out.html)" = mine ]
    run -2 --separate-stderr gufo report one.gguf -o one.gguf --force
    gufo validate -q one.gguf || [ $? -eq 1 ]
    run -3 --separate-stderr gufo report one.gguf -o missing/out.html
    [ ! -e missing ]
    ln one.gguf linked.gguf
    run -2 --separate-stderr gufo report one.gguf -o linked.gguf --force
}

@test "report: nothing is written where a file is missing" {
    sample one
    run -3 --separate-stderr gufo report one.gguf nothing.gguf -o out.html
    [ ! -e out.html ]
    run -2 --separate-stderr gufo report one.gguf
    same_error "gufo: no page is given to write: -o OUT.html (see gufo help report)"
    run -2 --separate-stderr gufo report - -o out.html <one.gguf
}

@test "report: standard output, and what was written as JSON" {
    sample one
    gufo report one.gguf -o - >a.html
    gufo report one.gguf -o b.html
    cmp a.html b.html
    gufo report one.gguf -o /dev/stdout | cmp - a.html
    run -0 gufo report --json one.gguf -o c.html
    has '"output":"c.html","size":'
    has '"models":[{"path":"one.gguf","errors":'
    run -2 gufo report --json one.gguf -o -
}
