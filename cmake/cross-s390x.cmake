# Cross build for s390x, a big-endian machine; tests run under qemu.
# Debian: gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user libcmocka-dev:s390x
set(cross_processor s390x)
set(cross_triplet s390x-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/cross-debian.cmake)
