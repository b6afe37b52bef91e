/* The names that lead out of a template. */
#include "schema/syntax/lint_parts.h"

/* Ways to Python's frames, code and classes that do not look like __x__; Jinja's own sandbox
 * refuses most of them.  Then what opens files and connections and starts processes, found as an
 * attribute (os.popen) or as a variable.  Words that are common names of things in chats are risky
 * only where they are called, or where the template has not defined them itself. */
static const risky_names attributes[] = {
    {LINT_INTERNAL,
     0,
     {"mro", "func_globals", "func_code", "func_closure", "func_dict", "func_defaults", "im_class",
      "im_func", "im_self", "gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "cr_code",
      "ag_frame", "ag_code"}},
    {LINT_INTERNAL,
     0,
     {"tb_frame", "tb_next", "f_globals", "f_locals", "f_builtins", "f_code", "f_back", "co_code",
      "_TemplateReference__context", "_context", "_environment", "_func", "_iterator",
      "_Macro__arguments", "_module", "_recurse"}},
    {LINT_ACCESS,
     0,
     {"import_module", "import_string", "load_module", "from_pyfile", "popen", "Popen",
      "check_output", "subprocess", "urlopen"}},
    {LINT_ACCESS, NAME_CALLED, {"from_string", "system", "open", "eval", "exec", "socket"}},
};

static const risky_names variables[] = {
    {LINT_ACCESS,
     NAME_OWN,
     {"os", "sys", "posix", "pty", "shutil", "socket", "requests", "request", "config"}},
    {LINT_ACCESS,
     0,
     {"subprocess", "importlib", "builtins", "ctypes", "urllib", "urlopen", "popen",
      "get_flashed_messages", "url_for", "getattr", "setattr"}},
    {LINT_ACCESS,
     NAME_OWN | NAME_CALLED,
     {"system", "open", "eval", "exec", "compile", "globals", "locals", "vars"}},
    {LINT_BUILTIN,
     NAME_OWN | NAME_MEMBER,
     {"lipsum", "cycler", "joiner", "namespace", "range", "dict", "raise_exception",
      "strftime_now"}},
};

enum {
    ATTRIBUTE_GROUPS = sizeof attributes / sizeof *attributes,
    VARIABLE_GROUPS = sizeof variables / sizeof *variables,
};

_Static_assert(VARIABLE_GROUPS *RISKY_NAMES <= 64, "one bit for each name of a group");

/* The group of a name, and its number there; NULL if it is in none. */
static const risky_names *find(const risky_names *groups, size_t count, gufo_str name,
                               size_t *number)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < RISKY_NAMES && groups[i].names[j] != NULL; j++)
            if (name.len > 0 && name.data[0] == groups[i].names[j][0] &&
                gufo_str_equal(name, gufo_str_of(groups[i].names[j]))) {
                *number = j;
                return &groups[i];
            }
    return NULL;
}

const risky_names *lint_find_variable(gufo_str name, uint64_t *bit)
{
    size_t number;
    const risky_names *group = find(variables, VARIABLE_GROUPS, name, &number);

    if (group != NULL)
        *bit = UINT64_C(1) << ((size_t)(group - variables) * RISKY_NAMES + number);
    return group;
}

const risky_names *lint_find_attribute(gufo_str name)
{
    size_t number;

    return find(attributes, ATTRIBUTE_GROUPS, name, &number);
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

bool lint_is_dangerous(lint_kind kind)
{
    return kind <= LINT_IMPORT;
}
