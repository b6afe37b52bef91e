# Static libraries that export public names only.
#
# The objects become one by a relocatable link, in which calls among them are bound; then every hidden
# symbol is made local, so that a program may have a disk_open of its own.
#
#     a.o  b.o  c.o  [what they need of INSIDE]
#      \   |   /        ld -r --unique: sections stay apart, so that a program that is linked with
#       NAME.o                          --gc-sections leaves out what it does not use
#          |            objcopy --localize-hidden
#       libNAME.a

# gufo_archive(TARGET NAME OBJECTS library... [INSIDE library...]): a static library libNAME.a of the
# object libraries OBJECTS.  Of the static libraries INSIDE, which are not installed, it takes the
# objects that it needs; none of their names is seen from outside, public ones neither.
function(gufo_archive target name)
    cmake_parse_arguments(PARSE_ARGV 2 archive "" "" "OBJECTS;INSIDE")
    if(NOT CMAKE_OBJCOPY)
        message(FATAL_ERROR "objcopy not found (Debian: binutils); -DCMAKE_OBJCOPY= tells where it is")
    endif()
    set(folder ${PROJECT_BINARY_DIR}/archives)
    if(multi_config)
        string(APPEND folder "/$<CONFIG>")
    endif()
    set(object ${folder}/${name}.o)
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
    set(objects "")
    foreach(library IN LISTS archive_OBJECTS)
        list(APPEND objects $<TARGET_OBJECTS:${library}>)
    endforeach()
    set(inside "")
    foreach(library IN LISTS archive_INSIDE)
        list(APPEND inside $<TARGET_FILE:${library}>)
    endforeach()
    add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
        COMMAND ${CMAKE_C_COMPILER} ${flags} -r -nostdlib -Wl,--unique -Wl,--exclude-libs,ALL
            -o ${object} ${objects} ${inside}
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${object}
        DEPENDS ${objects} ${archive_INSIDE}
        COMMAND_EXPAND_LISTS VERBATIM COMMENT "Public names of lib${name}.a")
    add_library(${target} STATIC ${object})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    add_dependencies(${target} ${archive_OBJECTS}) # make does not see it from the files
endfunction()

# Code that several objects share by the same name (32-bit x86 finds its own address by such a
# function) is otherwise left out of all objects but one, where a local name cannot follow.
include(CheckLinkerFlag)
check_linker_flag(C "-r;-nostdlib;-Wl,--force-group-allocation" GUFO_LINKER_GROUPS)
