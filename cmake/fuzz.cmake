# Fuzz targets, one per fuzz/fuzz_*.c.
#
# Each is built as an ordinary program that runs over the files it is given (replay_*), so that the
# seeds are a test on every machine; with GUFO_FUZZ also as a libFuzzer program (fuzz_*).

set(fuzz_dir ${PROJECT_SOURCE_DIR}/fuzz)
set(fuzz_bin ${PROJECT_BINARY_DIR}/fuzz)
file(GLOB fuzz_targets CONFIGURE_DEPENDS fuzz/fuzz_*.c)
if(NOT TARGET gufo_compat_internal)
    list(FILTER fuzz_targets EXCLUDE REGEX "/fuzz_compat.c$")
endif()
if(NOT TARGET gufo_digest_internal)
    list(FILTER fuzz_targets EXCLUDE REGEX "/fuzz_digest.c$")
endif()
if(NOT TARGET gufo_import_internal)
    list(FILTER fuzz_targets EXCLUDE REGEX "/fuzz_(adapter|card|legacy|metadata|packed|pickle|safetensors|sentencepiece).c$")
endif()
if(NOT TARGET gufo_report_internal)
    list(FILTER fuzz_targets EXCLUDE REGEX "/fuzz_report.c$")
endif()
if(NOT TARGET gufo_remote_internal)
    list(FILTER fuzz_targets EXCLUDE REGEX "/fuzz_remote_[a-z]+.c$")
endif()
if(NOT TARGET gufo_template_internal)
    list(FILTER fuzz_targets EXCLUDE REGEX "/fuzz_template.c$")
endif()
if(NOT TARGET gufo_text_internal)
    list(FILTER fuzz_targets EXCLUDE REGEX "/fuzz_(charsmap|tokenizer_json|tokenizer_file|tokenize|detokenize|vocab|pipeline).c$")
endif()

# What several programs have in common is compiled once.
set(fuzz_support ${fuzz_dir}/walk.c ${fuzz_dir}/place.c)
if(TARGET gufo_text_internal)
    list(APPEND fuzz_support ${fuzz_dir}/vocabularies.c)
endif()
if(NOT GUFO_LEGACY)
    list(FILTER fuzz_targets EXCLUDE REGEX "/fuzz_legacy.c$")
endif()
if(TARGET gufo_import_internal)
    list(APPEND fuzz_support ${fuzz_dir}/checkpoints.c)
endif()
add_library(gufo_fuzz_support STATIC EXCLUDE_FROM_ALL ${fuzz_support})
target_link_libraries(gufo_fuzz_support PRIVATE gufo_internal gufo_flags)
target_include_directories(gufo_fuzz_support PRIVATE ${PROJECT_SOURCE_DIR}/src)
add_library(gufo_replay OBJECT EXCLUDE_FROM_ALL ${fuzz_dir}/replay.c)
target_link_libraries(gufo_replay PRIVATE gufo_internal gufo_flags)

# use_room(NAME): a fuzz target, its object or its program, with what the target needs beside libgufo.
function(use_room name)
    string(REPLACE "_object" "" target ${name})
    if(target MATCHES "_(charsmap|tokenizer_json|tokenizer_file|tokenize|detokenize|vocab|pipeline)$")
        target_link_libraries(${name} PRIVATE gufo_text_internal)
    elseif(target MATCHES "_(adapter|card|legacy|metadata|packed|pickle|safetensors|sentencepiece)")
        target_link_libraries(${name} PRIVATE gufo_import_internal gufo_library::jansson)
    elseif(target MATCHES "_remote_")
        target_link_libraries(${name} PRIVATE gufo_remote_internal)
        target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    elseif(target MATCHES "_check$" AND TARGET gufo_text_internal)
        target_compile_definitions(${name} PRIVATE FUZZ_TEXT)
        target_link_libraries(${name} PRIVATE gufo_text_internal)
    elseif(target MATCHES "_(digest|compat|report|template)$")
        target_link_libraries(${name} PRIVATE gufo_${CMAKE_MATCH_1}_internal)
    endif()
    target_link_libraries(${name} PRIVATE gufo_internal gufo_flags)
    if(target MATCHES "_(adapter|card|charsmap|losses|metadata|packed|part_log|pickle|plan|safetensors|schema_text|sentencepiece|template|tokenizer_json|tokenizer_file)$") # of what is private
        target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    endif()
endfunction()

# add_fuzz_program(NAME SOURCE...): also of objects.
function(add_fuzz_program name)
    add_executable(${name} ${ARGN})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${fuzz_bin} LINKER_LANGUAGE C)
    target_link_libraries(${name} PRIVATE gufo_fuzz_support)
    use_room(${name})
endfunction()

# The sweep tries the damaged forms of seeds: of all, or of a few where a processor is emulated.
set(swept ${fuzz_dir}/seeds)
if(CMAKE_CROSSCOMPILING_EMULATOR)
    set(swept ${fuzz_dir}/seeds/nested-v1-big.gguf ${fuzz_dir}/seeds/nested.gguf
        ${fuzz_dir}/seeds/unknown-types.gguf ${fuzz_dir}/seeds/one-of-each.gguf)
endif()

set(small_legacy_seeds falcon-ggcc10.bin ggla.bin gguf-v1.bin llama-ggmf1.bin mpt.bin rwkv-100.bin)
if(CMAKE_CROSSCOMPILING_EMULATOR)
    set(small_legacy_seeds gguf-v1.bin mpt.bin)
endif()

set(swept_estimates huge hybrid latent limits-16 llama window)

# All nine replacements of a byte are tried in plain machine code, about one with sanitizers and on other machines.  A
# multiple of three would leave some replacements untried.  Files are cut off at every byte.
set(step "")
if(GUFO_SANITIZE OR CMAKE_CROSSCOMPILING)
    set(step "=8")
endif()

# Whatever reads a file of a stranger does with little memory.  (Sanitizers reserve address space without
# end; an emulator needs its own.)
find_program(BASH bash)
mark_as_advanced(BASH)
set(limited "")
if(BASH AND NOT CMAKE_CROSSCOMPILING AND NOT GUFO_SANITIZE)
    set(limited ${BASH} ${PROJECT_SOURCE_DIR}/tests/memory/limited)
endif()

foreach(source IN LISTS fuzz_targets)
    get_filename_component(target ${source} NAME_WE)
    string(REPLACE "fuzz_" "replay_" replay ${target})
    add_library(${target}_object OBJECT EXCLUDE_FROM_ALL ${source})
    use_room(${target}_object)
    if(GUFO_FUZZ AND target STREQUAL fuzz_legacy) # one for each container, by its first bytes
        foreach(magic ggml:lmgg ggmf:fmgg ggjt:tjgg ggcc:ccgg ggla:algg gguf:GGUF)
            string(REPLACE ":" ";" magic ${magic})
            list(POP_FRONT magic container)
            add_fuzz_program(${target}_${container} ${source})
            target_compile_definitions(${target}_${container} PRIVATE LEGACY_MAGIC="${magic}")
            target_link_options(${target}_${container} PRIVATE -fsanitize=fuzzer)
        endforeach()
    elseif(GUFO_FUZZ)
        add_fuzz_program(${target} $<TARGET_OBJECTS:${target}_object>)
        target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    endif()
    if(GUFO_BUILD_TESTS)
        add_dependencies(gufo_tests ${replay})
        add_fuzz_program(${replay} $<TARGET_OBJECTS:${target}_object> $<TARGET_OBJECTS:gufo_replay>)
        set(seeds ${fuzz_dir}/seeds)
        set(sweep ${swept})
        string(REPLACE "fuzz_" "seeds_" own_seeds ${target})
        if(IS_DIRECTORY ${fuzz_dir}/${own_seeds}) # it reads something else
            set(seeds ${fuzz_dir}/${own_seeds})
            set(sweep ${seeds})
        endif()
        if(target STREQUAL fuzz_legacy) # the smallest of each kind; the others have the same parts
            list(TRANSFORM small_legacy_seeds PREPEND ${seeds}/ OUTPUT_VARIABLE sweep)
        endif()
        if(target STREQUAL fuzz_estimate) # the other one has 512 layers, where each form takes milliseconds, for 16
            list(TRANSFORM swept_estimates PREPEND ${seeds}/ OUTPUT_VARIABLE sweep)
        endif()
        if(target STREQUAL fuzz_vocab) # the others are long lists of the same
            set(sweep ${seeds}/huggingface.gguf ${seeds}/ugm.gguf ${seeds}/world.gguf ${seeds}/wpm.gguf)
        endif()
        if(target STREQUAL fuzz_report) # a page takes longer to write than a file to read
            set(sweep ${seeds}/nested.gguf ${seeds}/unknown-types.gguf)
        endif()
        if(target STREQUAL fuzz_pipeline) # each form takes milliseconds
            set(sweep ${seeds}/bytes)
        endif()
        if(target STREQUAL fuzz_check AND CMAKE_CROSSCOMPILING_EMULATOR) # which takes its time
            set(sweep ${seeds}/adapter.gguf ${seeds}/merges.gguf)
        endif()
        add_test(NAME fuzz.${replay} COMMAND ${replay} ${seeds})
        set(program ${replay}) # which is emulated where it has to be
        if(limited AND NOT target MATCHES "^fuzz_(check|journal|write)$")
            set(program ${limited} $<TARGET_FILE:${replay}>)
        endif()
        set(own_step "${step}")
        if(target STREQUAL fuzz_write AND NOT step) # which writes each form in several ways
            set(own_step "=3")
        elseif(target MATCHES "^fuzz_report$")
            set(own_step "=16")
        elseif(target MATCHES "^fuzz_(legacy|pipeline|vocab)$" AND step) # which take longest
            set(own_step "=16")
        endif()
        set_tests_properties(fuzz.${replay} PROPERTIES LABELS fuzz TIMEOUT 300)
        if(target STREQUAL fuzz_pipeline AND CMAKE_CROSSCOMPILING_EMULATOR) # whose forms take too long there
            continue()
        endif()
        add_test(NAME fuzz.${replay}_sweep COMMAND ${program} --sweep${own_step} ${sweep})
        set_tests_properties(fuzz.${replay}_sweep PROPERTIES LABELS fuzz TIMEOUT 300 COST 100) # begun first, they end in time
    endif()
endforeach()

if(limited AND GUFO_BUILD_TESTS AND TARGET gufo_command)
    add_test(NAME memory COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/tests/memory/run
        $<TARGET_FILE:gufo_command> ${fuzz_dir}/seeds)
    set_tests_properties(memory PROPERTIES LABELS memory SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

# The seeds are written by a program, so that each says in source what it is.  The test compares the
# seeds in the tree with what the program writes now: the bytes of what is written are pinned.
function(add_seeds program folder)
    add_executable(${program} ${fuzz_dir}/${program}.c)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${fuzz_bin})
    target_link_libraries(${program} PRIVATE gufo_internal gufo_flags)
    target_compile_options(${program} PRIVATE -O0) # it runs once
    add_dependencies(gufo_tests ${program})
    add_test(NAME fuzz.${folder} COMMAND ${program} --check ${fuzz_dir}/${folder}
        WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
    set_tests_properties(fuzz.${folder} PROPERTIES LABELS fuzz)
endfunction()
if(GUFO_BUILD_TESTS)
    add_seeds(make_seeds seeds)
    add_seeds(make_check_seeds seeds_check)
    foreach(seeds legacy packed safetensors pickle)
        add_seeds(make_${seeds}_seeds seeds_${seeds})
        target_link_libraries(make_${seeds}_seeds PRIVATE gufo_test_support) # which writes such files
    endforeach()
    if(TARGET gufo_text_internal)
        add_seeds(make_vocab_seeds seeds_vocab)
        target_link_libraries(make_vocab_seeds PRIVATE gufo_fuzz_support gufo_text_internal)
    endif()
endif()
