# The private names that an archive defines, as objcopy --redefine-syms wants them (cmake/forms.cmake):
#
#     str_piece gufo_private_0_1_0_str_piece
#
# cmake -D NM=nm -D ARCHIVE=libgufo_internal.a -D PREFIX=gufo_private_0_1_0_ -D OUT=gufo.names -P private_names.cmake

execute_process(COMMAND ${NM} -P -g --defined-only ${ARCHIVE} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n[A-Za-z][A-Za-z0-9_]* [A-Z] " names "\n${symbols}")
list(TRANSFORM names REPLACE "\n([^ ]+).*" "\\1")
list(FILTER names EXCLUDE REGEX "^(gufo|gguf|ggml)_")
list(SORT names)
list(TRANSFORM names REPLACE "(.+)" "\\1 ${PREFIX}\\1")
list(JOIN names "\n" lines)
file(WRITE ${OUT} "${lines}\n")
