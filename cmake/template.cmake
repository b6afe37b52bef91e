# The room template: libgufo_template, static and shared, with utf8proc: the interpreter of chat templates.  Of libgufo it
# needs base/ alone.

if(NOT GUFO_TEMPLATE)
    return()
endif()

file(GLOB_RECURSE template_sources CONFIGURE_DEPENDS src/template/*.c)
add_library(gufo_template_objects OBJECT ${template_sources})
set_target_properties(gufo_template_objects PROPERTIES POSITION_INDEPENDENT_CODE ${GUFO_LIBRARIES})
target_include_directories(gufo_template_objects PRIVATE include src)
target_link_libraries(gufo_template_objects PRIVATE gufo_library::utf8proc gufo_flags)

gufo_forms(gufo_template OBJECTS gufo_template_objects HEADER include/gufo/template.h
    NEEDS gufo_library::utf8proc PUBLIC gufo)
