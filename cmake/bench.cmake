# Benchmarks, one per bench/bench_*.c, and what they need beside gufo.  With GUFO_BENCH_GGML=DIR the
# base library of that ggml tree is built along (C++ is needed then) and measured in the same run.

set(bench_folder ${PROJECT_BINARY_DIR}/bench)

if(GUFO_BENCH_GGML)
    enable_language(CXX)
    set(BUILD_SHARED_LIBS OFF)
    set(GGML_NATIVE OFF CACHE BOOL "")
    set(GGML_OPENMP OFF CACHE BOOL "")
    if(NOT TARGET ggml-base) # the tests of libgguf may have added it already
        add_subdirectory(${GUFO_BENCH_GGML} ${PROJECT_BINARY_DIR}/ggml EXCLUDE_FROM_ALL SYSTEM)
    endif()
endif()

# ggml-base once more, with flags of our own and as an object that is loaded at run time: so two
# builds of it fit into one program.  Semantic interposition would keep functions from being
# inlined.
function(add_ggml_module name)
    get_target_property(sources ggml-base SOURCES)
    get_target_property(folder ggml-base SOURCE_DIR)
    list(TRANSFORM sources PREPEND ${folder}/)
    add_library(${name} MODULE EXCLUDE_FROM_ALL ${sources})
    foreach(property COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_LIBRARIES)
        get_target_property(value ggml-base ${property})
        if(value)
            set_target_properties(${name} PROPERTIES ${property} "${value}")
        endif()
    endforeach()
    set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${bench_folder})
    target_compile_features(${name} PRIVATE c_std_11 cxx_std_17)
    target_compile_options(${name} PRIVATE
        -w -DNDEBUG -D_GNU_SOURCE -fno-semantic-interposition ${ARGN})
endfunction()

function(add_bench name)
    add_executable(${name} bench/${name}.c)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${bench_folder})
    target_link_libraries(${name} PRIVATE gufo_internal gufo_flags m)
    if(GUFO_BENCH_GGML)
        target_compile_definitions(${name} PRIVATE GUFO_BENCH_GGML)
        target_link_libraries(${name} PRIVATE ggml-base)
    endif()
endfunction()

add_bench(bench_open)
add_bench(bench_codec)
add_bench(bench_validate)
add_bench(bench_produce)
add_bench(bench_allocate)
add_bench(bench_parts)
target_include_directories(bench_produce PRIVATE src) # the inside of the library
add_bench(make_llama)
include(${PROJECT_SOURCE_DIR}/cmake/simulate.cmake)
if(GUFO_BENCH_GGML)
    add_bench(compare_ggml) # whether both read the same
    add_ggml_module(ggml_native -O3 -march=native -ffp-contract=fast)
    add_ggml_module(ggml_plain -O2 -ffp-contract=off)
    add_dependencies(bench_codec ggml_native ggml_plain)
    target_compile_definitions(bench_codec PRIVATE
        GUFO_BENCH_GGML_NATIVE="$<TARGET_FILE:ggml_native>"
        GUFO_BENCH_GGML_PLAIN="$<TARGET_FILE:ggml_plain>")
    target_link_libraries(bench_codec PRIVATE ${CMAKE_DL_LIBS})
endif()

# Vocabularies.  With GUFO_BENCH_LLAMA=DIR, a tree of llama.cpp that was built in DIR/build, llama_tokenize is
# measured in the same run.
if(TARGET gufo_text_internal)
    add_bench(bench_text)
    target_link_libraries(bench_text PRIVATE gufo_text_internal)
    if(GUFO_BENCH_LLAMA)
        target_compile_definitions(bench_text PRIVATE GUFO_BENCH_LLAMA)
        target_include_directories(bench_text SYSTEM PRIVATE
            ${GUFO_BENCH_LLAMA}/include ${GUFO_BENCH_LLAMA}/ggml/include)
        foreach(library llama ggml ggml-base)
            find_library(LLAMA_${library} ${library} PATHS ${GUFO_BENCH_LLAMA}/build/bin NO_DEFAULT_PATH REQUIRED)
            target_link_libraries(bench_text PRIVATE ${LLAMA_${library}})
        endforeach()
    endif()
endif()
