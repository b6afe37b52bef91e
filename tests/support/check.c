/* Checks with labels; the declarations in check.h say what each does. */
#include "check.h"

static void print_label(const char *label, va_list arguments)
{
    char text[1024];

    vsnprintf(text, sizeof text, label, arguments);
    print_error("[%s] ", text);
}

void check_failed(const char *file, int line, const char *what, const char *label, ...)
{
    va_list arguments;

    va_start(arguments, label);
    print_label(label, arguments);
    va_end(arguments);
    print_error("not true: %s\n", what);
    _fail(file, line);
    abort();
}

void check_u64_at(const char *file, int line, const char *what, uint64_t got, uint64_t expected,
                  const char *label, ...)
{
    va_list arguments;

    if (got == expected)
        return;
    va_start(arguments, label);
    print_label(label, arguments);
    va_end(arguments);
    print_error("%s is %" PRIu64 " (0x%" PRIx64 "), expected %" PRIu64 " (0x%" PRIx64 ")\n", what,
                got, got, expected, expected);
    _fail(file, line);
}

static void print_bytes(gufo_str text)
{
    for (size_t i = 0; i < text.len && i < 80; i++) {
        unsigned char c = (unsigned char)text.data[i];

        if (c >= 0x20 && c < 0x7f)
            print_error("%c", c);
        else
            print_error("\\x%02x", c);
    }
    print_error(" (%zu bytes)", text.len);
}

void check_bytes_at(const char *file, int line, const char *what, gufo_str got, gufo_str expected,
                    const char *label, ...)
{
    va_list arguments;

    if (got.len == expected.len && (got.len == 0 || memcmp(got.data, expected.data, got.len) == 0))
        return;
    va_start(arguments, label);
    print_label(label, arguments);
    va_end(arguments);
    print_error("%s is ", what);
    print_bytes(got);
    print_error(", expected ");
    print_bytes(expected);
    print_error("\n");
    _fail(file, line);
}

void check_status_at(const char *file, int line, const char *what, gufo_status got,
                     gufo_status expected, const gufo_error *error, const char *label, ...)
{
    va_list arguments;

    if (got == expected)
        return;
    va_start(arguments, label);
    print_label(label, arguments);
    va_end(arguments);
    print_error("%s gives \"%s\", expected \"%s\"\n", what, gufo_status_name(got),
                gufo_status_name(expected));
    if (error != NULL && error->code != GUFO_OK)
        print_error("    error: %s (offset %" PRIu64 ", rule %s)\n", error->message, error->offset,
                    error->rule != NULL ? error->rule->name : "none");
    _fail(file, line);
}

gufo_error no_error(void)
{
    gufo_error error;

    memset(&error, 0, sizeof error);
    error.offset = GUFO_NO_OFFSET;
    return error;
}

void check_error_shape(const gufo_error *error, gufo_status expected, const char *label)
{
    size_t len = strnlen(error->message, sizeof error->message);

    check_status(error->code, expected, error, "%s", label);
    check(len > 0, "%s: an error needs a message", label);
    check(len < sizeof error->message, "%s: the message is not terminated", label);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)error->message[i];

        check(c >= 0x20 && c != 0x7f, "%s: control character in \"%s\"", label, error->message);
    }
    check(expected != GUFO_E_IO || error->system != 0 || error->rule == NULL,
          "%s: an I/O error is not a broken rule", label);
}
