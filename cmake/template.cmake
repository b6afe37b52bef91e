# The room template: libgufo_template, static and shared, with utf8proc: the interpreter of chat templates.  Of libgufo it
# needs base/ alone.

if(NOT GUFO_TEMPLATE)
    return()
endif()

gufo_room(template NEEDS gufo_library::utf8proc)
gufo_forms(gufo_template OBJECTS gufo_template_objects HEADER include/gufo/template.h
    NEEDS gufo_library::utf8proc PUBLIC gufo)
