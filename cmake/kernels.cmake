# The kernels of the codec: src/codec/kernels/*.c, compiled once per processor level.
#
# Sets kernel_libraries, and kernel_definitions that tell the rest of the library which levels there
# are.

file(GLOB kernel_sources CONFIGURE_DEPENDS src/codec/kernels/*.c)
set(kernel_libraries "")
set(kernel_definitions "")

# Checks of undefined behaviour make the largest kernels twenty times slower to compile.  Only plain C
# has them, which is made from the same source, and of pointers only where they point to.  gcc needs a
# quarter of the time if it asks by calls.  Plain C alone counts for the fuzzer.  (Libraries, because options
# come in the order of these.)
add_library(gufo_unchecked INTERFACE)
target_compile_options(gufo_unchecked INTERFACE -fno-sanitize=undefined)
add_library(gufo_checks_portable INTERFACE)
target_compile_options(gufo_checks_portable INTERFACE
    -fno-sanitize=null,alignment,pointer-overflow,object-size)
set(sanitized_kernel_options -O1)
if(GUFO_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND sanitized_kernel_options --param=asan-instrumentation-with-call-threshold=0)
endif()

# add_kernels(LEVEL OPTION...): LEVEL is the suffix of the functions' names.
function(add_kernels level)
    string(TOUPPER ${level} upper)
    add_library(gufo_kernels_${level} OBJECT ${kernel_sources})
    set_target_properties(gufo_kernels_${level} PROPERTIES POSITION_INDEPENDENT_CODE ${GUFO_PIC})
    target_include_directories(gufo_kernels_${level} PRIVATE include src)
    target_link_libraries(gufo_kernels_${level} PRIVATE gufo_flags)
    target_compile_definitions(gufo_kernels_${level} PRIVATE
        GUFO_KERNELS=${level} GUFO_KERNELS_${upper})
    # gcc leaves short loops over the elements of a group alone at -O2; math functions set no errno
    # here that anybody reads, and without it a square root is one instruction.
    target_compile_options(gufo_kernels_${level} PRIVATE ${ARGN} -fno-math-errno
        $<$<C_COMPILER_ID:GNU>:-fpeel-loops>)
    if(GUFO_SANITIZE)
        target_compile_options(gufo_kernels_${level} PRIVATE ${sanitized_kernel_options})
        if(level STREQUAL portable)
            target_link_libraries(gufo_kernels_${level} PRIVATE gufo_checks_portable)
        else()
            target_link_libraries(gufo_kernels_${level} PRIVATE gufo_unchecked)
            set_target_properties(gufo_kernels_${level} PROPERTIES GUFO_NOT_COUNTED ON)
        endif()
    endif()
    target_compile_options(gufo_kernels_${level} PRIVATE ${GUFO_KERNEL_FLAGS})
    list(APPEND kernel_libraries gufo_kernels_${level})
    set(kernel_libraries ${kernel_libraries} PARENT_SCOPE)
endfunction()

# Seen by the compiler, not by the name of the machine: a 32-bit build on a 64-bit one has none.
include(CheckCSourceCompiles)
check_c_source_compiles("#ifndef __x86_64__\n#error\n#endif\nint main(void) { return 0; }"
    GUFO_X86_64)
check_c_source_compiles("#if !defined(__aarch64__) || !defined(__AARCH64EL__)\n#error\n#endif
int main(void) { return 0; }" GUFO_AARCH64)

add_kernels(portable)
if(NOT GUFO_VECTOR_KERNELS)
    message(STATUS "codec: plain C only")
elseif(GUFO_X86_64)
    # -O2 also where everything else is built with less (python/setup.py).
    set(vector_optimization $<$<CONFIG:Release>:-O2>)
    add_kernels(avx2 ${vector_optimization} -mavx2 -mfma -mf16c)
    # Without optimisation gcc's intrinsics are macros, and these warn.
    add_kernels(avx512 ${vector_optimization} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mf16c -mprefer-vector-width=512
        -Wno-sign-conversion)
    list(APPEND kernel_definitions GUFO_HAVE_X86_KERNELS)
elseif(GUFO_AARCH64)
    add_kernels(neon)
    list(APPEND kernel_definitions GUFO_HAVE_NEON_KERNELS)
endif()
