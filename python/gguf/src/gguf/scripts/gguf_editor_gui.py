import sys

from gufo.scripts import gguf_editor_gui

if __name__ == "__main__":
    gguf_editor_gui.main()
else:
    sys.modules[__name__] = gguf_editor_gui
