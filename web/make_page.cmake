# Puts the page together: `cmake -DSOURCE=TREE -DMODULE=viewer.wasm.gz -DOUT=viewer.html -DREMOTE=ON|OFF -P make_page.cmake`.
#
# The module is packed, and is text in base64; scripts are known to the policy of the page by their hashes, so that
# nothing else runs.  REMOTE: the page may read addresses that somebody types; without, it cannot make a request at all.

# The bytes of a hash in hexadecimal digits, in base64.
function(in_base64 hash out)
    string(TOUPPER "${hash}" digits)
    execute_process(COMMAND printf %s "${digits}" COMMAND basenc --base16 -d COMMAND base64 -w0
        OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

set(report ${SOURCE}/src/report/page)
execute_process(COMMAND base64 -w0 ${MODULE} OUTPUT_VARIABLE module COMMAND_ERROR_IS_FATAL ANY)
file(READ ${SOURCE}/web/page/viewer.html.in page)
file(READ ${SOURCE}/web/page/viewer.css style)
file(READ ${SOURCE}/web/page/viewer.js script)
file(READ ${SOURCE}/web/page/worker.js worker)
file(READ ${report}/style.css report_style)
file(SHA256 ${report}/script.js report_hash)
in_base64(${report_hash} report_hash)
file(SHA256 ${SOURCE}/web/page/viewer.js hash)
in_base64(${hash} hash)

set(connect "'none'")
set(promise "Nothing leaves your machine: the browser refuses this page every request.")
if(REMOTE)
    set(connect "https: http://localhost:* http://127.0.0.1:*")
    set(promise "The only requests are for parts of the file whose address you type; nothing of a file that you open leaves your machine.")
endif()

foreach(part SCRIPT_HASHES:hashes CONNECT:connect PROMISE:promise REPORT_STYLE:report_style STYLE:style WORKER:worker
        SCRIPT:script MODULE:module)
    string(REPLACE ":" ";" part ${part})
    list(GET part 0 mark)
    list(GET part 1 name)
    set(hashes "'sha256-${hash}' 'sha256-${report_hash}'")
    string(REPLACE "@${mark}@" "${${name}}" page "${page}")
endforeach()
file(WRITE ${OUT} "${page}")
