# The Python package: the extension gufo._core with the libraries inside, and the package around it as BUILD/python/gufo,
# for PYTHONPATH=BUILD/python.  python/setup.py packages what is there.
#
# The build for a wheel has no tests and no libraries for others; with GUFO_MINIMAL the extension has the reader and the
# codec alone.

if(NOT GUFO_PYTHON)
    return()
endif()

set(GUFO_PYTHON_PROGRAM /usr/bin/python3 CACHE FILEPATH "The Python that the package is built and tested with")
execute_process(COMMAND ${GUFO_PYTHON_PROGRAM} -c "import sysconfig as s
print(s.get_path('include'), s.get_config_var('LIBDIR') + '/' + s.get_config_var('LDLIBRARY'), sep=';', end='')"
    OUTPUT_VARIABLE python_places COMMAND_ERROR_IS_FATAL ANY)
list(POP_FRONT python_places python_include python_library)
if(NOT EXISTS ${python_include}/Python.h)
    message(FATAL_ERROR "not found: ${python_include}/Python.h\n    sudo apt install python3-dev")
endif()
if(GUFO_BUILD_TESTS AND NOT GUFO_SANITIZE)
    execute_process(COMMAND ${GUFO_PYTHON_PROGRAM} -c "import hypothesis, numpy, pytest" RESULT_VARIABLE python_lacks
        ERROR_QUIET)
    if(python_lacks)
        message(FATAL_ERROR "${GUFO_PYTHON_PROGRAM} lacks what tests of the package need: hypothesis, numpy, pytest\n"
            "    sudo apt install python3-hypothesis python3-numpy python3-pytest")
    endif()
endif()

set(python_folder ${PROJECT_BINARY_DIR}/python)

# ---- extension ----------------------------------------------------------------------------------

file(GLOB_RECURSE python_core_sources CONFIGURE_DEPENDS python/core/*.c)
# The reader and the codec, and what is built beside them; the sources of other parts are left out.
set(python_features "")
if(NOT GUFO_MINIMAL)
    set(python_features jobs)
endif()
foreach(room digest template text report import)
    if(TARGET gufo_${room}_internal AND NOT (GUFO_MINIMAL AND room STREQUAL report))
        list(APPEND python_features ${room})
    endif()
endforeach()
set(python_jobs_parts job plan quantize size forms write imatrix edit compare estimate find)
set(python_digest_parts digest)
set(python_template_parts template)
set(python_text_parts text)
set(python_report_parts report)
set(python_import_parts convert)
foreach(feature jobs digest template text report import)
    if(NOT feature IN_LIST python_features)
        foreach(part IN LISTS python_${feature}_parts)
            list(FILTER python_core_sources EXCLUDE REGEX "/${part}\\.c$")
        endforeach()
    endif()
endforeach()
if(GUFO_SANITIZE) # no Python without sanitizers loads it: a program that is Python and has it built in
    add_executable(gufo_python_core ${python_core_sources} python/tests/embedded.c)
    set_target_properties(gufo_python_core PROPERTIES OUTPUT_NAME python3_with_gufo
        RUNTIME_OUTPUT_DIRECTORY ${python_folder})
    target_link_libraries(gufo_python_core PRIVATE ${python_library})
else()
    add_library(gufo_python_core MODULE ${python_core_sources})
    set_target_properties(gufo_python_core PROPERTIES PREFIX "" OUTPUT_NAME _core SUFFIX .abi3.so
        LIBRARY_OUTPUT_DIRECTORY ${python_folder}/gufo)
    file(CONFIGURE OUTPUT ${python_folder}/core.map @ONLY CONTENT "{ global: PyInit__core; local: *; };\n")
    target_link_options(gufo_python_core PRIVATE LINKER:--gc-sections
        LINKER:--version-script,${python_folder}/core.map $<$<CONFIG:Release>:LINKER:--strip-all>)
endif()
set_target_properties(gufo_python_core PROPERTIES GUFO_NOT_COUNTED ON)
target_include_directories(gufo_python_core SYSTEM PRIVATE ${python_include})
target_include_directories(gufo_python_core PRIVATE ${PROJECT_SOURCE_DIR}/python/core)
target_link_libraries(gufo_python_core PRIVATE gufo_flags Threads::Threads)
list(REVERSE python_features) # a library needs those before it
foreach(feature IN LISTS python_features)
    string(TOUPPER CORE_HAS_${feature} definition)
    target_compile_definitions(gufo_python_core PRIVATE ${definition})
    if(TARGET gufo_${feature}_internal)
        target_link_libraries(gufo_python_core PRIVATE gufo_${feature}_internal)
    endif()
endforeach()
target_link_libraries(gufo_python_core PRIVATE gufo_internal)

# ---- package ------------------------------------------------------------------------------------

# python_package(NAME FOLDER): the files of a package as links in BUILD/python/NAME.
function(python_package name folder)
    file(GLOB_RECURSE old LIST_DIRECTORIES FALSE ${python_folder}/${name}/*)
    foreach(file IN LISTS old)
        if(IS_SYMLINK ${file}) # perhaps to a file that is no longer there
            file(REMOVE ${file})
        endif()
    endforeach()
    file(GLOB_RECURSE files RELATIVE ${PROJECT_SOURCE_DIR}/${folder} CONFIGURE_DEPENDS
        ${folder}/*.py ${folder}/*.pyi ${folder}/py.typed)
    foreach(file IN LISTS files)
        cmake_path(GET file PARENT_PATH subfolder)
        file(MAKE_DIRECTORY ${python_folder}/${name}/${subfolder})
        file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder}/${file} ${python_folder}/${name}/${file} SYMBOLIC)
    endforeach()
endfunction()

# python_module(NAME SCRIPT): gufo/NAME.py, which python/generate/SCRIPT.py makes of the registry.
set(python_modules "")
function(python_module name script)
    set(out ${python_folder}/gufo/${name}.py)
    add_custom_command(OUTPUT ${out}
        COMMAND ${GUFO_PYTHON_PROGRAM} -B ${PROJECT_SOURCE_DIR}/python/generate/${script}.py
            ${PROJECT_SOURCE_DIR}/registry ${table_folder}/registry ${PROJECT_SOURCE_DIR}/include/gufo ${out}
        DEPENDS ${python_tables} gufo_pages VERBATIM COMMENT "Module gufo.${name}")
    set(python_modules ${python_modules} ${out} PARENT_SCOPE)
endfunction()

python_package(gufo python/src/gufo)
python_package(gguf python/gguf/src/gguf)
file(GLOB python_tables CONFIGURE_DEPENDS python/generate/*.py registry/*.tsv registry/python/*.tsv include/gufo/*.def)
list(APPEND python_tables ${page_table_files})
python_module(constants constants)
python_module(gguf_writer_methods writer_methods)
python_module(hf_names tensor_mapping)
add_custom_target(gufo_python ALL DEPENDS ${python_modules})
add_dependencies(gufo_python gufo_python_core)

# ---- tests --------------------------------------------------------------------------------------

# One for each file, but with sanitizers one for the extension alone.  What needs real files or the package gguf is
# skipped without (tests/conftest.py).
if(GUFO_BUILD_TESTS AND GUFO_SANITIZE)
    add_test(NAME python.replay COMMAND gufo_python_core ${PROJECT_SOURCE_DIR}/python/tests/replay.py
        ${PROJECT_SOURCE_DIR}/fuzz/seeds ${PROJECT_SOURCE_DIR}/fuzz/seeds_check ${PROJECT_SOURCE_DIR}/fuzz/seeds_vocab)
    # Python's own memory lives until it ends, some of it longer; pieces of its pools would hide what reads too far.
    set_tests_properties(python.replay PROPERTIES LABELS python TIMEOUT 300
        ENVIRONMENT "PYTHONPATH=${python_folder};PYTHONDONTWRITEBYTECODE=1;PYTHONMALLOC=malloc;ASAN_OPTIONS=detect_leaks=0")
elseif(GUFO_BUILD_TESTS)
    file(GLOB python_tests CONFIGURE_DEPENDS python/tests/test_*.py)
    foreach(file IN LISTS python_tests)
        get_filename_component(name ${file} NAME_WE)
        string(REPLACE "test_" "python." name ${name})
        add_test(NAME ${name}
            COMMAND ${GUFO_PYTHON_PROGRAM} -m pytest -q -p no:cacheprovider ${file})
        set_tests_properties(${name} PROPERTIES LABELS python TIMEOUT 300
            ENVIRONMENT "${test_environment};PYTHONPATH=${python_folder};PYTHONDONTWRITEBYTECODE=1")
    endforeach()
endif()
