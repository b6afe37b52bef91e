/* The names that lead out of a template. */
#include "schema/template_lint_parts.h"

/* Ways to Python's frames, code and classes that do not look like __x__; Jinja's own sandbox
 * refuses most of them.  Then what opens files and connections and starts processes, found as an
 * attribute (os.popen) or as a variable.  Words that are common names of things in chats are risky
 * only where they are called, or where the template has not defined them itself. */
static const risky_name attributes[] = {
    {"mro", GUFO_TEMPLATE_INTERNAL, 0},
    {"func_globals", GUFO_TEMPLATE_INTERNAL, 0},
    {"func_code", GUFO_TEMPLATE_INTERNAL, 0},
    {"func_closure", GUFO_TEMPLATE_INTERNAL, 0},
    {"func_dict", GUFO_TEMPLATE_INTERNAL, 0},
    {"func_defaults", GUFO_TEMPLATE_INTERNAL, 0},
    {"im_class", GUFO_TEMPLATE_INTERNAL, 0},
    {"im_func", GUFO_TEMPLATE_INTERNAL, 0},
    {"im_self", GUFO_TEMPLATE_INTERNAL, 0},
    {"gi_frame", GUFO_TEMPLATE_INTERNAL, 0},
    {"gi_code", GUFO_TEMPLATE_INTERNAL, 0},
    {"gi_yieldfrom", GUFO_TEMPLATE_INTERNAL, 0},
    {"cr_frame", GUFO_TEMPLATE_INTERNAL, 0},
    {"cr_code", GUFO_TEMPLATE_INTERNAL, 0},
    {"ag_frame", GUFO_TEMPLATE_INTERNAL, 0},
    {"ag_code", GUFO_TEMPLATE_INTERNAL, 0},
    {"tb_frame", GUFO_TEMPLATE_INTERNAL, 0},
    {"tb_next", GUFO_TEMPLATE_INTERNAL, 0},
    {"f_globals", GUFO_TEMPLATE_INTERNAL, 0},
    {"f_locals", GUFO_TEMPLATE_INTERNAL, 0},
    {"f_builtins", GUFO_TEMPLATE_INTERNAL, 0},
    {"f_code", GUFO_TEMPLATE_INTERNAL, 0},
    {"f_back", GUFO_TEMPLATE_INTERNAL, 0},
    {"co_code", GUFO_TEMPLATE_INTERNAL, 0},
    {"_TemplateReference__context", GUFO_TEMPLATE_INTERNAL, 0},
    {"_context", GUFO_TEMPLATE_INTERNAL, 0},
    {"_environment", GUFO_TEMPLATE_INTERNAL, 0},
    {"_func", GUFO_TEMPLATE_INTERNAL, 0},
    {"_iterator", GUFO_TEMPLATE_INTERNAL, 0},
    {"_Macro__arguments", GUFO_TEMPLATE_INTERNAL, 0},
    {"_module", GUFO_TEMPLATE_INTERNAL, 0},
    {"_recurse", GUFO_TEMPLATE_INTERNAL, 0},
    {"from_string", GUFO_TEMPLATE_ACCESS, NAME_CALLED},
    {"import_module", GUFO_TEMPLATE_ACCESS, 0},
    {"import_string", GUFO_TEMPLATE_ACCESS, 0},
    {"load_module", GUFO_TEMPLATE_ACCESS, 0},
    {"from_pyfile", GUFO_TEMPLATE_ACCESS, 0},
    {"popen", GUFO_TEMPLATE_ACCESS, 0},
    {"Popen", GUFO_TEMPLATE_ACCESS, 0},
    {"check_output", GUFO_TEMPLATE_ACCESS, 0},
    {"subprocess", GUFO_TEMPLATE_ACCESS, 0},
    {"urlopen", GUFO_TEMPLATE_ACCESS, 0},
    {"system", GUFO_TEMPLATE_ACCESS, NAME_CALLED},
    {"open", GUFO_TEMPLATE_ACCESS, NAME_CALLED},
    {"eval", GUFO_TEMPLATE_ACCESS, NAME_CALLED},
    {"exec", GUFO_TEMPLATE_ACCESS, NAME_CALLED},
    {"socket", GUFO_TEMPLATE_ACCESS, NAME_CALLED},
};

static const risky_name variables[] = {
    {"os", GUFO_TEMPLATE_ACCESS, NAME_OWN},
    {"sys", GUFO_TEMPLATE_ACCESS, NAME_OWN},
    {"posix", GUFO_TEMPLATE_ACCESS, NAME_OWN},
    {"pty", GUFO_TEMPLATE_ACCESS, NAME_OWN},
    {"shutil", GUFO_TEMPLATE_ACCESS, NAME_OWN},
    {"socket", GUFO_TEMPLATE_ACCESS, NAME_OWN},
    {"requests", GUFO_TEMPLATE_ACCESS, NAME_OWN},
    {"request", GUFO_TEMPLATE_ACCESS, NAME_OWN},
    {"config", GUFO_TEMPLATE_ACCESS, NAME_OWN},
    {"subprocess", GUFO_TEMPLATE_ACCESS, 0},
    {"importlib", GUFO_TEMPLATE_ACCESS, 0},
    {"builtins", GUFO_TEMPLATE_ACCESS, 0},
    {"ctypes", GUFO_TEMPLATE_ACCESS, 0},
    {"urllib", GUFO_TEMPLATE_ACCESS, 0},
    {"urlopen", GUFO_TEMPLATE_ACCESS, 0},
    {"popen", GUFO_TEMPLATE_ACCESS, 0},
    {"get_flashed_messages", GUFO_TEMPLATE_ACCESS, 0},
    {"url_for", GUFO_TEMPLATE_ACCESS, 0},
    {"getattr", GUFO_TEMPLATE_ACCESS, 0},
    {"setattr", GUFO_TEMPLATE_ACCESS, 0},
    {"system", GUFO_TEMPLATE_ACCESS, NAME_OWN | NAME_CALLED},
    {"open", GUFO_TEMPLATE_ACCESS, NAME_OWN | NAME_CALLED},
    {"eval", GUFO_TEMPLATE_ACCESS, NAME_OWN | NAME_CALLED},
    {"exec", GUFO_TEMPLATE_ACCESS, NAME_OWN | NAME_CALLED},
    {"compile", GUFO_TEMPLATE_ACCESS, NAME_OWN | NAME_CALLED},
    {"globals", GUFO_TEMPLATE_ACCESS, NAME_OWN | NAME_CALLED},
    {"locals", GUFO_TEMPLATE_ACCESS, NAME_OWN | NAME_CALLED},
    {"vars", GUFO_TEMPLATE_ACCESS, NAME_OWN | NAME_CALLED},
    {"lipsum", GUFO_TEMPLATE_BUILTIN, NAME_OWN | NAME_MEMBER},
    {"cycler", GUFO_TEMPLATE_BUILTIN, NAME_OWN | NAME_MEMBER},
    {"joiner", GUFO_TEMPLATE_BUILTIN, NAME_OWN | NAME_MEMBER},
    {"namespace", GUFO_TEMPLATE_BUILTIN, NAME_OWN | NAME_MEMBER},
    {"range", GUFO_TEMPLATE_BUILTIN, NAME_OWN | NAME_MEMBER},
    {"dict", GUFO_TEMPLATE_BUILTIN, NAME_OWN | NAME_MEMBER},
    {"raise_exception", GUFO_TEMPLATE_BUILTIN, NAME_OWN | NAME_MEMBER},
    {"strftime_now", GUFO_TEMPLATE_BUILTIN, NAME_OWN | NAME_MEMBER},
};

enum {
    ATTRIBUTE_COUNT = sizeof attributes / sizeof *attributes,
    VARIABLE_COUNT = sizeof variables / sizeof *variables
};

_Static_assert(VARIABLE_COUNT <= 64, "one bit each");

static const risky_name *find(const risky_name *rows, size_t count, gufo_str name)
{
    for (size_t i = 0; i < count; i++)
        if (name.len > 0 && name.data[0] == rows[i].name[0] &&
            gufo_str_equal(name, gufo_str_of(rows[i].name)))
            return &rows[i];
    return NULL;
}

const risky_name *lint_find_variable(gufo_str name)
{
    return find(variables, VARIABLE_COUNT, name);
}

const risky_name *lint_find_attribute(gufo_str name)
{
    return find(attributes, ATTRIBUTE_COUNT, name);
}

uint64_t lint_variable_bit(const risky_name *row)
{
    return UINT64_C(1) << (row - variables);
}

bool lint_is_dunder(gufo_str name)
{
    size_t start = 0;

    while (start < name.len && name.data[start] == '_')
        start++;
    /* Nothing but underscores is a line, not a name. */
    return start >= 2 && start < name.len && name.data[name.len - 1] == '_' &&
           name.data[name.len - 2] == '_' && lint_name_end(name, 0) == name.len;
}

bool template_is_dangerous(template_kind kind)
{
    return kind <= GUFO_TEMPLATE_IMPORT;
}
