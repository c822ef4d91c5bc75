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

# Whose part of the page is.
install(FILES ${CMAKE_SOURCE_DIR}/controller/page/uplot/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}/libraries RENAME uplot.copyright COMPONENT data)

# berth itself writes its manual page and its completions, when it is installed.
function(berth_install_told file)
  install(CODE "
    set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${file}\")
    message(STATUS \"Installing: \${file}\")
    get_filename_component(folder \${file} DIRECTORY)
    file(MAKE_DIRECTORY \${folder})
    execute_process(COMMAND \"$<TARGET_FILE:berth>\" ${ARGN} OUTPUT_FILE \${file} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT data)
endfunction()
berth_install_told(${CMAKE_INSTALL_MANDIR}/man1/berth.1 help -o man)
berth_install_told(${CMAKE_INSTALL_DATADIR}/bash-completion/completions/berth completion bash)
berth_install_told(${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_berth completion zsh)
berth_install_told(${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/berth.fish completion fish)

# What scripts/package names the tarball by.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/version.txt CONTENT "${BERTH_VERSION}\n")
