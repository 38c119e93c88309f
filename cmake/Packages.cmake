# SPDX-License-Identifier: Apache-2.0
# Packages by cpack: a .deb of each component that is installed, and a .tar.gz of all of them (docs/PACKAGES.md).

set(GM_PACKAGER "gristmill maintainers <maintainers@gristmill.example>" CACHE STRING
    "who maintains the packages: NAME <ADDRESS>")
get_target_property(gm_soversion gristmill_shared SOVERSION)
set(gm_templates ${PROJECT_SOURCE_DIR}/cmake/packages)
set(gm_package_files ${PROJECT_BINARY_DIR}/packages)

set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT ${GM_PACKAGER})
set(CPACK_PACKAGE_FILE_NAME ${PROJECT_NAME}-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON) # on the same version
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SOURCE ${PROJECT_NAME})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PROJECT_CONFIG_FILE ${gm_templates}/depends.cmake)

# Ours, and that of the packages, which Debian asks for.
string(TIMESTAMP gm_date "%a, %d %b %Y 00:00:00 +0000" UTC)
configure_file(${gm_templates}/changelog.in ${gm_package_files}/changelog @ONLY)
configure_file(CHANGELOG.md ${gm_package_files}/CHANGELOG.md COPYONLY)
execute_process(COMMAND gzip -9nc CHANGELOG.md OUTPUT_FILE changelog.gz WORKING_DIRECTORY ${gm_package_files})
execute_process(COMMAND gzip -9nc changelog OUTPUT_FILE changelog.Debian.gz WORKING_DIRECTORY ${gm_package_files})

# gm_package(COMPONENT NAME SECTION DEPENDS FILE DESCRIPTION). DEPENDS are components, FILE is what dpkg-shlibdeps reads.
macro(gm_package component name section depends file description)
    string(TOUPPER ${component} key)
    list(APPEND CPACK_COMPONENTS_ALL ${component})
    set(CPACK_COMPONENT_${key}_DEPENDS ${depends})
    set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name})
    set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section})
    set(CPACK_DEBIAN_${key}_DESCRIPTION "${description}")
    set(CPACK_GM_${key}_FILE "${file}")
    install(FILES ${gm_package_files}/changelog.gz ${gm_package_files}/changelog.Debian.gz ${gm_templates}/copyright
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

# By the SONAME, as Debian names libraries: what is linked with 0.2 keeps it beside 0.3.
set(gm_library libgristmill${gm_soversion})
set(gm_simulator libgristmill-sim${PROJECT_VERSION_MAJOR})
set(gm_tensors libgristmill-tensors${gm_soversion})
gm_package(library ${gm_library} libs "" ${PROJECT_BINARY_DIR}/libgristmill.so
"GPU kernels for NVIDIA Hopper and Ampere (library)
Kernels of what a language model's step is made of, GEMM and attention among
them, behind one C dispatch table. They are compiled ahead of time and loaded
by the CUDA driver, which is opened at run time.")
gm_package(development libgristmill-dev libdevel library ""
"GPU kernels for NVIDIA Hopper and Ampere (development)
Headers, the static library, and what pkg-config and CMake read.")
if(TARGET gristmill_sim)
    gm_package(simulator ${gm_simulator} libs library ${PROJECT_BINARY_DIR}/libgristmill-sim.so
"simulated NVIDIA GPU for gristmill
A driver without a GPU: it runs gristmill's kernels on the CPU and reports
missing fences and waits, wrong phases and deadlocks. Programs that link
gristmill use it with GM_DRIVER=sim in the environment.")
endif()
if(TARGET gristmill_tensors)
    gm_package(tensors ${gm_tensors} libs library ${PROJECT_BINARY_DIR}/libgristmill-tensors.so
"gristmill for PyTorch and tvm-ffi
The library's operations for tensors of frameworks: operators of PyTorch, by its
stable ABI, and functions of tvm-ffi. It needs neither to be installed.")
endif()
if(TARGET gristmill AND TARGET gristmill_sim)
    gm_package(tools gristmill-tools devel simulator ${PROJECT_BINARY_DIR}/gristmill
"benchmark, laboratory and explainers of gristmill
The program gristmill measures GPU kernels beside cuBLASLt, runs them on a
simulated GPU, and explains bank conflicts, swizzles and descriptors.")
endif()

# What dpkg-shlibdeps reads when a program is packaged that links a library: which package has it, and since which version
# it has each function. And the call of ldconfig.
file(GLOB lists CONFIGURE_DEPENDS tests/abi/symbols/*.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${lists})
set(gm_node GRISTMILL_${gm_soversion})
foreach(list IN LISTS lists)
    file(READ ${list} lines)
    string(REGEX REPLACE "([a-z0-9_]+) ([0-9.]+)\n" " \\1@${gm_node} \\2\n" lines "${lines}")
    string(APPEND gm_symbols "${lines}")
endforeach()
file(CONFIGURE OUTPUT ${gm_package_files}/symbols @ONLY CONTENT "libgristmill.so.${gm_soversion} ${gm_library} #MINVER#
 ${gm_node}@${gm_node} ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}.0\n${gm_symbols}")
file(CONFIGURE OUTPUT ${gm_package_files}/shlibs
    CONTENT "libgristmill ${gm_soversion} ${gm_library} (>= ${PROJECT_VERSION})\n")
file(CONFIGURE OUTPUT ${gm_package_files}/simulator/shlibs
    CONTENT "libgristmill-sim ${PROJECT_VERSION_MAJOR} ${gm_simulator} (>= ${PROJECT_VERSION})\n")
file(CONFIGURE OUTPUT ${gm_package_files}/tensors/shlibs
    CONTENT "libgristmill-tensors ${gm_soversion} ${gm_tensors} (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
    ${gm_package_files}/symbols ${gm_package_files}/shlibs ${gm_templates}/triggers)
set(CPACK_DEBIAN_SIMULATOR_PACKAGE_CONTROL_EXTRA ${gm_package_files}/simulator/shlibs ${gm_templates}/triggers)
set(CPACK_DEBIAN_TENSORS_PACKAGE_CONTROL_EXTRA ${gm_package_files}/tensors/shlibs ${gm_templates}/triggers)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS libcuda1)

install(FILES LICENSE cmake/packages/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)
include(CPack)
