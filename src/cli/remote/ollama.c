/* gufo ollama: its command line. */
#include "cli/remote/ollama.h"

#include <string.h>

#include "cli/commands.h"
#include "cli/core/options/command_line.h"
#include "cli/core/options/names.h"

static const command_option ollama_table[] = {
    {"name", "NAME", "import: the name in the store, [[HOST/]NAMESPACE/]MODEL[:TAG]",
     OPTION_TEXT(ollama_options, name), .common = true},
    {"param", "NAME=VALUE",
     "import: set a parameter of a Modelfile, such as num_ctx=8192 (repeatable); it takes the "
     "place of what the keys of MODEL advise",
     OPTION_TEXTS(ollama_options, params), .common = true},
    {"system", "TEXT", "import: the system message", OPTION_TEXT(ollama_options, system),
     .common = true},
    {"template", "FILE",
     "import: a template in the language of Go (default: none, so that Ollama uses the chat "
     "template in MODEL)",
     OPTION_TEXT(ollama_options, template_file), .common = true},
    {"license", "FILE", "import: the text of a license (repeatable)",
     OPTION_TEXTS(ollama_options, licenses)},
    {"output", "OUT",
     "export: the file to write (default: MODEL-TAG.gguf); projectors and adapters are beside it",
     OPTION_OUTPUT, .common = true},
    {"link", NULL,
     "export: make OUT a second name of the file in the store, which takes no room; who changes it "
     "in place damages the store",
     OPTION_FLAG(ollama_options, link), .common = true},
    {"settings", "FILE",
     "export: write template, system message, parameters, messages and licenses to FILE as JSON "
     "('-': standard output, and no files are written)",
     OPTION_TEXT(ollama_options, settings), .common = true},
    {"store", "DIR",
     "The folder with manifests and blobs (default: $OLLAMA_MODELS, or ~/.ollama/models)",
     OPTION_TEXT(ollama_options, store)},
    {0},
};

/* ---- the command ---------------------------------------------------------------------------- */

static int run(void *context)
{
    static const struct {
        const char *name;
        int (*run)(ollama_options *options);
    } actions[] = {{"import", ollama_import}, {"export", ollama_export}};
    ollama_options *options = context;
    const char *action = options->base.shared->args[0];
    suggestion near = suggest_start(gufo_str_of(action));

    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(action, actions[i].name) == 0)
            return actions[i].run(options);
        suggest_offer(&near, gufo_str_of(actions[i].name));
    }
    return report_usage("unknown subcommand '%s'%s", action,
                        near.name.len > 0 ? suggest_text(&near, "") : "; use import or export");
}

const command_line command_ollama = {
    .operands = {"import MODEL... --name NAME\nexport NAME [OUT]", 1, 0,
                 "the subcommand is missing: import or export"},
    .doc =
        "Put models into the store of Ollama on this machine, and take them out.\v"
        "Neither Ollama nor a registry is asked, and a server that is running sees the model at "
        "once.  'import' takes a model, and projectors and LoRA adapters for it, as GGUF files.  "
        "A file becomes a blob as it is; shards become one file.  Where the file system can share "
        "blocks, a copy takes no room.  Parameters come from the keys of the model "
        "(general.sampling.*) and its end tokens.  gufo writes the manifest last: an interruption "
        "leaves at most blobs that Ollama removes when it starts.\n\n"
        "'export' compares the SHA-256 of every file with its name in the store.",
    .examples = {{"gufo ollama import model-q4_k_m.gguf --name tiny:q4",
                  "'ollama run tiny:q4' finds the model afterwards."},
                 {"gufo ollama import model-00001-of-00002.gguf mmproj.gguf --name see --param "
                  "num_ctx=8192",
                  "Merges two shards, and adds the projector for images."},
                 {"gufo ollama export tiny:q4 tiny.gguf", "Writes the model to a file."}},
    COMMAND_OPTIONS(ollama_table, ollama_options),
    .run = run,
};
