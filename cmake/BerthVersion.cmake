# Which berth this is, as the build is configured: BERTH_VERSION, BERTH_COMMIT, BERTH_COMMIT_DATE, BERTH_TREE_STATE. Told by a stamp, a line
# "TAG[-N-gHASH] COMMIT DATE" whose first word is missing where no tag is near:
#   -DBERTH_STAMP=… (scripts/version-stamp prints it: for a container's build, which sees no .git), else
#   git, where this is a clone, else
#   cmake/archive-stamp.txt, into which `git archive`, and whoever makes archives by it, writes the line.
# Where none is, all but the version is "unknown". The version is CMakeLists.txt's in a clean tree that is tagged so ("v0.1.0"), and else
# leads to it: "0.1.0-dev.12.g7b8c4ab", which sorts before 0.1.0 and is a container tag as well.
#
#   cmake -DBERTH_SOURCE=FOLDER -DBERTH_RELEASE=0.1.0 -P BerthVersion.cmake     prints them

if(CMAKE_SCRIPT_MODE_FILE)
  set(source ${BERTH_SOURCE})
  set(release ${BERTH_RELEASE})
else()
  set(source ${CMAKE_SOURCE_DIR})
  set(release ${PROJECT_VERSION})
endif()
set(BERTH_STAMP "" CACHE STRING "What is built, where neither git nor the archive tells; scripts/version-stamp prints it")

# Nothing where this is no clone; a folder inside of another repository is none either.
function(read_git stamp state)
  set(${stamp} "" PARENT_SCOPE)
  find_program(git git)
  if(NOT git OR NOT EXISTS ${source}/.git)
    return()
  endif()
  execute_process(COMMAND ${git} -C ${source} log -1 "--format=%(describe:tags=true,match=v[0-9]*) %H %cI"
                  OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    return()
  endif()
  execute_process(COMMAND ${git} -C ${source} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  set(${stamp} "${line}" PARENT_SCOPE)
  if(changes STREQUAL "")
    set(${state} clean PARENT_SCOPE)
  else()
    set(${state} dirty PARENT_SCOPE)
  endif()
  # Configured anew with each commit, but for builds that are made all day.
  if(NOT CMAKE_SCRIPT_MODE_FILE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    execute_process(COMMAND ${git} -C ${source} rev-parse --path-format=absolute --git-path logs/HEAD
                    OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(EXISTS "${log}")
      set_property(DIRECTORY ${source} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${log})
    endif()
  endif()
endfunction()

set(stamp "${BERTH_STAMP}")
set(BERTH_TREE_STATE clean)
if(stamp STREQUAL "")
  read_git(stamp BERTH_TREE_STATE)
endif()
if(stamp STREQUAL "" AND EXISTS ${source}/cmake/archive-stamp.txt)
  file(READ ${source}/cmake/archive-stamp.txt stamp)
endif()

set(BERTH_VERSION ${release})
if(stamp MATCHES "^[ \n]*(([^ $]+) )?([0-9a-f]+) ([0-9]+-[-0-9T:+Z]+)[ \n]*$")
  set(tag "${CMAKE_MATCH_2}")
  set(BERTH_COMMIT ${CMAKE_MATCH_3})
  set(BERTH_COMMIT_DATE ${CMAKE_MATCH_4})
  string(SUBSTRING ${BERTH_COMMIT} 0 7 short)
  if(NOT tag STREQUAL "v${release}" OR BERTH_TREE_STATE STREQUAL "dirty")
    set(since "")
    if(tag MATCHES "-([0-9]+)-g[0-9a-f]+$")
      set(since ".${CMAKE_MATCH_1}")
    endif()
    string(APPEND BERTH_VERSION "-dev${since}.g${short}")
  endif()
  if(BERTH_TREE_STATE STREQUAL "dirty")
    string(APPEND BERTH_VERSION ".dirty")
  endif()
else()
  if(NOT BERTH_STAMP STREQUAL "")
    message(FATAL_ERROR "BERTH_STAMP is \"${BERTH_STAMP}\"; scripts/version-stamp prints what it must be")
  endif()
  set(BERTH_COMMIT unknown)
  set(BERTH_COMMIT_DATE unknown)
  set(BERTH_TREE_STATE unknown)
endif()

if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${BERTH_VERSION} ${BERTH_COMMIT} ${BERTH_COMMIT_DATE} ${BERTH_TREE_STATE}")
endif()
