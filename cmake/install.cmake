# `cmake --install`: libraries, headers, command, pkg-config file, CMake package, documents.

include(CMakePackageConfigHelpers)

install(TARGETS gufo_shared gufo_static EXPORT gufo_targets)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "gufo-compat" EXCLUDE
    PATTERN "digest.h" EXCLUDE PATTERN "import.h" EXCLUDE
    PATTERN "text.h" EXCLUDE PATTERN "vocab.h" EXCLUDE PATTERN "template.h" EXCLUDE
    PATTERN "report.h" EXCLUDE PATTERN "remote.h" EXCLUDE PATTERN "ollama.h" EXCLUDE)
if(TARGET gufo_digest_static)
    install(TARGETS gufo_digest_shared gufo_digest_static EXPORT gufo_digest_targets)
    install(FILES include/gufo/digest.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gufo)
endif()
if(TARGET gufo_import_static)
    install(TARGETS gufo_import_shared gufo_import_static EXPORT gufo_import_targets)
    install(FILES include/gufo/import.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gufo)
endif()
if(TARGET gufo_report_static)
    install(TARGETS gufo_report_shared gufo_report_static EXPORT gufo_report_targets)
    install(FILES include/gufo/report.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gufo)
endif()
if(TARGET gufo_remote_static)
    install(TARGETS gufo_remote_shared gufo_remote_static EXPORT gufo_remote_targets)
    install(FILES include/gufo/remote.h include/gufo/ollama.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gufo)
endif()
if(TARGET gufo_template_static)
    install(TARGETS gufo_template_shared gufo_template_static EXPORT gufo_template_targets)
    install(FILES include/gufo/template.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gufo)
endif()
if(TARGET gufo_text_static)
    install(TARGETS gufo_text_shared gufo_text_static EXPORT gufo_text_targets)
    install(FILES include/gufo/text.h include/gufo/vocab.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gufo)
endif()
if(TARGET gguf_static)
    install(TARGETS gguf_shared gguf_static EXPORT gufo_gguf_targets)
    install(DIRECTORY include/gufo-compat DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(TARGET gguf_dropin)
    install(TARGETS gguf_dropin)
endif()
if(TARGET gufo_command)
    install(TARGETS gufo_command)
endif()

# ---- for other projects -----------------------------------------------------------------------

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gufo)
configure_package_config_file(cmake/gufo-config.cmake.in ${PROJECT_BINARY_DIR}/gufo-config.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gufo-config-version.cmake
    COMPATIBILITY ${gufo_compatibility})
install(EXPORT gufo_targets NAMESPACE gufo:: DESTINATION ${package_dir} FILE gufo-targets.cmake)
if(TARGET gguf_static)
    install(EXPORT gufo_gguf_targets NAMESPACE gufo:: DESTINATION ${package_dir}
        FILE gufo-gguf-targets.cmake)
endif()
if(TARGET gufo_import_static)
    install(EXPORT gufo_import_targets NAMESPACE gufo:: DESTINATION ${package_dir}
        FILE gufo-import-targets.cmake)
endif()
if(TARGET gufo_report_static)
    install(EXPORT gufo_report_targets NAMESPACE gufo:: DESTINATION ${package_dir}
        FILE gufo-report-targets.cmake)
endif()
if(TARGET gufo_remote_static)
    install(EXPORT gufo_remote_targets NAMESPACE gufo:: DESTINATION ${package_dir}
        FILE gufo-remote-targets.cmake)
endif()
if(TARGET gufo_template_static)
    install(EXPORT gufo_template_targets NAMESPACE gufo:: DESTINATION ${package_dir}
        FILE gufo-template-targets.cmake)
endif()
if(TARGET gufo_text_static)
    install(EXPORT gufo_text_targets NAMESPACE gufo:: DESTINATION ${package_dir}
        FILE gufo-text-targets.cmake)
endif()
if(TARGET gufo_digest_static)
    install(EXPORT gufo_digest_targets NAMESPACE gufo:: DESTINATION ${package_dir}
        FILE gufo-digest-targets.cmake)
endif()
install(FILES cmake/gufo-libraries.cmake ${PROJECT_BINARY_DIR}/gufo-config.cmake ${PROJECT_BINARY_DIR}/gufo-config-version.cmake
    DESTINATION ${package_dir})

# The .pc file finds its prefix from its own place, so that the installed tree can be moved.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(pc_prefix ${CMAKE_INSTALL_PREFIX})
    set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
    set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
    set(pc_prefix "\${pcfiledir}/${pc_up}")
    set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
function(install_pc name)
    configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_dir})
endfunction()
install_pc(gufo)
if(TARGET gguf_static)
    install_pc(gguf)
endif()
if(TARGET gufo_import_static)
    install_pc(gufo-import)
endif()
if(TARGET gufo_report_static)
    install_pc(gufo-report)
endif()
if(TARGET gufo_remote_static)
    install_pc(gufo-remote)
endif()
if(TARGET gufo_template_static)
    install_pc(gufo-template)
endif()
if(TARGET gufo_text_static)
    install_pc(gufo-text)
endif()
if(TARGET gufo_digest_static)
    list(JOIN digest_pc ", " digest_pc_requires)
    install_pc(gufo-digest)
endif()

# ---- the registry, for other programs ---------------------------------------------------------

install(DIRECTORY registry/ DESTINATION ${CMAKE_INSTALL_DATADIR}/gufo/registry
    FILES_MATCHING PATTERN "*.tsv" PATTERN "README.md")
install(FILES ${page_table_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/gufo/registry)

# ---- documents and completion -----------------------------------------------------------------

if(NOT TARGET gufo_command)
    return()
endif()
file(GLOB man_pages CONFIGURE_DEPENDS man/*.1)
if(man_pages)
    install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
file(GLOB documents CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} docs/*.md docs/*.png)
foreach(document README.md CHANGELOG.md LICENSE ${documents})
    if(EXISTS ${PROJECT_SOURCE_DIR}/${document})
        install(FILES ${document} DESTINATION ${CMAKE_INSTALL_DOCDIR})
    endif()
endforeach()
install(FILES completions/gufo.bash RENAME gufo
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES completions/_gufo DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES completions/gufo.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
