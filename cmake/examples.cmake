# Example programs, one per examples/*.c.  They use the public headers only.

file(GLOB example_sources CONFIGURE_DEPENDS examples/*.c)
foreach(source IN LISTS example_sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
    target_link_libraries(${name} PRIVATE gufo_static gufo_flags)
endforeach()
