# libgguf: the documented C API on top of libgufo, and its drop-in build for ggml.
#
#   standalone   libgguf.so (which needs nothing else) and libgguf.a (which needs libgufo.a), with
#                headers of our own in include/gufo-compat: a folder of its own, so that -I include
#                never hides the headers of a real ggml
#   drop-in      with GUFO_GGML_DIR: libgguf-dropin.a, compiled against the headers of that ggml.
#                Linked as a whole, with libgufo.a behind it, it takes the place of ggml's gguf.cpp

if(NOT GUFO_COMPAT)
    return()
endif()

set(compat_headers ${PROJECT_SOURCE_DIR}/include/gufo-compat)
file(GLOB compat_sources CONFIGURE_DEPENDS src/compat/*.c)

# ---- standalone -------------------------------------------------------------------------------

add_library(gguf_objects OBJECT ${compat_sources})
set_target_properties(gguf_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(gguf_objects PRIVATE ${compat_headers} include src)
target_link_libraries(gguf_objects PRIVATE gufo_flags)

add_library(gguf_static STATIC $<TARGET_OBJECTS:gguf_objects>)
add_library(gguf_shared SHARED $<TARGET_OBJECTS:gguf_objects>)
set_target_properties(gguf_shared PROPERTIES
    EXPORT_NAME gguf VERSION ${PROJECT_VERSION} SOVERSION ${gufo_soversion})
foreach(library gguf_static gguf_shared)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME gguf LINKER_LANGUAGE C)
    target_include_directories(${library} INTERFACE
        $<BUILD_INTERFACE:${compat_headers}>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/gufo-compat>)
endforeach()
target_link_libraries(gguf_static PUBLIC gufo_static PRIVATE $<BUILD_INTERFACE:gufo_flags>)
# The parts of libgufo that it needs are inside, and not seen from outside.
target_link_libraries(gguf_shared PRIVATE $<BUILD_INTERFACE:gufo_static>
    m Threads::Threads $<BUILD_INTERFACE:gufo_flags>)
target_link_options(gguf_shared PRIVATE LINKER:--exclude-libs,ALL)
add_library(gufo::gguf ALIAS gguf_shared)
add_library(gufo::gguf_static ALIAS gguf_static)
add_library(gufo_compat_static ALIAS gguf_static) # by the name of the room, for its tests

# ---- drop-in ----------------------------------------------------------------------------------

# Also for the tests, which need no ggml: add_dropin(TARGET HEADERS...).
function(add_dropin name)
    set(sources ${compat_sources})
    list(FILTER sources EXCLUDE REGEX "/ggml_[^/]*$")
    add_library(${name} STATIC ${sources} src/compat/dropin.cpp)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_STANDARD 17)
    target_include_directories(${name} SYSTEM PRIVATE ${ARGN})
    target_include_directories(${name} PRIVATE include src)
    # GGML_SHARED: so that the program's symbols go before those of a shared ggml.
    target_compile_definitions(${name} PRIVATE GGML_SHARED _POSIX_C_SOURCE=200809L
        _FILE_OFFSET_BITS=64)
    target_compile_options(${name} PRIVATE -Wall -Wextra -fvisibility=hidden)
    target_compile_features(${name} PRIVATE c_std_17 cxx_std_17)
    target_link_libraries(${name} PUBLIC gufo_static)
endfunction()

if(GUFO_GGML_DIR)
    enable_language(CXX)
    add_dropin(gguf_dropin ${GUFO_GGML_DIR}/include ${GUFO_GGML_DIR}/src)
    set_target_properties(gguf_dropin PROPERTIES OUTPUT_NAME gguf-dropin)
endif()
