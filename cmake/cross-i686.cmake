# Cross build for 32-bit x86: addresses of 32 bits, where large files cannot be mapped.  x86-64 runs
# the tests itself, other machines under qemu.
# Debian: gcc-i686-linux-gnu libc6-dev-i386-cross libcmocka-dev:i386
set(cross_processor i386)
set(cross_triplet i686-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/cross-debian.cmake)
# Debian's folder of libraries has a name of its own.
set(CMAKE_LIBRARY_PATH /usr/lib/i386-linux-gnu)
if(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL x86_64)
    unset(CMAKE_CROSSCOMPILING_EMULATOR)
endif()
