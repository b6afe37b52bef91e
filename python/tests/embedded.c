/* A Python with gufo._core built in.
 *
 * The extension of a build with sanitizers cannot be loaded by a Python without them, but a program
 * that has both can run tests/replay.py.  It is otherwise what the command python3 is. */
#include <Python.h>

PyMODINIT_FUNC PyInit__core(void);

int main(int argc, char **argv)
{
    if (PyImport_AppendInittab("gufo._core", PyInit__core) != 0)
        return 1;
    return Py_BytesMain(argc, argv);
}
