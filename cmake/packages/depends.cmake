# SPDX-License-Identifier: Apache-2.0
# Read by cpack before it makes packages: what each depends on besides our own, by dpkg-shlibdeps. With CPack's own call
# of it come scripts that run ldconfig, where a trigger does.

if(CPACK_GENERATOR STREQUAL "DEB")
    set(folder ${CPACK_PACKAGE_DIRECTORY}/_CPack_Packages/shlibdeps)
    file(WRITE ${folder}/debian/control "") # which dpkg-shlibdeps wants
    foreach(component IN LISTS CPACK_COMPONENTS_ALL)
        string(TOUPPER ${component} key)
        if(CPACK_GM_${key}_FILE)
            get_filename_component(build ${CPACK_GM_${key}_FILE} DIRECTORY)
            # Ours lie beside it, and are depended on by component.
            execute_process(COMMAND dpkg-shlibdeps -O -l${build} --ignore-missing-info ${CPACK_GM_${key}_FILE}
                WORKING_DIRECTORY ${folder}
                OUTPUT_VARIABLE depends ERROR_VARIABLE error RESULT_VARIABLE result OUTPUT_STRIP_TRAILING_WHITESPACE)
            if(NOT result EQUAL 0)
                message(FATAL_ERROR "dpkg-shlibdeps (of the package dpkg-dev): ${result} ${error}")
            endif()
            string(REGEX REPLACE "^.*Depends=" "" CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${depends}")
        endif()
    endforeach()
endif()
