# The room report: libgufo_report, static and shared: pages that show models.  Of others it needs nothing, so the command
# always has it.

if(NOT GUFO_REPORT)
    return()
endif()

gufo_room(report)
gufo_embed(report/embedded.h report_style src/report/page/style.css report_script src/report/page/script.js)
target_include_directories(gufo_report_objects PRIVATE ${PROJECT_BINARY_DIR}/embedded)
# A page allows this script and no other one.
file(SHA256 ${PROJECT_SOURCE_DIR}/src/report/page/script.js report_script_hash)
target_compile_definitions(gufo_report_objects PRIVATE REPORT_SCRIPT_SHA256="${report_script_hash}")
if(GUFO_SYSTEM STREQUAL none) # the page in web/ has it inside
    return()
endif()
gufo_forms(gufo_report OBJECTS gufo_report_objects HEADER include/gufo/report.h PUBLIC gufo)
