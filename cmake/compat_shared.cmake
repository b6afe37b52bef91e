# Tests of programs with a shared ggml, in which a library between (as libllama is) calls gguf_
# functions and the program itself calls none; and of programs with libgguf and a ggml.
#
# Each is run with a stand-in for libggml-base that is made here, and with the real one where
# GUFO_GGML_DIR names it.  The programs print in which file the functions lie that were called.

set(standin ${PROJECT_SOURCE_DIR}/tests/compat/standin)

# Where a library or program goes, and whose headers it is compiled against.
function(standin_setup target folder headers)
    set_target_properties(${target} PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY ${folder} RUNTIME_OUTPUT_DIRECTORY ${folder}
        POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX)
    target_include_directories(${target} SYSTEM PRIVATE ${headers})
    target_compile_features(${target} PRIVATE c_std_17)
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
    # Linked as C++, with what C was compiled with (--coverage).
    separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
    target_link_options(${target} PRIVATE ${flags})
    if(GUFO_SANITIZE)
        target_link_options(${target} PRIVATE -fsanitize=${GUFO_SANITIZE})
    endif()
endfunction()

function(add_output_test name program expected)
    add_test(NAME compat.${name} COMMAND ${program} ${PROJECT_BINARY_DIR}/tests/${name}.gguf)
    set_tests_properties(compat.${name} PROPERTIES LABELS compat
        PASS_REGULAR_EXPRESSION "${expected}" FAIL_REGULAR_EXPRESSION "wrong")
endfunction()

# add_shared_ggml_tests(PREFIX DROPIN THEIRS HEADERS OBJECTS GGUF_OBJECTS): libggml-base is made of
# all the objects; THEIRS is what its own gguf_ functions say.
function(add_shared_ggml_tests prefix dropin theirs headers objects gguf_objects)
    set(folder ${PROJECT_BINARY_DIR}/tests/${prefix})
    set(whole "$<LINK_LIBRARY:WHOLE_ARCHIVE,${dropin}>")
    set(ours "version 3, name tiny\n[^\n]*is gufo's")

    # libggml-base: as it is, and with the drop-in in place of gguf.cpp.
    add_library(${prefix}_base SHARED ${objects} ${gguf_objects})
    add_library(${prefix}_base_inside SHARED ${objects})
    target_link_libraries(${prefix}_base_inside PRIVATE ${whole})
    # The library between.
    add_library(${prefix}_llama SHARED ${standin}/llama.c)
    target_link_libraries(${prefix}_llama PRIVATE ${prefix}_base)
    add_library(${prefix}_llama_inside SHARED ${standin}/llama.c)
    target_link_libraries(${prefix}_llama_inside PRIVATE ${prefix}_base_inside)
    foreach(library base llama)
        standin_setup(${prefix}_${library} ${folder} "${headers}")
        standin_setup(${prefix}_${library}_inside ${folder}/inside "${headers}")
        set_target_properties(${prefix}_${library}_inside PROPERTIES OUTPUT_NAME
            ${prefix}_${library})
    endforeach()
    foreach(base ${prefix}_base ${prefix}_base_inside)
        target_link_libraries(${base} PRIVATE gufo_internal m)
        target_link_options(${base} PRIVATE LINKER:--exclude-libs,libgufo_internal.a)
    endforeach()

    # The program: whole archive; in libggml-base; everything static; and, for comparison, without
    # the drop-in, and with an archive from which the linker takes nothing.
    foreach(way whole inside none archive)
        add_executable(${prefix}_${way} ${standin}/program.c)
        standin_setup(${prefix}_${way} ${folder} "${headers}")
    endforeach()
    target_link_libraries(${prefix}_whole PRIVATE ${whole} ${prefix}_llama ${prefix}_base)
    target_link_libraries(${prefix}_inside PRIVATE ${prefix}_llama_inside ${prefix}_base_inside)
    target_link_libraries(${prefix}_none PRIVATE ${prefix}_llama ${prefix}_base)
    target_link_libraries(${prefix}_archive PRIVATE ${dropin} ${prefix}_llama ${prefix}_base)
    add_output_test(${prefix}_whole ${prefix}_whole
        "reading in ${prefix}_whole, writing in ${prefix}_whole\n${ours}")
    add_output_test(${prefix}_inside ${prefix}_inside
        "reading in lib${prefix}_base[^,]*, writing in lib${prefix}_base[^\n]*\n${ours}")
    foreach(way none archive)
        add_output_test(${prefix}_${way} ${prefix}_${way}
            "reading in lib${prefix}_base[^,]*, writing in lib${prefix}_base[^\n]*\n${theirs}")
    endforeach()

    # Everything static: the archives are enough, in this order.
    add_library(${prefix}_llama_static STATIC ${standin}/llama.c)
    add_library(${prefix}_base_static STATIC ${objects} ${gguf_objects})
    add_executable(${prefix}_static ${standin}/program.c)
    foreach(target llama_static base_static static)
        standin_setup(${prefix}_${target} ${folder} "${headers}")
    endforeach()
    target_link_libraries(${prefix}_base_static PRIVATE gufo_internal m)
    target_link_libraries(${prefix}_static PRIVATE ${prefix}_llama_static ${dropin}
        ${prefix}_base_static)
    add_output_test(${prefix}_static ${prefix}_static
        "reading in ${prefix}_static, writing in ${prefix}_static\n${ours}")

    # libgguf in the same process, before and behind the other library.
    foreach(order first last)
        add_executable(${prefix}_both_${order} ${standin}/both.c ${standin}/ours.c
            ${standin}/ours.cpp $<TARGET_OBJECTS:${prefix}_theirs>)
        standin_setup(${prefix}_both_${order} ${folder} ${compat_headers})
        target_compile_definitions(${prefix}_both_${order} PRIVATE HAS_CPP)
        add_output_test(${prefix}_both_${order} ${prefix}_both_${order} 
            "libgguf is right\nlib${prefix}_base[^\n]* is right\nlibgguf is right\n")
    endforeach()
    add_library(${prefix}_theirs OBJECT ${standin}/theirs.c)
    standin_setup(${prefix}_theirs ${folder} "${headers}")
    target_link_libraries(${prefix}_both_first PRIVATE gguf_shared ${prefix}_base)
    target_link_libraries(${prefix}_both_last PRIVATE ${prefix}_base gguf_shared)
    if(BASH AND CMAKE_NM AND NOT APPLE)
        add_test(NAME compat.${prefix}_symbols COMMAND ${BASH} ${standin}/symbols ${CMAKE_NM}
            $<TARGET_FILE:gguf_shared> $<TARGET_FILE:${prefix}_base> $<TARGET_FILE:${prefix}_whole>)
        set_tests_properties(compat.${prefix}_symbols PROPERTIES LABELS compat)
    endif()
endfunction()

# ---- the stand-in -----------------------------------------------------------------------------

add_dropin(standin_dropin standin_dropin ${standin}/include)
# With the symbols of ggml.
file(GLOB standin_sources src/compat/ggml_*.c)
add_library(standin_objects OBJECT ${standin_sources} ${standin}/base.c)
add_library(standin_gguf_objects OBJECT ${standin}/gguf.c)
foreach(objects standin_objects standin_gguf_objects)
    set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${objects} PRIVATE ${standin}/include include src)
    target_link_libraries(${objects} PRIVATE gufo_flags)
endforeach()
# What the drop-in has under the same names, when both are in one library.
target_compile_definitions(standin_objects PRIVATE compat_set_strides=standin_set_strides
    compat_log=standin_log compat_tensor_bytes=standin_tensor_bytes)
add_shared_ggml_tests(standin standin_dropin "version 1000, name stand-in\n[^\n]*is nobody's"
    "${standin}/include"
    "$<TARGET_OBJECTS:standin_objects>" "$<TARGET_OBJECTS:standin_gguf_objects>")
