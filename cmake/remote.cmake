# The room remote: libgufo_remote, static and shared, with libcurl and libcrypto: models on other
# machines.
#
# Sets command_sources to what the command needs, remote_libraries for it to link, and remote_definitions.

set(remote_libraries "")
set(remote_definitions "")
if(NOT GUFO_FULL)
    list(FILTER command_sources EXCLUDE REGEX "/cli/remote/(fetch|ollama)(_[a-z]+)?\\.c$|/core/files/remote\\.c$")
else()
    list(FILTER command_sources EXCLUDE REGEX "/remote_missing\\.c$")
endif()
if(NOT GUFO_REMOTE)
    return()
endif()

gufo_room(remote NEEDS gufo_library::curl gufo_library::crypto)
gufo_forms(gufo_remote OBJECTS gufo_remote_objects HEADER include/gufo/remote.h
    NEEDS gufo_library::curl gufo_library::crypto PUBLIC gufo)

if(GUFO_FULL)
    set(remote_libraries gufo_remote_internal)
    set(remote_definitions GUFO_HAS_REMOTE)
endif()
