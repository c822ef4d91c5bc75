# What `cmake --install` puts where: the program, and beside it what people apply, copy and read. scripts/package makes the tarball and the
# image of the same. Nothing that only develops berth is installed.
include(GNUInstallDirs)

# The tarball brings the libraries that berth loads in lib/berth, and is unpacked wherever one likes. An old-fashioned RPATH, not a RUNPATH:
# it holds for what the libraries load themselves too, and no LD_LIBRARY_PATH comes before it. Where the folder is not there, as after a plain
# `cmake --install`, the system's libraries are loaded.
set_target_properties(berth PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "\$ORIGIN/../lib/berth")
target_link_options(berth PRIVATE -Wl,--disable-new-dtags)

install(TARGETS berth RUNTIME COMPONENT program)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/crds DESTINATION ${CMAKE_INSTALL_DATADIR}/berth COMPONENT data)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/helm/berth DESTINATION ${CMAKE_INSTALL_DATADIR}/berth/helm COMPONENT data)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT data)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT data)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT data)

# What scripts/package names the tarball by (cmake/BerthVersion.cmake).
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/version.txt CONTENT "${BERTH_VERSION}\n")
