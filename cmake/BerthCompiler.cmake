# Compiler flags. -O3 gives a false -Werror=restrict with g++ 12, so Release is -O2.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-g1 -O0")
# -Wno-missing-field-initializers: designated initialisers that leave members at their defaults are how this code reads.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror -Wno-missing-field-initializers)

if(BERTH_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

if(BERTH_HARDEN)
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fcf-protection -ftrivial-auto-var-init=zero
                      -D_GLIBCXX_ASSERTIONS)
  add_link_options(-pie -Wl,-z,relro,-z,now -Wl,--as-needed -Wl,--gc-sections)
  add_compile_options(-ffunction-sections -fdata-sections)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()

# Optional speed-ups for developers; neither changes what is built.
find_program(BERTH_CCACHE ccache)
if(BERTH_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${BERTH_CCACHE})
endif()
find_program(BERTH_MOLD mold)
if(BERTH_MOLD AND NOT BERTH_HARDEN)
  add_link_options(-fuse-ld=mold)
endif()
