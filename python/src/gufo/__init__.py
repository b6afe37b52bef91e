"""GGUF files: read, check, change, quantize and write them.

Everything of the package ``gguf`` is here under the same names: ``import gufo as gguf`` works.  A module is loaded when
one of its names is used, so that a program pays only for what it uses.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import (constants as constants, gguf_reader as gguf_reader, gguf_writer as gguf_writer, lazy as lazy,
                   metadata as metadata, quants as quants, tensor_mapping as tensor_mapping, utility as utility,
                   vocab as vocab)
    from ._core import Error as Error
    from ._core import version as __version__
    from .constants import *
    from .differences import *
    from .edits import *
    from .estimates import *
    from .findings import *
    from .found import *
    from .gguf_reader import *
    from .hashes import *
    from .importance import *
    from .gguf_writer import *
    from .jobs import *
    from .lazy import *
    from .metadata import *
    from .models import *
    from .pages import *
    from .quants import *
    from .tensor_mapping import *
    from .tensors import *
    from .text import *
    from .utility import *
    from .vocab import *
    from .writing import *

# The names of gguf's modules; what is in none of them is in constants.
_MODULES = {
    "lazy": "LazyBase LazyMeta LazyNumpyTensor",
    "gguf_reader": "GGUFReader READER_SUPPORTED_VERSIONS ReaderField ReaderTensor",
    "gguf_writer": "GGUFValue GGUFWriter SHARD_NAME_FORMAT TensorInfo WriterState",
    "quants": "BF16 IQ1_M IQ1_S IQ2_S IQ2_XS IQ2_XXS IQ3_S IQ3_XXS IQ4_NL IQ4_XS MXFP4 NVFP4 Q2_K Q3_K Q4_0 Q4_1 Q4_K "
              "Q5_0 Q5_1 Q5_K Q6_K Q8_0 QuantError TQ1_0 TQ2_0 dequantize np_roundf quant_shape_from_byte_shape "
              "quant_shape_to_byte_shape quantize",
    "tensor_mapping": "TensorNameMap get_tensor_name_map",
    "vocab": "BaseVocab BpeVocab LlamaHfVocab MistralTokenizer MistralTokenizerType MistralVocab NoVocab "
             "SentencePieceProcessor SentencePieceTokenizer SentencePieceVocab SpecialVocab Tekkenizer Vocab "
             "bytes_to_unicode get_one_valid_tokenizer_file",
    "utility": "LocalTensor LocalTensorRange RemoteTensor SafetensorRemote SafetensorsLocal fill_templated_filename "
               "model_weight_count_rounded_notation naming_convention size_label",
    "metadata": "Metadata",
}

# The same of gufo's own interface: gguf does not have these names, and a star does not import them.
_OWN = {
    "_core": "Error",
    "models": "Entry Model open validate",
    "tensors": "Mapped Tensor Tensors",
    "findings": "Finding Findings",
    "jobs": "Job JobTensor Output PartResult QuantizeJob SizePlan SizeTensor convert",
    "plans": "Part PartOutput Plan plan",
    "edits": "Change Edit EditPlan edit recover",
    "writing": "write",
    "importance": "Imatrix imatrix",
    "hashes": "Hashes Verdict Verification hash verify",
    "text": "Census Token TokenDiff Tokenizer TokenizerDiff Tokens tokenizer",
    "estimates": "Estimate EstimateDevice estimate",
    "found": "Found find",
    "pages": "report",
    "differences": "Diff EntryDiff TensorDiff ValuesDiff diff",
    "notebook": "",
    "progress": "",
}

# What gguf's modules import, they export: programs use such names too.
_IMPORTED = {
    "abc": "ABC ABCMeta abstractmethod",
    "collections": "OrderedDict",
    "dataclasses": "dataclass",
    "enum": "Enum IntEnum auto",
    "io": "BufferedWriter",
    "math": "ceil log2 prod",
    "numpy.typing": "DTypeLike",
    "pathlib": "Path",
    "string": "ascii_letters digits",
    "typing": "Any Callable ClassVar IO Iterable Literal Mapping NamedTuple Optional Protocol Sequence TypeVar Union "
              "runtime_checkable",
}
_IMPORTED_MODULES = {name: name for name in "json logging math os re shutil struct sys tempfile yaml".split()}
_IMPORTED_MODULES |= {"np": "numpy", "npt": "numpy.typing", "gguf": __name__}

_HOME = {name: f"{__name__}.{module}" for module, names in (_MODULES | _OWN).items() for name in names.split()}
_HOME |= {name: module for module, names in _IMPORTED.items() for name in names.split()}


def _find(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _IMPORTED_MODULES:
        return import_module(_IMPORTED_MODULES[name])
    if name in _MODULES or name in _OWN or name == "constants":
        return import_module(f"{__name__}.{name}")
    if name == "__version__":
        return getattr(import_module(f"{__name__}._core"), "version")
    if name == "logger":
        return import_module("logging").getLogger(__name__)
    if name == "__all__":
        own = {*_OWN, *" ".join(_OWN.values()).split(), "TYPE_CHECKING", "import_module"}
        return [other for other in __dir__() if not other.startswith("_") and other not in own]
    if not name.startswith("_"):
        return getattr(import_module(f"{__name__}.constants"), name)
    raise AttributeError(name)


if not TYPE_CHECKING:  # a checker would take any name for one of the package
    def __getattr__(name):
        try:
            found = _find(name)
        except AttributeError:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
        if name != "__all__":
            globals()[name] = found
        return found


def __dir__() -> list[str]:
    constants = vars(import_module(f"{__name__}.constants"))
    names = {*globals(), *_HOME, *_IMPORTED_MODULES, *_MODULES, *_OWN, "constants", "logger", "__version__"}
    return sorted(names.union(name for name in constants if not name.startswith("_")))
