# The forms of a library: libNAME.a and libNAME.so for others, and libNAME_internal.a for the command, the
# tests and the fuzz targets, which is not installed: private functions are within reach there, and a
# program that brings its own form of an object takes the place of it.
#
# Libraries call private functions of those below them (import those of text and of libgufo), and none has
# a copy of another's.  A private function has a plain name in the sources, str_piece, which a program may
# have as well; for others its name is gufo_private_0_1_0_str_piece:
#
#     a.o  b.o  c.o                 libNAME_internal.a
#        |   objcopy renames what the objects define, and what they call in libraries below
#     a.o  b.o  c.o                 libNAME.a     one by one: a program has only those that it uses
#        |   all of them; a version script shows private names in the node GUFO_PRIVATE_0.1.0
#     libNAME.so                                  and not at all where no library of ours is above
#
# So two versions never run together: the loader does not find the node; where a loader ignores nodes
# (musl's), or a linker puts archives together, the names are not there.
#
# Nobody writes a list of them: nm knows what objects define, and public names are those that begin with
# gufo_, gguf_ or ggml_ (with _ the compiler's).  All are shown, not only those that the libraries above
# call today, so that libgufo.so is the same whatever is built beside it.

# gufo_room(ROOM [NEEDS library...] [WITHOUT regex]): gufo_ROOM_objects of src/ROOM, what a library beside libgufo is
# made of; the files that match are left out.
function(gufo_room room)
    cmake_parse_arguments(PARSE_ARGV 1 room "" "" "NEEDS;WITHOUT")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/${room}/*.c)
    if(room_WITHOUT)
        list(FILTER sources EXCLUDE REGEX "${room_WITHOUT}")
    endif()
    add_library(gufo_${room}_objects OBJECT ${sources})
    set_target_properties(gufo_${room}_objects PROPERTIES POSITION_INDEPENDENT_CODE ${GUFO_PIC})
    target_include_directories(gufo_${room}_objects PRIVATE include src)
    target_link_libraries(gufo_${room}_objects PRIVATE ${room_NEEDS} gufo_flags Threads::Threads)
endfunction()

# gufo_forms(NAME OBJECTS library... HEADER file [NEEDS library...] [PUBLIC name...] [PRIVATE name...]
# [SHOWN]): NAME_static, NAME_shared and NAME_internal of object libraries.  NEEDS are libraries of others,
# PUBLIC and PRIVATE ours below it; who uses it includes the headers of the public ones.  SHOWN: a library of
# ours is above it.
function(gufo_forms name)
    cmake_parse_arguments(PARSE_ARGV 1 form "SHOWN" "HEADER" "OBJECTS;NEEDS;PUBLIC;PRIVATE")
    set(folder ${PROJECT_BINARY_DIR}/private)
    if(multi_config)
        string(APPEND folder "/$<CONFIG>")
    endif()
    set(objects "")
    foreach(library IN LISTS form_OBJECTS)
        list(APPEND objects $<TARGET_OBJECTS:${library}>)
        # The prefix is of the archive, which is renamed only when it is made: objects that are compiled with it are newer
        # than the archive of another version.
        target_compile_definitions(${library} PRIVATE GUFO_PRIVATE_PREFIX=${private_prefix})
        # objcopy renames in machine code alone: with -flto gcc has it beside its own, clang in place of its own.
        target_compile_options(${library} PRIVATE
            $<IF:$<C_COMPILER_ID:GNU>,-ffat-lto-objects,-fno-lto>)
    endforeach()
    set(renamed --remove-section=.gnu.lto_*)
    foreach(library IN ITEMS ${name} LISTS form_PUBLIC form_PRIVATE)
        list(APPEND renamed --redefine-syms=${folder}/${library}.names)
    endforeach()

    add_library(${name}_internal STATIC EXCLUDE_FROM_ALL ${objects})
    add_custom_command(OUTPUT ${folder}/${name}.names
        COMMAND ${CMAKE_COMMAND} -D NM=${CMAKE_NM} -D ARCHIVE=$<TARGET_FILE:${name}_internal>
            -D PREFIX=${private_prefix} -D OUT=${folder}/${name}.names -P ${forms_folder}/private_names.cmake
        DEPENDS ${name}_internal ${forms_folder}/private_names.cmake VERBATIM
        COMMENT "Private names of lib${name}")
    add_custom_target(${name}_names DEPENDS ${folder}/${name}.names)

    add_library(${name}_static STATIC ${objects})
    add_custom_command(TARGET ${name}_static POST_BUILD VERBATIM
        COMMAND ${CMAKE_OBJCOPY} ${renamed} $<TARGET_FILE:${name}_static>)
    add_dependencies(${name}_static ${name}_names)

    add_library(${name}_shared SHARED ${form_HEADER})
    add_dependencies(${name}_shared ${name}_static)
    set_property(TARGET ${name}_shared APPEND PROPERTY LINK_DEPENDS $<TARGET_FILE:${name}_static>)
    set(names hidden)
    if(form_SHOWN)
        set(names shown)
    endif()
    # -Bsymbolic: calls inside stay inside.
    target_link_options(${name}_shared PRIVATE
        LINKER:--whole-archive,$<TARGET_FILE:${name}_static>,--no-whole-archive
        LINKER:--version-script,${PROJECT_BINARY_DIR}/private/${names}.map LINKER:-Bsymbolic)
    if(NOT GUFO_SANITIZE) # whose functions are in the program
        target_link_options(${name}_shared PRIVATE LINKER:-z,defs)
    endif()
    set_target_properties(${name}_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${gufo_soversion}
        INSTALL_RPATH "$ORIGIN") # those below lie beside it

    foreach(form static shared internal)
        set_target_properties(${name}_${form} PROPERTIES LINKER_LANGUAGE C)
        target_link_libraries(${name}_${form} PRIVATE
            ${form_NEEDS} m Threads::Threads $<BUILD_INTERFACE:gufo_flags>)
        foreach(scope PUBLIC PRIVATE)
            foreach(library IN LISTS form_${scope})
                target_link_libraries(${name}_${form} ${scope} ${library}_${form})
            endforeach()
        endforeach()
    endforeach()
    set_target_properties(${name}_static ${name}_shared PROPERTIES OUTPUT_NAME ${name})
    set_target_properties(${name}_shared PROPERTIES EXPORT_NAME ${name})
    add_library(gufo::${name} ALIAS ${name}_shared)
    add_library(gufo::${name}_static ALIAS ${name}_static)
endfunction()

if(NOT CMAKE_OBJCOPY OR NOT CMAKE_NM)
    message(FATAL_ERROR "objcopy or nm not found (Debian: binutils); "
        "-DCMAKE_OBJCOPY= and -DCMAKE_NM= tell where they are")
endif()
set(forms_folder ${CMAKE_CURRENT_LIST_DIR})
string(REPLACE "." "_" private_prefix "gufo_private_${PROJECT_VERSION}_")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/private/shown.map @ONLY
    CONTENT "GUFO_PRIVATE_${PROJECT_VERSION} { gufo_private_*; };\n")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/private/hidden.map @ONLY
    CONTENT "{ global: *; local: gufo_private_*; };\n")
