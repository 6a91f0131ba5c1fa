# Targets of dlbench: one static library per folder, each public header compiled alone, one test
# binary per unit.

add_library(dlbench_options INTERFACE)
target_compile_features(dlbench_options INTERFACE cxx_std_20)
target_include_directories(dlbench_options INTERFACE "${PROJECT_SOURCE_DIR}/src")
target_compile_options(dlbench_options INTERFACE
  -Wall -Wextra -Wshadow -Wold-style-cast -Wconversion -Wformat=2 -Wsuggest-override
  -Wimplicit-fallthrough -Wnon-virtual-dtor -pedantic
  # g++ 12 sees null pointers in std::vector, and overlapping copies in std::string (GCC bug 105651),
  # where there are none; clang does not.
  $<$<CXX_COMPILER_ID:Clang>:-Wnull-dereference>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${DLBENCH_WERROR}>:-Werror>)
target_compile_definitions(dlbench_options INTERFACE
  DLBENCH_VERSION="${PROJECT_VERSION}")
if(DLBENCH_SANITIZE)
  target_compile_options(dlbench_options INTERFACE -fsanitize=${DLBENCH_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(dlbench_options INTERFACE -fsanitize=${DLBENCH_SANITIZE})
endif()
if(DLBENCH_FUZZ)
  target_compile_options(dlbench_options INTERFACE -fsanitize=fuzzer-no-link,address)
  target_link_options(dlbench_options INTERFACE -fsanitize=address)
endif()

# Third-party headers must not raise our warnings.
function(dlbench_system_includes target)
  foreach(dependency IN LISTS ARGN)
    get_target_property(includes ${dependency} INTERFACE_INCLUDE_DIRECTORIES)
    if(includes)
      target_include_directories(${target} SYSTEM PRIVATE ${includes})
    endif()
  endforeach()
endfunction()

# dlbench_library(NAME SOURCES a.cc ... [DEPENDS part ...] [LINKS imported ...])
# makes dlbench_NAME from the calling folder. DEPENDS names other parts; a header of a part that is not
# named cannot be linked, and the parts are added in one direction (CMakeLists.txt).
function(dlbench_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINKS" ${ARGN})
  foreach(part IN LISTS ARG_DEPENDS)
    if(NOT TARGET dlbench_${part})
      message(FATAL_ERROR "dlbench_${name} may not depend on dlbench_${part}: it comes later (see CMakeLists.txt)")
    endif()
  endforeach()
  add_library(dlbench_${name} STATIC ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPENDS PREPEND dlbench_)
  target_link_libraries(dlbench_${name} PUBLIC dlbench_options ${ARG_DEPENDS} PRIVATE ${ARG_LINKS})

  # Include checks: a source may name only headers of its own part and of the parts it depends on.
  add_custom_command(TARGET dlbench_${name} PRE_LINK
    COMMAND "${PROJECT_SOURCE_DIR}/tools/check_includes.sh" "${CMAKE_CURRENT_SOURCE_DIR}" ${name} ${ARG_DEPENDS}
    VERBATIM)

  file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.h")
  set(checks "")
  foreach(header IN LISTS headers)
    get_filename_component(stem "${header}" NAME_WE)
    set(check "${CMAKE_CURRENT_BINARY_DIR}/header_check/${stem}.cc")
    file(CONFIGURE OUTPUT "${check}" CONTENT "#include \"${name}/${stem}.h\"\n")
    list(APPEND checks "${check}")
  endforeach()
  if(checks)
    add_library(header_check_${name} OBJECT EXCLUDE_FROM_ALL ${checks})
    target_link_libraries(header_check_${name} PRIVATE dlbench_${name} ${ARG_LINKS})
    if(NOT TARGET header_check)
      add_custom_target(header_check)
    endif()
    add_dependencies(header_check header_check_${name})
  endif()
endfunction()

# dlbench_test(NAME SOURCES a_test.cc ... DEPENDS part ... [LINKS ...] [LABELS unit] [TIMEOUT 300])
function(dlbench_test name)
  cmake_parse_arguments(ARG "" "LABELS;TIMEOUT" "SOURCES;DEPENDS;LINKS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  list(TRANSFORM ARG_DEPENDS PREPEND dlbench_)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} ${ARG_LINKS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    DLBENCH_SOURCE_DIR="${PROJECT_SOURCE_DIR}" DLBENCH_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "${ARG_ENVIRONMENT}")
endfunction()

# dlbench_fuzz(NAME SOURCES a_fuzz.cc DEPENDS part ...): only with DLBENCH_FUZZ.
function(dlbench_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINKS" ${ARGN})
  list(TRANSFORM ARG_DEPENDS PREPEND dlbench_)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} ${ARG_LINKS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer,address)
endfunction()
