# Files that are in a program: gufo_embed(HEADER NAME file [NAME file]...) writes BUILD/embedded/HEADER with an array of
# bytes for each.

function(gufo_embed header)
    set(arrays "")
    set(rest ${ARGN})
    while(rest)
        list(POP_FRONT rest name file)
        file(READ ${PROJECT_SOURCE_DIR}/${file} bytes HEX)
        string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
        string(APPEND arrays "static const unsigned char ${name}[] = {${bytes}};\n")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    endwhile()
    file(CONFIGURE OUTPUT embedded/${header} CONTENT "${arrays}" @ONLY)
endfunction()
