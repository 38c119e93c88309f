# SPDX-License-Identifier: Apache-2.0
# Compiles a module of the laboratory that is to spill registers, as CompileKernel.cmake does those that must not: the
# same ${IMAGE}.fatbin, .log, .d, .ptx and .ptx.gz. Fails where the compiler does, or where nothing spills.

separate_arguments(gencode UNIX_COMMAND "${GENCODE}")
set(command ${NVCC} -std=c++17 -O3 -allow-unsupported-compiler -D_GLIBCXX_BITS_SPECFUN_H -I${INCLUDE})
execute_process(
    COMMAND ${command} -Xptxas -v -fatbin -no-compress ${gencode}
            -Xcompiler -MD,-MF,${IMAGE}.d,-MT,${IMAGE}.fatbin -o ${IMAGE}.fatbin ${SOURCE}
    RESULT_VARIABLE result OUTPUT_VARIABLE log ERROR_VARIABLE log)
file(WRITE ${IMAGE}.log "${log}")
if(NOT result EQUAL 0 OR NOT log MATCHES "[1-9][0-9]* bytes spill stores")
    file(REMOVE ${IMAGE}.fatbin)
    message(FATAL_ERROR "module ${NAME}: nvcc failed, or no register spills\n${log}")
endif()
execute_process(COMMAND ${command} -ptx -arch=compute_80 -o ${IMAGE}.ptx ${SOURCE} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "module ${NAME}: nvcc failed on its PTX")
endif()
execute_process(COMMAND gzip -6 -n -f -k ${IMAGE}.ptx RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "gzip failed on ${IMAGE}.ptx")
endif()
