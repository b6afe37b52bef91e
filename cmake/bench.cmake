# Benchmarks, one per bench/bench_*.c.  With GUFO_BENCH_GGML=DIR the base library of that ggml tree is
# built along (C++ is needed then) and measured on the same files in the same run.

if(GUFO_BENCH_GGML)
    enable_language(CXX)
    set(BUILD_SHARED_LIBS OFF)
    set(GGML_NATIVE OFF CACHE BOOL "")
    set(GGML_OPENMP OFF CACHE BOOL "")
    add_subdirectory(${GUFO_BENCH_GGML} ${PROJECT_BINARY_DIR}/ggml EXCLUDE_FROM_ALL SYSTEM)
endif()

file(GLOB bench_sources CONFIGURE_DEPENDS bench/bench_*.c)
foreach(source IN LISTS bench_sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
    target_link_libraries(${name} PRIVATE gufo_static gufo_flags)
    if(GUFO_BENCH_GGML)
        target_compile_definitions(${name} PRIVATE GUFO_BENCH_GGML)
        target_link_libraries(${name} PRIVATE ggml-base)
    endif()
endforeach()

# Whether both read the same.
if(GUFO_BENCH_GGML)
    add_executable(compare_ggml bench/compare_ggml.c)
    set_target_properties(compare_ggml PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
    target_link_libraries(compare_ggml PRIVATE gufo_static gufo_flags ggml-base)
endif()
