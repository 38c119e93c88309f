# SPDX-License-Identifier: Apache-2.0
# Compiles one registry row to ${IMAGE}.fatbin, with ptxas's report in ${IMAGE}.log, the headers it read in ${IMAGE}.d,
# and the PTX that the compilation went through in ${IMAGE}.ptx and, for the simulator to embed, ${IMAGE}.ptx.gz. Fails,
# naming the row, where the compiler does, or warns, or says that it serialised wgmma or ignored setmaxnreg (any message
# C75xx), or spilled registers.

separate_arguments(gencode UNIX_COMMAND "${GENCODE}")
separate_arguments(defines UNIX_COMMAND "${DEFINES}")
# nvcc's intermediate files: keeping them changes no byte of the image.
set(scratch ${IMAGE}.keep)
file(REMOVE_RECURSE ${scratch})
file(MAKE_DIRECTORY ${scratch})
# The host compiler only preprocesses device code, so any version of it will do. It writes what it included as it does so:
# nvcc's own -MD has it preprocess once more. CUDA's headers include <cmath>; of libstdc++ that drags in the special
# functions, a fifth of all text, which is left out.
execute_process(
    COMMAND ${NVCC} -std=c++17 -O3 -allow-unsupported-compiler -Xptxas -v -fatbin -no-compress ${gencode}
            ${defines} -D_GLIBCXX_BITS_SPECFUN_H -I${INCLUDE} -Xcompiler -MD,-MF,${IMAGE}.d,-MT,${IMAGE}.fatbin
            --keep --keep-dir ${scratch} -o ${IMAGE}.fatbin ${SOURCE}
    RESULT_VARIABLE result OUTPUT_VARIABLE log ERROR_VARIABLE log)
file(WRITE ${IMAGE}.log "${log}")

function(fail why)
    file(REMOVE ${IMAGE}.fatbin)
    file(REMOVE_RECURSE ${scratch})
    message(NOTICE "${log}")
    message(FATAL_ERROR "kernel ${NAME}: ${why}")
endfunction()

if(NOT result EQUAL 0)
    fail("nvcc failed")
endif()
if(log MATCHES "warning")
    fail("nvcc warns")
endif()
if(log MATCHES "C75[0-9][0-9]")
    fail("ptxas says ${CMAKE_MATCH_0}: wgmma is serialised or setmaxnreg ignored")
endif()
if(log MATCHES "[1-9][0-9]* bytes spill (stores|loads)")
    fail("registers spill")
endif()

# Of gemm.compute_80.ptx and gemm.compute_90.ptx the lower. Hand-written PTX goes through none but itself.
file(GLOB ptx ${scratch}/*.ptx)
if(NOT ptx)
    set(ptx ${SOURCE})
endif()
list(GET ptx 0 ptx)
file(COPY_FILE ${ptx} ${IMAGE}.ptx)
file(REMOVE_RECURSE ${scratch})
# Not file(ARCHIVE_CREATE): it writes the time into the file.
execute_process(COMMAND gzip -6 -n -f -k ${IMAGE}.ptx RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    fail("gzip failed on ${IMAGE}.ptx")
endif()
