# Cross build for 64-bit ARM; tests run under qemu.
# Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user libcmocka-dev:arm64
set(cross_processor aarch64)
set(cross_triplet aarch64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/cross-debian.cmake)
