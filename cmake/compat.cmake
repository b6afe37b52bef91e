# libgguf: the documented C API on top of libgufo, and its drop-in build for ggml.
#
#   standalone   libgguf.so and libgguf.a, with the parts of libgufo that they need inside, and with
#                headers of our own in include/gufo-compat: a folder of its own, so that -I include
#                never hides the headers of a real ggml
#   drop-in      with GUFO_GGML_DIR: libgguf-dropin.a, compiled against the headers of that ggml.
#                Linked as a whole, it takes the place of ggml's gguf.cpp

if(NOT GUFO_COMPAT)
    return()
endif()

set(compat_headers ${PROJECT_SOURCE_DIR}/include/gufo-compat)
file(GLOB_RECURSE compat_sources CONFIGURE_DEPENDS src/compat/*.c)

# ---- standalone -------------------------------------------------------------------------------

add_library(gguf_objects OBJECT ${compat_sources})
set_target_properties(gguf_objects PROPERTIES POSITION_INDEPENDENT_CODE ${GUFO_LIBRARIES})
target_include_directories(gguf_objects PRIVATE ${compat_headers} include src)
target_link_libraries(gguf_objects PRIVATE gufo_flags)

gufo_archive(gguf_static gguf OBJECTS gguf_objects INSIDE gufo_internal)
add_library(gguf_shared SHARED $<TARGET_OBJECTS:gguf_objects>)
set_target_properties(gguf_shared PROPERTIES
    EXPORT_NAME gguf VERSION ${PROJECT_VERSION} SOVERSION ${gufo_soversion})
foreach(library gguf_static gguf_shared)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME gguf LINKER_LANGUAGE C)
    target_include_directories(${library} INTERFACE
        $<BUILD_INTERFACE:${compat_headers}>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/gufo-compat>)
    target_link_libraries(${library} PRIVATE m Threads::Threads $<BUILD_INTERFACE:gufo_flags>)
endforeach()
target_link_libraries(gguf_shared PRIVATE $<BUILD_INTERFACE:gufo_internal>)
target_link_options(gguf_shared PRIVATE LINKER:--exclude-libs,ALL)
add_library(gufo::gguf ALIAS gguf_shared)
add_library(gufo::gguf_static ALIAS gguf_static)

# By the name of the room, for its tests: not installed, with private functions within reach.
add_library(gufo_compat_internal STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:gguf_objects>)
set_target_properties(gufo_compat_internal PROPERTIES LINKER_LANGUAGE C)
target_include_directories(gufo_compat_internal INTERFACE ${compat_headers})
target_link_libraries(gufo_compat_internal PUBLIC gufo_internal)

# ---- drop-in ----------------------------------------------------------------------------------

# Also for the tests, which need no ggml: add_dropin(TARGET NAME HEADERS...) makes libNAME.a.
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
    gufo_archive(${target} ${name} OBJECTS ${target}_objects INSIDE gufo_internal)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${target} PRIVATE m Threads::Threads)
endfunction()

if(GUFO_GGML_DIR)
    enable_language(CXX)
    add_dropin(gguf_dropin gguf-dropin ${GUFO_GGML_DIR}/include ${GUFO_GGML_DIR}/src)
endif()
