# Second names of libgguf's functions, as the linker wants them: those of ggml, for programs that look functions up by name.
#
#     --defsym=gguf_init_from_file=gufo_gguf_init_from_file
#
# cmake -D NM=nm -D ARCHIVE=libgguf_internal.a -D OUT=gguf.plain -P plain_names.cmake

execute_process(COMMAND ${NM} -P -g --defined-only ${ARCHIVE} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\ngufo_gguf_[A-Za-z0-9_]* T " names "\n${symbols}")
list(TRANSFORM names REPLACE "\ngufo_([^ ]+).*" "\\1")
list(FILTER names EXCLUDE REGEX "^gguf_(open_|get_arrays)") # gufo_gguf.h: ggml has none
list(SORT names)
list(TRANSFORM names REPLACE "(.+)" "--defsym=\\1=gufo_\\1")
list(JOIN names "\n" lines)
file(WRITE ${OUT} "${lines}\n")
