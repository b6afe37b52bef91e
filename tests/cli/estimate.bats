#!/usr/bin/env bats
# gufo estimate

# bats sets stderr.
# shellcheck disable=SC2154

load common

# make_llama [LAYERS] [CONTEXT]: two layers with 4 heads of 32 elements, 2 for keys and values: 512 bytes for each token.
make_llama() {
    make_gguf m.gguf kv general.architecture string llama kv llama.vocab_size uint32 1000 \
        kv llama.context_length uint32 "${2:-8192}" kv llama.embedding_length uint32 128 \
        kv llama.block_count uint32 "${1:-2}" kv llama.feed_forward_length uint32 256 \
        kv llama.attention.head_count uint32 4 kv llama.attention.head_count_kv uint32 2
}

field() {
    grep -o "\"$1\":[^,}]*" <<<"$output" | head -n 1 | cut -d: -f2
}

@test "estimate: the cache of a context" {
    make_llama
    run -0 gufo estimate --json --ctx-size 1000 --parallel 3 m.gguf
    [ "$(field n_ctx)" = 1536 ]
    [ "$(field n_ctx_seq)" = 512 ]
    [ "$(field kv_token_bytes)" = 512 ]
    [ "$(field context_bytes)" = $((512 * 1536)) ]
    run -0 gufo estimate -c 1024 --cache-type-k q8_0 --cache-type-v q8_0 m.gguf
    [[ $output == *'context 1,024,'* && $output == *' 272.0 KiB '* && $output == *'~ compute may be '*' more or less on CPU'* ]]
    lacks state
    run -0 gufo estimate -v -c 1024 --cache-type-k q8_0 --cache-type-v q8_0 m.gguf
    has ' 278,528 '
}

@test "estimate: the beginning of a stream, a shard alone" {
    make_llama
    run -0 bash -c '{ cat m.gguf; cat /dev/zero; } | timeout 20 "$GUFO" estimate --json -'
    [ "$(field kv_token_bytes)" = 512 ]
    run -3 bash -c 'head -c 300 m.gguf | "$GUFO" estimate -'
    make_gguf m-00001-of-00002.gguf kv general.architecture string llama kv llama.vocab_size uint32 10 \
        kv llama.context_length uint32 256 kv llama.embedding_length uint32 32 kv llama.block_count uint32 1 \
        kv llama.attention.head_count uint32 1 kv split.no uint16 0 kv split.count uint16 2 \
        kv split.tensors.count int32 3 tensor token_embd.weight 0 32x10 1280
    run -0 --separate-stderr gufo estimate m-00001-of-00002.gguf
    has 'weights of 2 tensors in other shards are not counted'
}

@test "estimate: devices" {
    make_llama
    run -0 gufo estimate --json -c 256 --devices 2 --gpu-layers 2 --tensor-split 1,1 m.gguf
    [[ $output == *'"device":"DEV1"'* ]]
    [ "$(grep -o '"context_bytes":[1-9][0-9]*' <<<"$output" | grep -c ":$((256 * 256))")" = 2 ]
}

@test "estimate: what fits, and why not more" {
    make_llama
    run -0 gufo estimate --json --host 5000K -ub 64 m.gguf
    [[ "$(field n_ctx)" = 7??? ]]
    has '"fit":{"fits":true,"context_shortage":{"n_ctx":8192,"n_gpu_layers":3,"n_cpu_moe":0,"device":"CPU","missing_bytes":'
    has '"limit_bytes":5120000,"left_bytes":'
    has '"compute_bytes":{"exact":false,"margin":'
    has '"context_bytes":{"exact":true}'
    run -0 gufo estimate --fit 5Mi,4M -ub 64 m.gguf
    has 'limits: DEV0 5.0 MiB, DEV1 4.0 MiB'
    has '  llama-server -m m.gguf -c 8192 -ngl all -ts 1,2 -np 1 -ub 64'
    [[ "${lines[4]}" =~ ^\ *device\ *layers\ .*\ total\ *left$ ]]
    run -0 gufo estimate --fit 1500K -ub 64 m.gguf
    has 'all 3 layers on devices, with 4,096 tokens of context: '
    has 'more needed on DEV0'
    run -0 gufo estimate --fit 1K,1K -ub 64 m.gguf
    has "  llama-server -m m.gguf -c 8192 -ngl 0 -np 1 -ub 64"$'\n'
    run -1 --separate-stderr gufo estimate --fit 1500K -ngl 3 m.gguf
    same_error ''
    [[ "$output" =~ ^'m.gguf: no, '[0-9.]+' MiB more is needed on DEV0, with 4,096 tokens of context' ]]
    has '  limits: DEV0 1.5 MiB'
    has '  it would fit with -c 8192 -ngl 0'
    run -1 --separate-stderr gufo estimate --fit 24G --host 1000B -c 0 m.gguf
    has ' more is needed on CPU, with 8,192 tokens of context'
    has '  no option and no smaller type is enough: it takes a smaller model, or more memory'
    # What the user chose is given up last.
    run -1 gufo estimate --fit 1500K -ngl 3 -ctk f16 -c 4096 -ub 64 m.gguf
    has '  it would fit with -c 4096 -ngl 1'
    run -1 gufo estimate --json --fit 1500K -ngl 3 -ctk f16 -c 4096 -ub 64 m.gguf
    has '"change":{"n_ctx":4096,"n_gpu_layers":1,"n_cpu_moe":null,'
    run -1 gufo estimate --host 4M -ub 64 -c 8192 -ctk f16 m.gguf
    has '  it would fit with -c 6144'
    run -1 gufo estimate --host 1500K -ub 64 -c 8192 -ctk f16 m.gguf
    [[ "$output" =~ '  it would fit with -c '[0-9]+$ ]]
    run -1 gufo estimate --host 560K -ub 64 -c 512 -ctk f16 -ctv f16 m.gguf
    has ' -ctk q8_0 -ctv q8_0'
}

@test "estimate: memory without a unit, and options of other programs" {
    make_llama
    wrong() {
        run -2 --separate-stderr gufo estimate "${@:2}" m.gguf
        same_error "gufo: $1 (see gufo help estimate)"
    }
    wrong '--host 8 has no unit, and would be 8 bytes; 8G is 8 GiB' --host 8
    wrong '--fit 24 has no unit, and would be 24 bytes; 24G is 24 GiB' --fit 16G,24
    wrong '--fit 24576 has no unit, and would be 24576 bytes; 24576M is 24576 MiB' --fit 24576
    wrong "unknown option '--gpu'; --fit 24G is the memory of a device, --gpu-layers N the layers on devices" --gpu 24G
    wrong "unknown option '--vram'; --fit 24G is the memory of a device" --vram=24G
    run -0 gufo estimate --fit 2097152B -ub 64 m.gguf
    has 'limits: DEV0 2.0 MiB'
}

# machine NAME=TEXT...: files of a machine, in the folder root; nvidia-smi is what the folder bin has.
machine() {
    local file
    rm -rf root bin
    mkdir bin
    for file in "$@"; do
        mkdir -p "root/$(dirname "${file%%=*}")"
        printf '%b\n' "${file#*=}" >"root/${file%%=*}"
    done
}

# smi SCRIPT: what nvidia-smi does.
smi() {
    printf '#!/bin/sh\n%s\n' "$1" >bin/nvidia-smi
    chmod +x bin/nvidia-smi
}

here() {
    GUFO_ROOT=$PWD/root PATH=$PWD/bin:$PATH "$GUFO" estimate "$@"
}

memory='MemTotal: 16777216 kB\nMemFree: 1 kB\nMemAvailable: 12582912 kB'

@test "estimate: this machine" {
    make_llama
    machine proc/meminfo="$memory"
    smi 'exit 9'
    run -0 here m.gguf
    same_list 'm.gguf: yes, with all 8,192 tokens of context' "${lines[0]}"
    same_list '  llama-server -m m.gguf -c 8192 -np 1' "${lines[1]}"
    same_list '  this machine: CPU 12.0 GiB free of 16.0 GiB; 1.0 GiB and 5 % of each stay free' "${lines[2]}"
    run -0 here --json m.gguf
    has '"machine":{"total_bytes":17179869184,"available_bytes":12884901888,"limited":false,"devices":[],"not_counted":null}'
    [ "$(field limit_bytes)" = $((12884901888 - 1073741824 - 17179869184 / 20)) ]
    # With options it is asked for.
    run -0 here -c 4096 m.gguf
    lacks 'this machine'
    run -0 here --here -c 4096 -ctk q8_0 m.gguf
    has 'm.gguf: yes, with 4,096 tokens of context'
    has '  llama-server -m m.gguf -c 4096 -np 1 -ctk q8_0'
    run -2 here --here --fit 8G m.gguf
    # A model that does not fit.
    run -1 --separate-stderr here --reserve 12284M m.gguf
    [[ "$output" =~ ^'m.gguf: no, '[0-9.]+' MiB more is needed on CPU, with 4,096 tokens of context' ]]
    has '12.0 GiB of each stay free'
    run -1 here --reserve 12281M m.gguf
    has '  it would fit with -c '
    # Programs get the answer, too, and what to change.
    run -1 --separate-stderr here --json --reserve 12281M m.gguf
    same_error ''
    has '"fit":{"fits":false,"change":{"n_ctx":'
    has ',"type_k":"Q8_0","type_v":"Q8_0"},"target_size":null,"context_shortage":{"n_ctx":4096,'
    run -1 here --json --reserve 12281M -ctk f16 m.gguf
    has ',"type_k":"F16","type_v":"F16"},'
    run -1 --separate-stderr gufo estimate --json --fit 2M -ngl 3 -c 4096 -ub 64 m.gguf
    has '"fit":{"fits":false,"change":{"n_ctx":4096,"n_gpu_layers":null,"n_cpu_moe":null,"type_k":"Q8_0","type_v":"Q8_0"},'
    run -1 gufo estimate --json --host 1000B -c 512 m.gguf
    has '"fit":{"fits":false,"change":null,'
    run -0 gufo estimate --json --host 1G m.gguf
    has '"fit":{"fits":true,"context_shortage":null,'
    # Names are safe for a shell.
    mv m.gguf "my model's.gguf"
    run -0 here "my model's.gguf"
    has "  llama-server -m 'my model'\\''s.gguf' -c 8192"
    # A machine that says nothing.
    machine nothing=
    run -0 here "my model's.gguf"
    lacks yes
}

@test "estimate: a folder" {
    make_llama
    mkdir models empty
    mv m.gguf models/b.gguf
    make_llama 2 1048576
    mv m.gguf models/a.gguf
    printf 'no model' >models/c.bin
    make_gguf models/d.gguf kv general.architecture string starfish
    run -1 --separate-stderr gufo estimate --host 12M models
    same 'models/a.gguf: yes, with 7,168 of 1,048,576 tokens of context
models/b.gguf: yes, with 7,168 of 8,192 tokens of context'
    [[ $stderr == 'gufo: models/d.gguf: not known: '* ]]
    rm models/d.gguf
    run -0 gufo estimate --json --host 12M models/
    [ "${#lines[@]}" = 2 ]
    run -0 gufo estimate --table models
    has 'models/b.gguf: memory by context'
    run -1 --separate-stderr gufo estimate empty
    same_error 'gufo: empty: no models are in this folder'
}

@test "estimate: devices of this machine" {
    make_llama
    machine proc/meminfo="$memory"
    smi 'echo "NVIDIA RTX, 24 GB, 24576, 20480"; echo "NVIDIA B, 8192, 8000"; echo "NVIDIA GB10, [N/A], [N/A]"; echo 1'
    run -0 here m.gguf
    has 'DEV0 (NVIDIA RTX, 24 GB) 20.0 GiB free of 24.0 GiB, DEV1 (NVIDIA B) 7.8 GiB free of 8.0 GiB; '
    has '  not counted: NVIDIA GB10, of which nvidia-smi reports no memory: it may be that of the CPU; --fit 24G states it'
    has '  llama-server -m m.gguf -c 8192 -ngl all -ts '
    has 'all 8,192 tokens of context, all layers on devices'
    run -0 here --json m.gguf
    has '"not_counted":"NVIDIA GB10"}'
    # Alone; of two that are alike, both are named.
    smi 'echo "NVIDIA GB10, [N/A], [N/A]"; echo "NVIDIA, X, [Unknown Error], 12"; echo "x, y, z"'
    run -0 here m.gguf
    lacks DEV0
    has '  not counted: NVIDIA GB10, NVIDIA, X, of which nvidia-smi reports no memory'
    # A driver that fails, or prints without end, and one with a message for the terminal; test_machine has one that
    # hangs.
    smi 'echo "A, 24576, 20480"; exit 1'
    run -0 here m.gguf
    lacks DEV0
    smi 'yes "A, 24576, 20480"'
    run -0 here m.gguf
    lacks DEV0
    smi 'printf "A\\033[31m, 24576, 20480\\n"'
    run -0 here m.gguf
    has 'DEV0 (A\u{1b}[31m) 20.0 GiB free'
    # AMD's driver; an integrated one has no memory of its own.
    machine proc/meminfo="$memory" sys/class/drm/card1/device/mem_info_vram_total=17179869184 \
        sys/class/drm/card1/device/mem_info_vram_used=1073741824 \
        sys/class/drm/card0/device/mem_info_vram_total=536870912
    run -0 here m.gguf
    has 'DEV0 (AMD card1) 15.0 GiB free of 16.0 GiB'
    lacks DEV1
    machine proc/meminfo="$memory" proc/driver/nvidia/gpus/0000:01:00.0/information='Model: \t NVIDIA X\nIRQ: 1'
    run -0 here m.gguf
    has 'not counted: NVIDIA X, whose memory nvidia-smi would report; --fit 24G states it'
}

@test "estimate: a machine that does not report its memory" {
    make_llama
    machine x=1
    run -0 --separate-stderr here --here m.gguf
    same_error 'gufo: warning: this machine does not report its memory; --host 64G states it'
    run -0 --separate-stderr here m.gguf
    same_error 'gufo: warning: this machine does not report its memory; --host 64G states it'
    run -0 --separate-stderr here -q m.gguf
    same_error ''
    run -0 --separate-stderr here --no-mmap m.gguf
    same_error ''
}

@test "estimate: a control group of this machine" {
    make_llama
    group=sys/fs/cgroup/a/b
    machine proc/meminfo="$memory" proc/self/cgroup='0::/a/b/c' $group/memory.max=8589934592 \
        $group/memory.current=3221225472 $group/memory.stat='anon 1\ninactive_file 1073741824' \
        $group/c/memory.max=max sys/fs/cgroup/a/memory.max=10737418240
    run -0 here m.gguf
    has 'CPU (as its control group allows) 6.0 GiB free of 8.0 GiB'
    # What other groups use of the outer one is not left, although that allows more.
    machine proc/meminfo="$memory" proc/self/cgroup='0::/a/b' $group/memory.max=8589934592 $group/memory.current=3221225472 \
        sys/fs/cgroup/a/memory.max=10737418240 sys/fs/cgroup/a/memory.current=6442450944
    run -0 here m.gguf
    has 'CPU (as its control group allows) 4.0 GiB free of 8.0 GiB'
    machine proc/meminfo="$memory" proc/self/cgroup='4:memory:/x\n1:name=systemd:/x' \
        sys/fs/cgroup/memory/memory.limit_in_bytes=4294967296 sys/fs/cgroup/memory/memory.usage_in_bytes=1073741824
    run -0 here m.gguf
    has 'CPU (as its control group allows) 3.0 GiB free of 4.0 GiB'
    machine proc/meminfo="$memory" proc/self/cgroup='0::/' sys/fs/cgroup/memory.max=9223372036854771712
    run -0 here m.gguf
    has 'CPU 12.0 GiB free of 16.0 GiB'
}

@test "estimate: a bound of the speed" {
    make_llama
    run -0 gufo estimate -c 4096 --bandwidth 4194304K m.gguf
    has 'cache for each further token: at least 512 bytes'
    has 'speed: at most 2,000 tokens per second; a token reads 2.0 MiB'
    run -0 gufo estimate --json -c 4096 --devices 1 -ngl 2 --bandwidth 2G --host-bandwidth 1G m.gguf
    [ "$(field tokens_per_second)" = 635.7828776041666 ]
    run -0 gufo estimate -c 4096 --devices 1 -ngl 2 --bandwidth 2G m.gguf
    has 'not included: time to read 1.0 MiB on CPU (--host-bandwidth)'
    run -0 gufo estimate --json -c 4096 --devices 1 -ngl 0 --bandwidth 2G m.gguf
    [ "$(field tokens_per_second)" = null ]
    run -2 gufo estimate --bandwidth 1G --host-bandwidth 1G m.gguf
}

@test "estimate: a table of contexts and types of the cache" {
    make_llama
    run -0 gufo estimate --table -c 1024 -ctk q5_1 --fit 5M -ub 64 m.gguf
    [[ "${lines[1]}" =~ ^\ *context\ *device\ *F16\ *Q8_0\ *Q4_0\ *Q5_1/F16$ ]]
    [[ "${lines[3]}" =~ ^\ *DEV0 && "${lines[2]}" =~ ^\ *1,024\ *CPU && "${lines[6]}" =~ ^\ *8,192\ *CPU ]]
    [[ "${lines[7]}" =~ DEV0\ *!\ ~5 ]]
    has '! more than 5.0 MiB on DEV0, margins counted'
    run -0 gufo estimate --table --json --flash-attn off m.gguf
    has '"table":[{"n_ctx":4096,"type_k":"F16","type_v":"F16","refused":false,"devices":[{"device":"CPU","total_bytes":'
    has '{"n_ctx":4096,"type_k":"Q8_0","type_v":"Q8_0","refused":true,"devices":[]}'
    run -0 gufo estimate --table --flash-attn off m.gguf
    has 'refused: a quantized cache of values needs flash attention'
}

@test "estimate: a drawing of memory over the context" {
    make_llama
    run -0 gufo estimate --plot --host 8M m.gguf
    [ "${#lines[@]}" = 16 ]
    has '█ weights, ▒ cache and state'
    has 'limit: 8.0 MiB'
    has '│────'
    [[ "${lines[15]}" =~ ^\ *256\ *8,192$ ]]
    LC_ALL=C run -0 gufo estimate --plot m.gguf
    has '# weights, + cache and state, . computing and output'
    [[ $output != *[!\ -~$'\n']* ]]
    run -2 gufo estimate --plot --json m.gguf
}

@test "estimate: short options of llama.cpp" {
    make_llama
    run -0 gufo estimate --json -c 1000 -np 3 -ub 64 -ctk q8_0 -ctv q8_0 -fa on m.gguf
    [ "$(field n_ctx)" = 1536 ]
    [ "$(field n_ubatch)" = 64 ]
    [ "$(field kv_token_bytes)" = 272 ]
    run -0 gufo estimate --json -kvu -c 1000 -np 3 m.gguf
    [ "$(field n_ctx)" = 1024 ]
    run -0 gufo estimate --json -c 256 --devices 2 -ngl 2 -ts 0,1 -nkvo m.gguf
    [ "$(field context_bytes)" = $((512 * 256)) ]
}

# bats test_tags=plain
@test "estimate: tensors on other devices" {
    make_gguf m.gguf kv general.architecture string llama kv llama.vocab_size uint32 10 \
        kv llama.context_length uint32 256 kv llama.embedding_length uint32 32 \
        kv llama.block_count uint32 1 kv llama.attention.head_count uint32 1 \
        tensor token_embd.weight 0 32x10 1280 tensor blk.0.attn_norm.weight 0 32 128 \
        tensor output_norm.weight 0 32 128 tensor output.weight 0 32x10 1280
    run -0 gufo estimate --json --devices 1 m.gguf
    [[ $output == *'"CPU","model_bytes":1280,'* && $output == *'"DEV0","model_bytes":1536,'* ]]
    [[ "$(gufo --version)" == *PCRE2* ]] || skip "built without PCRE2"
    run -0 gufo estimate --json --devices 1 -ot '^output=CPU' -ot 'attn=DEV0' m.gguf
    [[ $output == *'"CPU","model_bytes":2688,'* && $output == *'"DEV0","model_bytes":128,'* ]]
    run -0 gufo estimate --json --devices 1 -ot '^output=CPU,attn=DEV0' m.gguf
    [[ $output == *'"DEV0","model_bytes":128,'* ]]
    run -2 gufo estimate --devices 1 -ot 'attn=DEV1' m.gguf
    run -2 gufo estimate --devices 1 -ot 'attn' m.gguf
    run -2 gufo estimate --devices 1 -ot '(=CPU' m.gguf
    run -0 gufo estimate --json --devices 1 -ot "$(printf '%0600d|output' 0)=CPU" m.gguf
    [[ $output == *'"DEV0","model_bytes":128,'* ]]
    make_gguf m.gguf kv general.architecture string llama kv llama.vocab_size uint32 10 \
        kv llama.context_length uint32 256 kv llama.embedding_length uint32 32 \
        kv llama.block_count uint32 1 kv llama.attention.head_count uint32 1 \
        tensor "$(printf '%040d' 0)." 0 32 128
    run -2 --separate-stderr gufo estimate --devices 1 -ot '(0+)+(0+)+(0+)+$=CPU' m.gguf
    same_error 'gufo: pattern 1 of --override-tensor takes too many steps (see gufo help estimate)'
}

@test "estimate: what is refused" {
    make_llama
    run -2 --separate-stderr gufo estimate --cache-type-v q8_0 --flash-attn off m.gguf
    [[ $stderr == *'needs flash attention'* ]]
    run -2 gufo estimate --tensor-split 1,2,3 --devices 2 m.gguf
    run -2 --separate-stderr gufo estimate --devices 1 --fit 1G,2G m.gguf
    same_error 'gufo: --fit has 2 numbers for 1 device (see gufo help estimate)'
    run -2 --separate-stderr gufo estimate --fit 1G,much m.gguf
    same_error "gufo: --fit takes sizes such as 24G,16G, not 'much' (see gufo help estimate)"
    run -2 --separate-stderr gufo estimate -ts '' m.gguf
    same_error "gufo: --tensor-split takes numbers such as 3,1, not '' (see gufo help estimate)"
    run -2 gufo estimate --cache-type-k q9 m.gguf
    make_llama 513
    run -3 --separate-stderr gufo estimate m.gguf
    [[ $stderr == *'513 layers'* ]]
    make_gguf m.gguf kv general.architecture uint32 1
    run -3 --separate-stderr gufo estimate m.gguf
    same_error 'gufo: m.gguf: general.architecture is not a string'
    make_gguf m.gguf kv general.architecture string llama kv llama.block_count string 2
    run -3 --separate-stderr gufo estimate m.gguf
    same_error 'gufo: m.gguf: llama.block_count is not a whole number'
}

@test "estimate: contexts near 32 bits" {
    make_llama 2 4294967040
    for option in --table --plot --json; do run -0 gufo estimate $option --no-mmap m.gguf; done
    [ "$(field n_ctx)" = 4294967040 ]
    make_llama 2 4294967041
    for option in --table --plot --json --host=1G; do
        run -2 --separate-stderr gufo estimate $option m.gguf
        same_error 'gufo: m.gguf: 4,294,967,041 tokens of context are too many: at most 4,294,967,040'
    done
    run -0 gufo estimate -c 4096 m.gguf
}

@test "estimate: names of files are safe for a terminal" {
    make_llama
    mv m.gguf $'m\e[31m\n.gguf'
    for option in --no-mmap --plot --table; do
        run -0 gufo estimate $option $'m\e[31m\n.gguf'
        [[ "${lines[0]}" == 'm\u{1b}[31m\n.gguf: '* ]]
    done
}

@test "estimate: an architecture without a rule is not known" {
    make_gguf m.gguf kv general.architecture string starfish
    run -1 --separate-stderr gufo estimate m.gguf
    [[ $stderr == *'not known: '* ]]
}

@test "estimate: what is loaded beside the model" {
    make_gguf m.gguf kv general.architecture string llama kv llama.vocab_size uint32 10 \
        kv llama.context_length uint32 256 kv llama.embedding_length uint32 32 \
        kv llama.block_count uint32 1 kv llama.attention.head_count uint32 1 \
        tensor token_embd.weight 0 32x10 1280 tensor blk.0.attn_norm.weight 0 32 128
    make_gguf lora.gguf kv general.architecture string llama kv general.type string adapter \
        kv adapter.type string lora tensor blk.0.attn_norm.weight.lora_a 0 32 128
    make_gguf mm.gguf kv general.architecture string clip tensor v.blk.0.ln1.weight 0 8 32
    run -0 gufo estimate --json --devices 1 --lora lora.gguf --lora lora.gguf -mm mm.gguf \
        -md m.gguf -c 256 m.gguf
    [[ $output == *'"adapter_bytes":256,"projector_bytes":32,'* ]]
    [[ $output == *'"draft":{"path":"m.gguf","n_ctx":256,'* ]]
    draft=$(grep -o '"draft_bytes":[1-9][0-9]*' <<<"$output" | tail -n 1)
    run -0 gufo estimate -v --devices 1 --lora lora.gguf --mmproj mm.gguf --draft m.gguf -c 256 m.gguf
    [[ $output == *'beside, adapters: 128 on DEV0'* && ${output//,/} == *"~${draft##*:} on DEV0"* ]]
    [[ $output == *$'\ndraft m.gguf: context 256,'* ]]
    run -0 gufo estimate --fit 1G --draft m.gguf m.gguf
    run -0 gufo estimate --table --json -c 256 --fit 1G m.gguf
    margin=$(field margin)
    run -0 gufo estimate --table --json -c 256 --fit 1G --draft m.gguf m.gguf
    [ "$(field margin)" -gt "$margin" ]
    has '"fits":true'
    # Of a draft whose buffers are not known, totals are not known, too.
    make_gguf bitnet.gguf kv general.architecture string bitnet kv bitnet.vocab_size uint32 10 \
        kv bitnet.context_length uint32 256 kv bitnet.embedding_length uint32 32 \
        kv bitnet.block_count uint32 1 kv bitnet.attention.head_count uint32 1
    run -0 gufo estimate --table --json --fit 1G --draft bitnet.gguf m.gguf
    has '"total_bytes":null,"margin":null,"fits":null'
    lacks '"fits":true'
    run -0 gufo estimate --table --draft bitnet.gguf m.gguf
    has '> without buffers for computing that are not known'
    run -2 --separate-stderr gufo estimate --lora mm.gguf m.gguf
    [[ $stderr == *'mm.gguf: the file is not a LoRA adapter' ]]
    run -2 gufo estimate --mmproj m.gguf m.gguf
    run -3 gufo estimate --draft nowhere.gguf m.gguf
    make_gguf lora.gguf kv general.architecture string llama kv general.type string adapter \
        kv adapter.type string lora tensor blk.1.attn_norm.weight.lora_a 0 32 128
    run -2 --separate-stderr gufo estimate --lora lora.gguf m.gguf
    [[ $stderr == *'changes none of the model' ]]
}

# bats test_tags=plain
@test "estimate --json: docs/json.md has every member" {
    python3 -c 'import jsonschema' 2>/dev/null || skip "jsonschema for python3 is missing"
    make_llama
    run -0 gufo estimate --json --fit 5M,5M --host 10M --bandwidth 1G m.gguf
    all=$output
    run -0 gufo estimate --json --fit 1500K -ub 64 m.gguf
    all+=$'\n'$output
    run -1 gufo estimate --json --host 5M -ub 64 -c 16384 m.gguf
    all+=$'\n'$output
    run -1 gufo estimate --json --host 1000B m.gguf
    all+=$'\n'$output
    machine proc/meminfo="$memory"
    smi 'echo "A, 24576, 20480"'
    run -0 here --json m.gguf
    all+=$'\n'$output
    run -0 gufo estimate --table --json -fa off m.gguf
    run -0 python3 "$BATS_TEST_DIRNAME/check_schema.py" "$BATS_TEST_DIRNAME/../../docs/json.md" 'gufo estimate' <<<"$all"$'\n'"$output"
    same '6 lines agree'
}

@test "estimate: an adapter alone" {
    make_gguf lora.gguf kv general.architecture string llama kv general.type string adapter \
        kv adapter.type string lora kv general.base_model.0.name string 'Tiny Llama' \
        tensor blk.0.attn_q.weight.lora_a 0 32 128 tensor blk.0.attn_norm.weight 0 8 32
    run -0 gufo estimate lora.gguf
    same "lora.gguf: a LoRA adapter of Tiny Llama
  weights: 128 bytes, on top of what its base needs (gufo estimate BASE --lora lora.gguf)"
    run -0 gufo estimate --json lora.gguf
    same '{"path":"lora.gguf","adapter_bytes":128,"tensors":2,"base":"Tiny Llama"}'
    run -2 gufo estimate --fit 1G --devices 1 lora.gguf
    has 'an adapter runs with its base'
    make_gguf odd.gguf kv general.architecture string llama kv general.type string adapter
    run -3 gufo estimate odd.gguf
    has 'the file is not a LoRA adapter'
}
