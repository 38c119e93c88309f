# SPDX-License-Identifier: Apache-2.0
# Finds nvcc -> GM_TOOLKIT_NVCC, GM_TOOLKIT_VERSION ("13.0.88"), GM_TOOLKIT_ROOT. Refuses what is older than 12.3.

set(gm_hints $ENV{CUDA_HOME} $ENV{CUDA_PATH})
if(GM_NVCC)
    set(GM_TOOLKIT_NVCC ${GM_NVCC})
else()
    unset(GM_TOOLKIT_NVCC)
    find_program(GM_TOOLKIT_NVCC nvcc HINTS ${gm_hints} PATHS /usr/local/cuda PATH_SUFFIXES bin NO_CACHE)
endif()
if(NOT GM_TOOLKIT_NVCC OR NOT EXISTS ${GM_TOOLKIT_NVCC})
    message(FATAL_ERROR "No CUDA toolkit: nvcc is neither in CUDA_HOME, CUDA_PATH, PATH nor /usr/local/cuda. "
                        "Set CUDA_HOME or -DGM_NVCC=..., or run scripts/test.sh, which fetches one as pip wheels.")
endif()

execute_process(COMMAND ${GM_TOOLKIT_NVCC} --version OUTPUT_VARIABLE gm_version ERROR_VARIABLE gm_version)
if(NOT gm_version MATCHES "V([0-9]+\\.[0-9]+\\.[0-9]+)")
    message(FATAL_ERROR "${GM_TOOLKIT_NVCC} --version says no version: ${gm_version}")
endif()
set(GM_TOOLKIT_VERSION ${CMAKE_MATCH_1})
if(GM_TOOLKIT_VERSION VERSION_LESS 12.3)
    message(FATAL_ERROR "${GM_TOOLKIT_NVCC} is CUDA ${GM_TOOLKIT_VERSION}; gristmill needs 12.3 or newer")
endif()
get_filename_component(GM_TOOLKIT_ROOT ${GM_TOOLKIT_NVCC} REALPATH)
get_filename_component(GM_TOOLKIT_ROOT ${GM_TOOLKIT_ROOT}/../.. ABSOLUTE)
message(STATUS "CUDA toolkit ${GM_TOOLKIT_VERSION}: ${GM_TOOLKIT_NVCC}")
