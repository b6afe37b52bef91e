# bench/simulate, for benchmarks and for the test that compares docs/simulation.md with what it prints.
include_guard(GLOBAL)

add_executable(simulate bench/simulate.c src/cli/parts/advice.c) # the command is not a library
set_target_properties(simulate PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
target_link_libraries(simulate PRIVATE gufo_internal gufo_flags m)
target_include_directories(simulate PRIVATE src)
