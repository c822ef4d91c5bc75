# clang++, without which the fuzzers are neither built nor tested: whoever builds is told so, and a CI must have it.
find_program(BERTH_CLANG NAMES clang++-16 clang++)
if(NOT BERTH_CLANG)
  if("$ENV{CI}" STREQUAL "true")
    message(FATAL_ERROR "CI=true, and no clang++: the fuzzers would be left out. scripts/install-packages has it (clang-16)")
  endif()
  message(WARNING "No clang++: the fuzzers are left out of the build and of the tests. scripts/install-packages has it (clang-16)")
endif()
