# SPDX-License-Identifier: Apache-2.0
# Lets the shared libraries load on systems whose C library is older than the build machine's.
#
# A linker binds a symbol to the newest version that the build machine has: dlopen to GLIBC_2.34, pow to GLIBC_2.29. The
# old versions are still there, and compute the same, but for the sign of a NaN (log2 of a negative number). A stub
# library that has nothing else makes the linker take them. It also names the library that had the symbol before 2.34,
# which newer systems keep for such programs. The linker reads one library of a name: a stub must have all symbols of its
# own that ours use. What else they need is older anyway; tools/build_wheel.py reads what that is.

include(CheckCSourceCompiles)
check_c_source_compiles("#include <features.h>
    #if !__GLIBC_PREREQ(2, 34)
    #error
    #endif
    int main(void) { return 0; }" GM_HAVE_NEW_GLIBC)
option(GM_OLD_GLIBC "let the shared libraries load on older systems, where the C library is glibc" ON)

set(gm_stub_libdl.so.2 dlopen dlsym dlclose dlerror dladdr)
set(gm_stub_libpthread.so.0 pthread_once pthread_create pthread_join pthread_key_create pthread_key_delete
    pthread_getspecific pthread_setspecific pthread_mutexattr_init pthread_mutexattr_settype pthread_mutexattr_destroy)
set(gm_stub_libm.so.6)
foreach(function acos asin atan atan2 cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor fma fmax fmin fmod hypot llrint
        llround log log10 log1p log2 lrint lround nearbyint pow remainder rint round sin sinh sqrt tan tanh trunc)
    list(APPEND gm_stub_libm.so.6 ${function} ${function}f)
endforeach()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    set(gm_first_glibc GLIBC_2.2.5)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
    set(gm_first_glibc GLIBC_2.17)
endif()
set(gm_stubs)
if(GM_OLD_GLIBC AND GM_HAVE_NEW_GLIBC AND gm_first_glibc AND NOT GM_SANITIZE) # a sanitizer has functions of its own
    foreach(library libdl.so.2 libpthread.so.0 libm.so.6)
        set(stub ${GM_GENERATED_DIR}/${library}.stub) # not .so: nobody is to find it when a program runs
        string(REPLACE ";" "; " exported "${gm_stub_${library}}")
        file(CONFIGURE OUTPUT ${stub}.map CONTENT "${gm_first_glibc} { ${exported}; };\n" @ONLY)
        set(code "${gm_no_stack}.text\n")
        foreach(symbol IN LISTS gm_stub_${library})
            string(APPEND code ".globl ${symbol}\n.type ${symbol}, %function\n${symbol}:\n.byte 0\n.size ${symbol}, 1\n")
        endforeach()
        file(CONFIGURE OUTPUT ${stub}.s CONTENT "${code}" @ONLY)
        add_custom_command(OUTPUT ${stub} DEPENDS ${stub}.s ${stub}.map VERBATIM
            COMMAND ${CMAKE_C_COMPILER} -shared -nostdlib -Wl,-soname,${library} -Wl,--version-script=${stub}.map
                -o ${stub} ${stub}.s)
        list(APPEND gm_stubs ${stub})
    endforeach()
endif()
add_custom_target(gm_glibc_stubs DEPENDS ${gm_stubs})

# gm_link_old_glibc(TARGET): before what else it links.
function(gm_link_old_glibc target)
    add_dependencies(${target} gm_glibc_stubs)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${gm_stubs})
    target_link_libraries(${target} PRIVATE ${gm_stubs})
endfunction()
