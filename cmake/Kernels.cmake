# SPDX-License-Identifier: Apache-2.0
# The only reader of the registry: rows of src/kernels.def -> one fatbin each -> images.S, kernel_resources.inc, and one
# PTX file each -> sim_kernels.S, sim_kernels.def.
#
# Makes the targets gm_images (object library: the images), gm_sim_kernels (object library: their PTX, for the
# simulator) and gm_generated (the headers src/host/table.c reads, with their include directory).

include(${CMAKE_CURRENT_LIST_DIR}/FindToolkit.cmake)

set(gm_kernels_def ${PROJECT_SOURCE_DIR}/src/kernels.def)
set(gm_families_def ${PROJECT_SOURCE_DIR}/src/families.def)
set(gm_tile_h ${PROJECT_SOURCE_DIR}/src/common/tile.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${gm_kernels_def} ${gm_families_def} ${gm_tile_h})

set(GM_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
set(GM_KERNEL_DIR ${PROJECT_BINARY_DIR}/kernels)
file(MAKE_DIRECTORY ${GM_GENERATED_DIR} ${GM_KERNEL_DIR})

# The map of architectures: a registry arch -> its name in GM_ARCHS, its -gencode options, its targets. The first
# target is the one whose registers the table shows.
set(gm_archs sm80 sm90)
set(gm_option_sm80 80)
set(gm_gencode_sm80 "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_80,code=compute_80 \
-gencode arch=compute_90,code=sm_90")
set(gm_targets_sm80 "sm_80 sm_90 compute_80")
set(gm_option_sm90 90a)
set(gm_gencode_sm90 "-gencode arch=compute_90a,code=sm_90a")
set(gm_targets_sm90 "sm_90a")

foreach(option IN LISTS GM_ARCHS)
    if(NOT option MATCHES "^(80|90a)$")
        message(FATAL_ERROR "GM_ARCHS has '${option}'; it is a list of 80 (the sm80 rows) and 90a (the sm90 rows)")
    endif()
endforeach()

set(gm_columns family arch state type layout tile_m tile_n tile_k stages cluster_m cluster_n warps smem_map)

# A token column is legal when tile.h turns it into a number: GM_<PREFIX>_<token>.
function(gm_check_token row column prefix token)
    file(STRINGS ${gm_tile_h} definition REGEX "^#define GM_${prefix}_${token} ")
    if(NOT definition)
        message(FATAL_ERROR "src/kernels.def: unknown ${column} '${token}' (src/common/tile.h has no "
                            "GM_${prefix}_${token}) in\n  ${row}")
    endif()
endfunction()

# One row -> variables of the caller named as the columns, and `name`.
macro(gm_parse_row row)
    if(NOT "${row}" MATCHES "^KERNEL\\(([a-z0-9_]+(, [a-z0-9_]+)*)\\)$")
        message(FATAL_ERROR "src/kernels.def: a row is one line of literals, 'KERNEL(a, b, ...)', with nothing "
                            "after it:\n  ${row}")
    endif()
    string(REPLACE ", " ";" gm_values "${CMAKE_MATCH_1}")
    list(LENGTH gm_values gm_have)
    list(LENGTH gm_columns gm_want)
    if(NOT gm_have EQUAL gm_want)
        message(FATAL_ERROR "src/kernels.def: ${gm_have} columns instead of ${gm_want} in\n  ${row}")
    endif()
    foreach(column value IN ZIP_LISTS gm_columns gm_values)
        set(${column} "${value}")
    endforeach()
    if(NOT family IN_LIST gm_families)
        message(FATAL_ERROR "src/kernels.def: family '${family}' is not in src/families.def:\n  ${row}")
    endif()
    if(NOT arch IN_LIST gm_archs)
        message(FATAL_ERROR "src/kernels.def: unknown arch '${arch}' (one of ${gm_archs}) in\n  ${row}")
    endif()
    if(NOT state MATCHES "^(prod|test)$")
        message(FATAL_ERROR "src/kernels.def: state '${state}' is neither prod nor test in\n  ${row}")
    endif()
    foreach(column tile_m tile_n tile_k stages cluster_m cluster_n)
        if(NOT ${column} MATCHES "^[1-9][0-9]*$")
            message(FATAL_ERROR "src/kernels.def: ${column} '${${column}}' is not a positive number in\n  ${row}")
        endif()
    endforeach()
    gm_check_token("${row}" type TYPE ${type})
    gm_check_token("${row}" layout LAYOUT ${layout})
    gm_check_token("${row}" warps WARPS ${warps})
    gm_check_token("${row}" smem_map MAP ${smem_map})
    set(name ${family}_${arch}_${type}_${layout}_${tile_m}x${tile_n}x${tile_k}_s${stages})
    string(APPEND name _c${cluster_m}x${cluster_n}_${warps}_${smem_map})
endmacro()

# One row -> the rule that builds kernels/<name>.fatbin, <name>.log and <name>.ptx.gz.
function(gm_add_image name)
    set(defines GM_KERNEL_NAME=${name} GM_TYPE=GM_TYPE_${type} GM_LAYOUT=GM_LAYOUT_${layout} GM_TILE_M=${tile_m}
        GM_TILE_N=${tile_n} GM_TILE_K=${tile_k} GM_STAGES=${stages} GM_CLUSTER_M=${cluster_m}
        GM_CLUSTER_N=${cluster_n} GM_WARPS=GM_WARPS_${warps} GM_SMEM_MAP=GM_MAP_${smem_map})
    list(TRANSFORM defines PREPEND -D)
    list(JOIN defines " " defines)
    set(source ${PROJECT_SOURCE_DIR}/src/${arch}/${family}.cu)
    set(image ${GM_KERNEL_DIR}/${name})
    add_custom_command(
        OUTPUT ${image}.fatbin ${image}.log ${image}.ptx ${image}.ptx.gz
        COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DNVCC=${GM_TOOLKIT_NVCC} -DTOOLKIT=${GM_TOOLKIT_VERSION}
                -DSOURCE=${source} -DIMAGE=${image} -DINCLUDE=${PROJECT_SOURCE_DIR}/src
                "-DGENCODE=${gm_gencode_${arch}}" "-DDEFINES=${defines}"
                -P ${PROJECT_SOURCE_DIR}/cmake/CompileKernel.cmake
        DEPENDS ${source} ${PROJECT_SOURCE_DIR}/cmake/CompileKernel.cmake
        DEPFILE ${image}.d
        COMMENT "Kernel ${name}"
        VERBATIM)
endfunction()

# ---- families ---------------------------------------------------------------------------------------

set(gm_families)
file(STRINGS ${gm_families_def} gm_lines REGEX "^ *FAMILY")
foreach(row IN LISTS gm_lines)
    if(NOT row MATCHES "^FAMILY\\(([a-z0-9_]+), \"[^\"]+\"\\)$")
        message(FATAL_ERROR "src/families.def: a row is FAMILY(name, \"what one call computes\"):\n  ${row}")
    endif()
    set(family ${CMAKE_MATCH_1})
    foreach(arch IN LISTS gm_archs)
        if(NOT EXISTS ${PROJECT_SOURCE_DIR}/src/${arch}/${family}.cu)
            message(FATAL_ERROR "src/families.def: create src/${arch}/${family}.cu, which\n  ${row}\npromises")
        endif()
    endforeach()
    list(APPEND gm_families ${family})
endforeach()

# ---- rows -------------------------------------------------------------------------------------------

set(gm_names)
set(gm_images)
set(gm_logs)
set(gm_ptx)
set(gm_table "/* Generated from src/kernels.def: the rows of the architectures this build holds (GM_ARCHS). */\n")
set(gm_assembly "/* Generated by cmake/Kernels.cmake: the images, as bytes between two symbols each. */\n")
string(CONCAT gm_image_macro "#define IMAGE(name, file) \\\n"
    "    .balign 64; .globl gm_image_##name; .hidden gm_image_##name; .type gm_image_##name, %object; \\\n"
    "    .globl gm_image_##name##_end; .hidden gm_image_##name##_end; \\\n"
    "    gm_image_##name: .incbin file; gm_image_##name##_end: .byte 0\n"
    "    .section .rodata\n")
string(APPEND gm_assembly "${gm_image_macro}")
set(gm_ptx_table "/* Generated by cmake/Kernels.cmake: PTX(symbol), the compressed PTX of every row. */\n")
set(gm_ptx_assembly "/* Generated by cmake/Kernels.cmake: the rows' PTX, compressed. */\n${gm_image_macro}")

file(STRINGS ${gm_kernels_def} gm_lines REGEX "^ *KERNEL")
foreach(row IN LISTS gm_lines)
    gm_parse_row("${row}")
    if(name IN_LIST gm_names)
        message(FATAL_ERROR "src/kernels.def: the second row named ${name}:\n  ${row}")
    endif()
    list(APPEND gm_names ${name})
    if(NOT gm_option_${arch} IN_LIST GM_ARCHS OR NOT name MATCHES "${GM_ROWS}")
        continue()
    endif()
    gm_add_image(${name})
    list(APPEND gm_images ${GM_KERNEL_DIR}/${name}.fatbin)
    list(APPEND gm_logs ${GM_KERNEL_DIR}/${name}.log)
    string(APPEND gm_table "${row}\n")
    string(APPEND gm_assembly "IMAGE(${name}, \"${GM_KERNEL_DIR}/${name}.fatbin\")\n")
    list(APPEND gm_ptx ${GM_KERNEL_DIR}/${name}.ptx.gz)
    string(APPEND gm_ptx_table "PTX(ptx_${name})\n")
    string(APPEND gm_ptx_assembly "IMAGE(ptx_${name}, \"${GM_KERNEL_DIR}/${name}.ptx.gz\")\n")
endforeach()
if(NOT gm_images)
    message(FATAL_ERROR "no kernel to build: no row of src/kernels.def is of GM_ARCHS '${GM_ARCHS}' and matches "
                        "GM_ROWS '${GM_ROWS}'")
endif()
foreach(family IN LISTS gm_families)
    if(NOT gm_names MATCHES "(^|;)${family}_")
        message(FATAL_ERROR "src/families.def: family '${family}' has no row in src/kernels.def")
    endif()
endforeach()

# ---- generated files --------------------------------------------------------------------------------

set(gm_no_stack "    .section .note.GNU-stack, \"\", %progbits\n")
string(APPEND gm_assembly "${gm_no_stack}")
string(APPEND gm_ptx_assembly "${gm_no_stack}")
file(CONFIGURE OUTPUT ${GM_GENERATED_DIR}/kernels.def CONTENT "${gm_table}" @ONLY)
file(CONFIGURE OUTPUT ${GM_GENERATED_DIR}/images.S CONTENT "${gm_assembly}" @ONLY)
# The assembler's dependency scan does not see .incbin.
set_source_files_properties(${GM_GENERATED_DIR}/images.S PROPERTIES OBJECT_DEPENDS "${gm_images}")
add_library(gm_images OBJECT ${GM_GENERATED_DIR}/images.S)

file(CONFIGURE OUTPUT ${GM_GENERATED_DIR}/sim_kernels.def CONTENT "${gm_ptx_table}" @ONLY)
file(CONFIGURE OUTPUT ${GM_GENERATED_DIR}/sim_kernels.S CONTENT "${gm_ptx_assembly}" @ONLY)
set_source_files_properties(${GM_GENERATED_DIR}/sim_kernels.S PROPERTIES OBJECT_DEPENDS "${gm_ptx}")
add_library(gm_sim_kernels OBJECT EXCLUDE_FROM_ALL ${GM_GENERATED_DIR}/sim_kernels.S)
add_dependencies(gm_sim_kernels gm_images) # one target runs the rules of the rows

list(JOIN gm_logs "\n" gm_log_list)
file(CONFIGURE OUTPUT ${GM_KERNEL_DIR}/logs.txt CONTENT "${gm_log_list}\n" @ONLY)
add_custom_command(
    OUTPUT ${GM_GENERATED_DIR}/kernel_resources.inc
    COMMAND ${CMAKE_COMMAND} -DLOGS=${GM_KERNEL_DIR}/logs.txt -DOUTPUT=${GM_GENERATED_DIR}/kernel_resources.inc
            -P ${PROJECT_SOURCE_DIR}/cmake/Resources.cmake
    DEPENDS ${gm_logs} ${GM_KERNEL_DIR}/logs.txt ${PROJECT_SOURCE_DIR}/cmake/Resources.cmake
    COMMENT "Registers and spills of every kernel"
    VERBATIM)

# The revision can change with no file of the build changing, so this runs every time and writes on a change only.
set(gm_targets)
foreach(arch IN LISTS gm_archs)
    if(gm_option_${arch} IN_LIST GM_ARCHS)
        string(REPLACE " " ";" gm_arch_targets "${gm_targets_${arch}}")
        list(APPEND gm_targets ${gm_arch_targets})
    endif()
endforeach()
list(JOIN gm_targets " " gm_targets)
add_custom_target(gm_build_info
    COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${GM_GENERATED_DIR}/build_info.h
            -DTOOLKIT=${GM_TOOLKIT_VERSION} "-DTARGETS=${gm_targets}" -P ${PROJECT_SOURCE_DIR}/cmake/BuildInfo.cmake
    BYPRODUCTS ${GM_GENERATED_DIR}/build_info.h
    COMMENT "build_info.h"
    VERBATIM)

add_custom_target(gm_generated_files DEPENDS ${GM_GENERATED_DIR}/kernel_resources.inc)
add_dependencies(gm_generated_files gm_build_info gm_images) # one target runs the rules of the rows, in make too
add_library(gm_generated INTERFACE)
add_dependencies(gm_generated gm_generated_files)
target_include_directories(gm_generated INTERFACE ${GM_GENERATED_DIR})
