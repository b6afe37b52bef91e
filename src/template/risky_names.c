/* Ways to Python's frames, code and classes; then what opens files and connections and starts
 * processes, as an attribute (os.popen) or as a variable.  Words that are common names of things in
 * chats are risky only where they are called, or where the template has not defined them itself. */
#include "template/risky_names.h"

#include <string.h>

#include "base/text.h"

static const char inner[] = "is an inner part of Python or Jinja",
                  access_name[] = "gives access to files, programs or the network",
                  built_in[] = "has no parts that a template needs";

static const risky_names attributes[] = {
    {inner,
     0,
     {"mro", "func_globals", "func_code", "func_closure", "func_dict", "func_defaults", "im_class",
      "im_func", "im_self", "gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "cr_code",
      "ag_frame", "ag_code"}},
    {inner,
     0,
     {"tb_frame", "tb_next", "f_globals", "f_locals", "f_builtins", "f_code", "f_back", "co_code",
      "_TemplateReference__context", "_context", "_environment", "_func", "_iterator",
      "_Macro__arguments", "_module", "_recurse"}},
    {access_name,
     0,
     {"import_module", "import_string", "load_module", "from_pyfile", "popen", "Popen",
      "check_output", "subprocess", "urlopen"}},
    {access_name, RISKY_CALLED, {"from_string", "system", "open", "eval", "exec", "socket"}},
};

static const risky_names variables[] = {
    {access_name,
     RISKY_OWN,
     {"os", "sys", "posix", "pty", "shutil", "socket", "requests", "request", "config"}},
    {access_name,
     0,
     {"subprocess", "importlib", "builtins", "ctypes", "urllib", "urlopen", "popen",
      "get_flashed_messages", "url_for", "getattr", "setattr"}},
    {access_name,
     RISKY_OWN | RISKY_CALLED,
     {"system", "open", "eval", "exec", "compile", "globals", "locals", "vars"}},
    {built_in,
     RISKY_OWN | RISKY_MEMBER,
     {"lipsum", "cycler", "joiner", "namespace", "range", "dict", "raise_exception",
      "strftime_now"}},
};

static const risky_names *find(const risky_names *groups, size_t count, gufo_str name)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; groups[i].names[j] != NULL; j++)
            if (gufo_str_equal(name, gufo_str_of(groups[i].names[j])))
                return &groups[i];
    return NULL;
}

const risky_names *risky_attribute(gufo_str name)
{
    return find(attributes, sizeof(attributes) / sizeof(*attributes), name);
}

const risky_names *risky_variable(gufo_str name)
{
    return find(variables, sizeof(variables) / sizeof(*variables), name);
}

static bool is_name_byte(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || (uint8_t)c >= 0x80;
}

bool risky_is_dunder(gufo_str name)
{
    size_t start = 0;

    while (start < name.len && name.data[start] == '_')
        start++;
    /* Nothing but underscores is a line, not a name. */
    return start >= 2 && start < name.len && str_ends(name, "__") &&
           str_span(name, 0, is_name_byte) == name.len;
}

bool risky_has_dunder(gufo_str text)
{
    bool format = text.len != 0 && memchr(text.data, '{', text.len) != NULL;
    bool bare = true; /* only names with dots between them */

    for (size_t i = 0; i < text.len; i++)
        bare = bare && (is_name_byte(text.data[i]) || text.data[i] == '.');
    for (size_t at = 0, end; at < text.len; at = end) {
        char before = at == 0 ? '.' : text.data[at - 1];

        end = at + str_span(text, at, is_name_byte);
        if ((bare || (format && (before == '.' || before == '['))) && end != at &&
            risky_is_dunder((gufo_str){text.data + at, end - at}))
            return true;
        end += end == at;
    }
    return false;
}
