# What the library asks of the system: threads, and files.
#
#     -DGUFO_THREADS=OFF   base/threads_none.c in place of threads.c
#     -DGUFO_SYSTEM=none   open_none.c and source_none.c in place of open_system.c and source_fd.c; what works with files
#                          is left out: jobs and what makes them, edits in place, finding models, lists of processors
#
# A file that takes the place of another is called NAME_none.c.

if(GUFO_THREADS)
    list(FILTER library_sources EXCLUDE REGEX "/base/threads_none\\.c$")
    find_package(Threads REQUIRED)
else()
    list(FILTER library_sources EXCLUDE REGEX "/base/threads\\.c$")
    add_library(Threads::Threads INTERFACE IMPORTED)
endif()

if(GUFO_SYSTEM STREQUAL posix)
    list(FILTER library_sources EXCLUDE REGEX "/(source|open)_none\\.c$")
elseif(GUFO_SYSTEM STREQUAL none)
    if(GUFO_THREADS)
        message(FATAL_ERROR "GUFO_SYSTEM=none needs GUFO_THREADS=OFF")
    endif()
    list(FILTER library_sources EXCLUDE REGEX "/base/processors\\.c$|/base/files/[a-z_]+\\.c$|/format/file/open_system\\.c$")
    list(FILTER library_sources EXCLUDE REGEX "/src/(produce|quant|edit)/")
    file(GLOB read_only_sources CONFIGURE_DEPENDS src/base/files/source.c src/base/files/source_note.c
        src/base/files/source_none.c
        src/quant/stats/*.c src/edit/compare/*.c)
    list(APPEND library_sources ${read_only_sources})
else()
    message(FATAL_ERROR "GUFO_SYSTEM is posix or none, not ${GUFO_SYSTEM}")
endif()
