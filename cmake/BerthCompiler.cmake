# Compiler flags. -O3 gives a false -Werror=restrict with g++ 12, so Release is -O2.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-g1 -O0")
if(BERTH_QUICK)
  set(CMAKE_CXX_FLAGS_RELEASE "-O0 -DNDEBUG")  # and no warnings: they are other ones at each level, and nobody reads them here
else()
  # -Wno-missing-field-initializers: designated initialisers that leave members at their defaults are how this code reads.
  add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror -Wno-missing-field-initializers)
endif()

# g++ looks for garbage from 128 MB on, each time that it has as much again: a sixth of the time a dozen of files takes. The largest of them needs
# 1.7 GB in all.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options("SHELL:--param ggc-min-heapsize=2000000")
endif()

# What a crash's backtrace names the build by (controller/live/crash_trace.h).
add_link_options(-Wl,--build-id=sha1)

if(BERTH_SANITIZE)
  # Without the three checks of each pointer that is followed: AddressSanitizer watches the same accesses, and they are a third of the
  # time a build takes.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null,alignment,pointer-overflow -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

if(BERTH_SEEDED_BUGS)  # controller/core/seeded_bugs.h
  add_compile_definitions(BERTH_SEEDED_BUGS)
endif()

if(BERTH_HARDEN)
  add_compile_options(-fPIE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fcf-protection -ftrivial-auto-var-init=zero
                      -D_GLIBCXX_ASSERTIONS)
  # The binary bears no note of CET all the same: the linker writes one only if every object has it, and those that Debian 12's C library
  # starts a program with (Scrt1.o, crti.o, crtn.o) have none. To claim it for them (-z ibt, -z shstk) would switch nothing on either: the C
  # library's own code is not marked.
  add_link_options(-pie -Wl,-z,relro,-z,now -Wl,--as-needed -Wl,--gc-sections)
  add_compile_options(-ffunction-sections -fdata-sections)
endif()

if(BERTH_LTO)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  add_link_options(-Wno-odr)  # g++ 12 names the fields of a coroutine's frame anew in each file
endif()

# Optional speed-ups for developers; neither changes what is built.
find_program(BERTH_CCACHE ccache)
if(BERTH_CCACHE)  # told to put up with precompiled headers, to spare a cold build the second run of the preprocessor, to serve every checkout,
  # and to read the 100 MB of a precompiled header once and not once for each file, which was nine tenths of what a hit cost
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 CCACHE_INODECACHE=1
      CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${BERTH_CCACHE})
endif()
find_program(BERTH_MOLD mold)
if(BERTH_MOLD AND NOT BERTH_HARDEN)
  add_link_options(-fuse-ld=mold)
endif()
