# libgguf: the documented C API on top of libgufo, and its drop-in build for ggml.
#
#   standalone   libgguf.so and libgguf.a, with headers of our own in include/gufo-compat: a folder of
#                its own, so that -I include never hides the headers of a real ggml
#   drop-in      with GUFO_GGML_DIR: libgguf-dropin.a, compiled against the headers of that ggml.
#                It takes the place of ggml's gguf.cpp

if(NOT GUFO_COMPAT)
    return()
endif()

set(compat_headers ${PROJECT_SOURCE_DIR}/include/gufo-compat)
file(GLOB_RECURSE compat_sources CONFIGURE_DEPENDS src/compat/*.c)

# ---- standalone -------------------------------------------------------------------------------

add_library(gguf_objects OBJECT ${compat_sources})
set_target_properties(gguf_objects PROPERTIES POSITION_INDEPENDENT_CODE ${GUFO_PIC})
target_include_directories(gguf_objects PRIVATE ${compat_headers} include src)
target_link_libraries(gguf_objects PRIVATE gufo_flags)

gufo_forms(gguf OBJECTS gguf_objects HEADER include/gufo-compat/gguf.h PRIVATE gufo)
foreach(form static shared internal)
    target_include_directories(gguf_${form} INTERFACE
        $<BUILD_INTERFACE:${compat_headers}>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/gufo-compat>)
endforeach()
add_library(gufo_compat_internal ALIAS gguf_internal) # by the name of the room, for its tests

# ---- plain names ------------------------------------------------------------------------------

# Gives the functions of a shared libgguf ggml's names beside their own.  What is compiled against our headers uses the
# own ones; with a ggml in the same process, the one that is found first is called by these.
function(add_plain_names target)
    set(names ${PROJECT_BINARY_DIR}/private/gguf.plain)
    if(NOT TARGET gguf_plain_names)
        add_custom_command(OUTPUT ${names}
            COMMAND ${CMAKE_COMMAND} -D NM=${CMAKE_NM} -D ARCHIVE=$<TARGET_FILE:gguf_internal> -D OUT=${names}
                -P ${PROJECT_SOURCE_DIR}/cmake/plain_names.cmake
            DEPENDS gguf_internal ${PROJECT_SOURCE_DIR}/cmake/plain_names.cmake VERBATIM
            COMMENT "Plain names of libgguf")
        add_custom_target(gguf_plain_names DEPENDS ${names})
    endif()
    add_dependencies(${target} gguf_plain_names)
    target_link_options(${target} PRIVATE -Wl,@${names})
endfunction()

if(GUFO_PLAIN_GGUF_NAMES)
    add_plain_names(gguf_shared)
endif()

# ---- drop-in ----------------------------------------------------------------------------------

# Code that several objects share by the same name (32-bit x86 finds its own address by such a
# function) is otherwise left out of all objects but one, where a local name cannot follow.
include(CheckLinkerFlag)
check_linker_flag(C "-r;-nostdlib;-Wl,--force-group-allocation" GUFO_LINKER_GROUPS)

# Also for the tests, which need no ggml: add_dropin(TARGET NAME HEADERS...) makes libNAME.a.
#
# It is one object, by a relocatable link, with what it needs of libgufo inside: who takes one of its functions
# takes all of them, and none of gguf.cpp beside them; and nothing else is put on a link line that is not ours.
# Sections stay apart (--unique), so that --gc-sections works; names that are not ggml's become local.
function(add_dropin target name)
    set(sources ${compat_sources})
    list(FILTER sources EXCLUDE REGEX "/ggml_[^/]*$")
    add_library(${target}_objects OBJECT ${sources} src/compat/dropin.cpp)
    set_target_properties(${target}_objects PROPERTIES
        POSITION_INDEPENDENT_CODE ON CXX_STANDARD 17)
    target_include_directories(${target}_objects SYSTEM PRIVATE ${ARGN})
    target_include_directories(${target}_objects PRIVATE include src)
    # GGML_SHARED: so that the program's symbols go before those of a shared ggml.
    target_compile_definitions(${target}_objects PRIVATE GGML_SHARED _POSIX_C_SOURCE=200809L
        _FILE_OFFSET_BITS=64)
    target_compile_options(${target}_objects PRIVATE -Wall -Wextra -fvisibility=hidden)
    target_compile_features(${target}_objects PRIVATE c_std_17 cxx_std_17)

    # What selects the machine counts; what would add a library of the compiler's must not be there.
    separate_arguments(flags NATIVE_COMMAND "${CMAKE_C_COMPILER_ARG1} ${CMAKE_C_FLAGS}")
    list(FILTER flags EXCLUDE REGEX "^(-fsanitize|--coverage|-fprofile)")
    if(CMAKE_C_COMPILER_TARGET)
        list(PREPEND flags ${CMAKE_C_COMPILE_OPTIONS_TARGET}${CMAKE_C_COMPILER_TARGET})
    endif()
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU") # with -flto too, an object of machine code
        list(APPEND flags -flinker-output=nolto-rel)
    endif()
    if(GUFO_LINKER_GROUPS)
        list(APPEND flags -Wl,--force-group-allocation)
    endif()
    set(object ${PROJECT_BINARY_DIR}/${name}.o)
    if(multi_config)
        set(object ${PROJECT_BINARY_DIR}/${name}-$<CONFIG>.o)
    endif()
    add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_C_COMPILER} ${flags} -r -nostdlib -Wl,--unique -Wl,--exclude-libs,ALL
            -o ${object} $<TARGET_OBJECTS:${target}_objects> $<TARGET_FILE:gufo_internal>
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${object}
        DEPENDS $<TARGET_OBJECTS:${target}_objects> gufo_internal
        COMMAND_EXPAND_LISTS VERBATIM COMMENT "One object of lib${name}.a")
    add_library(${target} STATIC ${object})
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    add_dependencies(${target} ${target}_objects) # make does not see it from the files
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE CXX)
    target_link_libraries(${target} PRIVATE m Threads::Threads)
endfunction()

if(GUFO_GGML_DIR)
    enable_language(CXX)
    add_dropin(gguf_dropin gguf-dropin ${GUFO_GGML_DIR}/include ${GUFO_GGML_DIR}/src)
endif()
