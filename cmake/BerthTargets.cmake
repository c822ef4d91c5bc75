# What most files take in, compiled once for all libraries that take the same: `std` for all, `core` where most files reason over a snapshot, `json`
# where most take in nlohmann's json. What a file doesn't use costs it all the same, half a second where it is json.
set(BERTH_STD_HEADERS <algorithm> <chrono> <functional> <map> <memory> <optional> <set> <string> <string_view> <utility> <variant>
                      <vector> <fmt/format.h>)
set(BERTH_CORE_HEADERS ${BERTH_STD_HEADERS} <controller/core/snapshot.h> <controller/core/plan.h>)
set(BERTH_JSON_HEADERS ${BERTH_STD_HEADERS} <nlohmann/json.hpp>)
set(BERTH_STD_OWNER berth_apis)
set(BERTH_CORE_OWNER berth_core)
set(BERTH_JSON_OWNER berth_sim)
# Where nothing is optimised, what json's template makes is half of a file's cost: it is made once, in json.cc. Where all is, it is inlined.
set(BERTH_JSON_ONCE OFF)
if(BERTH_PRECOMPILE AND (BERTH_TESTS OR BERTH_QUICK))
  set(BERTH_JSON_ONCE ON)
  include_directories(BEFORE ${CMAKE_SOURCE_DIR}/cmake/json_once)
endif()

function(berth_precompile target)
  if(BERTH_PRECOMPILE)
    target_precompile_headers(${target} ${ARGN})
  endif()
endfunction()

# berth_precompiled(TARGET std|core|json)
function(berth_precompiled target kind)
  if(kind STREQUAL json AND NOT BERTH_JSON_ONCE)
    set(kind std)
  endif()
  string(TOUPPER ${kind} kind)
  if(target STREQUAL BERTH_${kind}_OWNER)
    berth_precompile(${target} PRIVATE ${BERTH_${kind}_HEADERS})
  else()
    berth_precompile(${target} REUSE_FROM ${BERTH_${kind}_OWNER})
  endif()
endfunction()

# Everything but the tests' own files: with sanitizers -Og runs in little more than half the time of -O0 and takes as long to compile, -O1 runs little
# faster and takes half as long again. simdjson's checks of how it is used, which nothing optimised has unless told so, and for which its
# classes have members, are in every file.
function(berth_optimise target)
  if(BERTH_SANITIZE)
    target_compile_options(${target} PRIVATE -Og)
    target_compile_definitions(${target} PRIVATE SIMDJSON_DEVELOPMENT_CHECKS=1)
  endif()
endfunction()

# A library that others stand on: its files and theirs leave nlohmann's json to the one file that this adds.
function(berth_json_once target)
  if(BERTH_JSON_ONCE)
    set(once ${CMAKE_SOURCE_DIR}/cmake/json_once/json.cc)
    target_sources(${target} PRIVATE ${once})
    set_source_files_properties(${once} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    if(BERTH_SANITIZE)  # the simulation spends most of its time in it
      set_source_files_properties(${once} PROPERTIES COMPILE_OPTIONS -O1)
    endif()
  endif()
endfunction()

# berth_united(TARGET FILE…): with BERTH_UNITY, compiles the target's files a dozen at a time, but for these, which have a word of their own for what
# another file of the folder calls the same.
function(berth_united target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${BERTH_UNITY} UNITY_BUILD_BATCH_SIZE 12)
  if(BERTH_UNITY)  # which takes what a file keeps to itself for a header's
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# berth_library(NAME DEPENDS ...): one static library of every .cc in this folder. Sources are globbed: a file that is
# there is built, so there is no dead file to forget. PRECOMPILED is std, core, json or none; ALONE see berth_united.
function(berth_library name)
  cmake_parse_arguments(arg "" "PRECOMPILED" "DEPENDS;PRIVATE;ALONE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(sources)
    add_library(berth_${name} STATIC ${sources})
    set_property(GLOBAL APPEND PROPERTY BERTH_LIBRARIES berth_${name})
    target_include_directories(berth_${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(berth_${name} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE})
    berth_optimise(berth_${name})
    if(BERTH_EXPLORE)  # berth-sim has these once more, and takes nothing of their objects
      berth_seeded_among(seeded ${sources})
    endif()
    berth_united(berth_${name} ${arg_ALONE} ${seeded})
    if(NOT DEFINED arg_PRECOMPILED)
      berth_precompiled(berth_${name} std)
    elseif(NOT arg_PRECOMPILED STREQUAL none)
      berth_precompiled(berth_${name} ${arg_PRECOMPILED})
    endif()
    if(name STREQUAL apis)  # the lowest one
      berth_json_once(berth_apis)
    endif()
  else()
    add_library(berth_${name} INTERFACE)
    target_include_directories(berth_${name} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(berth_${name} INTERFACE ${arg_DEPENDS})
  endif()
endfunction()

# berth_seeded_sources(RESULT): every source that asks seeded() (controller/core/seeded_bugs.h). berth-sim has these compiled once more, with
# the switches; the libraries, and so berth, never have them.
function(berth_seeded_sources result)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/controller/*.cc)
  berth_seeded_among(found ${sources})
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# berth_seeded_among(RESULT SOURCE…): those of the sources that do.
function(berth_seeded_among result)
  set(found)
  foreach(source ${ARGN})
    file(STRINGS ${source} switches REGEX "seeded_bugs\\.h" LIMIT_COUNT 1)
    if(switches)
      list(APPEND found ${source})
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# berth_test(NAME DEPENDS ...): one GoogleTest program of every *_test.cc in this folder, one ctest entry per case.
function(berth_test name)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_test ${sources})
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name}_test PRIVATE BERTH_SOURCE_DIR="${CMAKE_SOURCE_DIR}" BERTH_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(${name}_test PRIVATE ${arg_DEPENDS} fmt::fmt GTest::gtest GTest::gmock GTest::gtest_main)
  berth_precompile(${name}_test REUSE_FROM berth_test_headers)
  add_test(NAME ${name} COMMAND ${name}_test)
  set_tests_properties(${name} PROPERTIES LABELS unit)
endfunction()
