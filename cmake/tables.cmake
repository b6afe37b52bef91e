# Tables: registry/NAME.tsv becomes NAME.inc in the build tree, ROW("first column", "second", ...) for
# each line that is not a comment (of two columns at least); a column like 0x1F is a number.  The sources say
# what a ROW is:
#
#     #define ROW(id, name) {id, name},
#     #include "registry/NAME.inc"
#     #undef ROW
#
# The tables are text, so that other programs can read them as well; nothing but cmake is needed to
# build from them.
#
# As a script, `cmake -DTABLE=FILE.tsv -DOUT=FILE.inc -DCOLUMNS=N -P tables.cmake` makes one of them.

if(CMAKE_SCRIPT_MODE_FILE)
    file(READ ${TABLE} rows)
    string(REPLACE "\\" "\\\\" rows "${rows}")
    string(REPLACE "\"" "\\\"" rows "${rows}")
    # A line begins behind a line end.
    string(REGEX REPLACE "\n#[^\n]*" "" rows "\n${rows}")
    set(column "[^\t\n]*")
    string(REPEAT "\t${column}" ${COLUMNS} columns)
    string(SUBSTRING "${columns}" 1 -1 columns)
    string(REGEX REPLACE "\n(${columns})" "\nROW(\"\\1\")" rows "${rows}")
    string(REPLACE "\t" "\", \"" rows "${rows}")
    string(REGEX REPLACE "\"(0x[0-9A-F]+)\"" "\\1" rows "${rows}")
    string(REGEX REPLACE "\nROW\\([^\n]*\\)" "" left "${rows}")
    if(NOT left STREQUAL "\n")
        message(FATAL_ERROR "${TABLE}: not every line has ${COLUMNS} columns:${left}")
    endif()
    file(WRITE ${OUT} "${rows}")
    return()
endif()

set(table_script ${CMAKE_CURRENT_LIST_FILE})
set(table_folder ${PROJECT_BINARY_DIR}/tables) # to be included from
set(table_files "")

# The tables that pages of architectures become.
include(cmake/pages.cmake)
file(GLOB pages CONFIGURE_DEPENDS registry/arch/*.tsv registry/parts/*.tsv)
list(TRANSFORM page_tables PREPEND ${table_folder}/registry/ OUTPUT_VARIABLE page_table_files)
list(TRANSFORM page_table_files APPEND .tsv)
add_custom_command(OUTPUT ${page_table_files}
    COMMAND ${CMAKE_COMMAND} -DREGISTRY=${PROJECT_SOURCE_DIR}/registry -DOUT=${table_folder}/registry
        -P ${PROJECT_SOURCE_DIR}/cmake/pages.cmake
    DEPENDS ${pages} registry/keys.tsv cmake/pages.cmake VERBATIM COMMENT "Tables of pages")
# A target, so that the libraries that need a table do not each run the command.
add_custom_target(gufo_pages DEPENDS ${page_table_files})

# gufo_table(NAME COLUMNS): appends the file that is made to table_files.
function(gufo_table name columns)
    set(table ${PROJECT_SOURCE_DIR}/registry/${name}.tsv)
    set(pages "")
    if(name IN_LIST page_tables)
        set(table ${table_folder}/registry/${name}.tsv)
        set(pages gufo_pages)
    endif()
    set(out ${table_folder}/registry/${name}.inc)
    add_custom_command(OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -DTABLE=${table} -DOUT=${out} -DCOLUMNS=${columns} -P ${table_script}
        DEPENDS ${table} ${table_script} ${pages} VERBATIM COMMENT "Table ${name}")
    set(table_files ${table_files} ${out} PARENT_SCOPE)
endfunction()
