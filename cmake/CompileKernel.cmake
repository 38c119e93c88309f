# SPDX-License-Identifier: Apache-2.0
# Compiles one registry row to ${IMAGE}.fatbin, with ptxas's report in ${IMAGE}.log and the headers it read in
# ${IMAGE}.d. Fails, naming the row, where the compiler does, or says that it serialised wgmma or ignored setmaxnreg
# (any message C75xx), or spilled registers.

separate_arguments(gencode UNIX_COMMAND "${GENCODE}")
separate_arguments(defines UNIX_COMMAND "${DEFINES}")
# The host compiler only preprocesses device code, so any version of it will do.
execute_process(
    COMMAND ${NVCC} -std=c++17 -O3 -allow-unsupported-compiler -Xptxas -v -fatbin -Xfatbin=-compress-all ${gencode}
            ${defines} -I${INCLUDE} -MD -MF ${IMAGE}.d -MT ${IMAGE}.fatbin -o ${IMAGE}.fatbin ${SOURCE}
    RESULT_VARIABLE result OUTPUT_VARIABLE log ERROR_VARIABLE log)
file(WRITE ${IMAGE}.log "${log}")

function(fail why)
    file(REMOVE ${IMAGE}.fatbin)
    message(NOTICE "${log}")
    message(FATAL_ERROR "kernel ${NAME}: ${why}")
endfunction()

if(NOT result EQUAL 0)
    fail("nvcc failed")
endif()
if(log MATCHES "C75[0-9][0-9]")
    fail("ptxas says ${CMAKE_MATCH_0}: wgmma is serialised or setmaxnreg ignored")
endif()
if(log MATCHES "[1-9][0-9]* bytes spill (stores|loads)")
    fail("registers spill")
endif()
