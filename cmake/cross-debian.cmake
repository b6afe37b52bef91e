# What the cross builds share: Debian's cross compiler, libraries of the other machine by multiarch.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${cross_processor})
set(CMAKE_C_COMPILER ${cross_triplet}-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${cross_processor})
# Libraries of the other machine only, never this one's.
set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)
set(CMAKE_LIBRARY_PATH /usr/lib/${cross_triplet})
set(CMAKE_INCLUDE_PATH /usr/include)
