# WebAssembly, for the page in web/: Debian's clang with wasi-libc.
# Debian: clang lld llvm wasi-libc libclang-rt-dev-wasm32
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR llvm-ar CACHE FILEPATH "")
set(CMAKE_RANLIB llvm-ranlib CACHE FILEPATH "")
# Debian's clang looks into /usr/include for every machine, and would find what wasi-libc does not have.
set(CMAKE_C_FLAGS_INIT "-nostdlibinc -isystem /usr/include/wasm32-wasi -Wno-unused-command-line-argument")
# Small rather than fast.
set(CMAKE_C_FLAGS_RELEASE "-Oz -DNDEBUG" CACHE STRING "")
# A program that the page calls, without main.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-mexec-model=reactor")
set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)
set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "") # nothing is installed
set(GUFO_THREADS OFF CACHE BOOL "" FORCE)
set(GUFO_SYSTEM none CACHE STRING "" FORCE)
set(GUFO_MINIMAL ON CACHE BOOL "" FORCE)
set(GUFO_LIBRARIES OFF CACHE BOOL "" FORCE)
