#!/usr/bin/env python3
"""What the reference converter makes of a small model: expect.py LLAMA_CPP NAME.json

Reads `config`, `other_files` and `tensors` of NAME.json, writes the folder that they describe (README.md beside
this has the rules), runs the unchanged classes of LLAMA_CPP/conversion (or convert_hf_to_gguf.py) on it without a
tokenizer, and prints NAME.json with `expected`.  Needs Python 3.9 with numpy and PyTorch (Debian: python3-torch),
nothing else: what the reference imports beside them is replaced by empty modules.
"""
import hashlib
import importlib.util
import json
import logging
import math
import pathlib
import struct
import sys
import tempfile
import types

import numpy
import torch

WORD = (1 << 64) - 1
SCALARS = {0: 'uint8 B', 1: 'int8 b', 2: 'uint16 H', 3: 'int16 h', 4: 'uint32 I', 5: 'int32 i', 6: 'float32 f',
           7: 'bool ?', 10: 'uint64 Q', 11: 'int64 q', 12: 'float64 d'}
TENSOR_TYPES = {0: ('F32', 4), 1: ('F16', 2), 8: ('Q8_0', 34 / 32), 24: ('I8', 1), 26: ('I32', 4), 30: ('BF16', 2)}
TOWER_TYPES = {'f32': 'ALL_F32', 'f16': 'MOSTLY_F16', 'bf16': 'MOSTLY_BF16', 'q8_0': 'MOSTLY_Q8_0'}


# ---- the model -------------------------------------------------------------------------------

def fnv1a64(text):
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 & WORD
    return value


def splitmix64(state):
    z = state + 0x9e3779b97f4a7c15 & WORD
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & WORD
    z = (z ^ z >> 27) * 0x94d049bb133111eb & WORD
    return z ^ z >> 31


def numbers(name, shape, rule):
    start = fnv1a64(name)
    values = [((splitmix64(start + i & WORD) >> 56) - 128) / 64 for i in range(math.prod(shape))]
    values = numpy.array(values, dtype='float32')
    if isinstance(rule, list):
        heads = values.reshape(-1, sum(rule), shape[-1])
        heads[:, :rule[0], shape[-1] // 2:] = 0
        heads[:, rule[0]:, :shape[-1] // 2] = 0
    elif rule is not None:
        values[:] = 0 if rule == 'zeros' else rule
    return values


def stored(values, dtype):
    if dtype == 'BF16':
        return (values.view('uint32') >> 16).astype('<u2').tobytes()
    return values.astype({'F32': '<f4', 'F16': '<f2'}[dtype]).tobytes()


def write_folder(fixture, folder):
    folder.mkdir()
    name = 'params.json' if 'mistral' in fixture else 'config.json'
    files = dict(fixture.get('other_files', {}), **{name: fixture['config']})
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    header, data = {}, b''
    for name, dtype, shape, *rule in fixture['tensors']:
        part = stored(numbers(name, shape, rule[0] if rule else None), dtype)
        header[name] = {'dtype': dtype, 'shape': shape, 'data_offsets': [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    (folder / ('consolidated.safetensors' if 'mistral' in fixture else 'model.safetensors')).write_bytes(struct.pack('<Q', len(text)) + text + data)


# ---- the reference ---------------------------------------------------------------------------

class SafeOpen:
    """safetensors.safe_open, as far as converters use it."""

    def __init__(self, path, **_):
        content = pathlib.Path(path).read_bytes()
        end = 8 + struct.unpack('<Q', content[:8])[0]
        self.entries, self.data = json.loads(content[8:end]), content[end:]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def keys(self):
        return list(self.entries)

    def get_tensor(self, name):
        entry = self.entries[name]
        dtype = {'F32': torch.float32, 'F16': torch.float16, 'BF16': torch.bfloat16}[entry['dtype']]
        data = bytearray(self.data[slice(*entry['data_offsets'])])
        return torch.frombuffer(data, dtype=dtype).reshape(entry['shape'])


def refuse(*_, **__):
    raise RuntimeError('config.json is taken as it is')


def reference_class(root, name, tower=False):
    auto = type('Auto', (), {'from_pretrained': staticmethod(refuse)})
    sys.modules['transformers'] = types.ModuleType('transformers')
    sys.modules['transformers'].AutoConfig = sys.modules['transformers'].AutoTokenizer = auto
    sys.modules['safetensors'] = types.ModuleType('safetensors')
    sys.modules['safetensors'].safe_open = SafeOpen
    for dtype in ('float8_e4m3fn', 'float8_e5m2', 'float8_e8m0fnu', 'float4_e2m1fn_x2', 'uint16', 'uint32', 'uint64'):
        if not hasattr(torch, dtype):  # of a later PyTorch; no model here has numbers of it
            setattr(torch, dtype, object())
    sys.path[:0] = [str(root), str(root / 'gguf-py')]
    logging.disable(logging.CRITICAL)
    if (root / 'conversion').is_dir():
        from conversion import get_model_class
        return get_model_class(name, mmproj=tower)
    spec = importlib.util.spec_from_file_location('converter', root / 'convert_hf_to_gguf.py')
    converter = sys.modules['converter'] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(converter)
    return converter.Model.from_model_architecture(name)


def convert(model_class, folder, file_type, path):
    model_class.set_vocab = lambda self: None
    with torch.inference_mode():
        model_class(folder, file_type, path, eager=True).write()
    return path.read_bytes()


# ---- the result ------------------------------------------------------------------------------

class Reader:
    """Metadata and tensors of a GGUF file, little-endian, version 3."""

    def __init__(self, content):
        self.content, self.at = content, 8
        tensors, keys = self.take('Q'), self.take('Q')
        self.metadata = dict(self.entry() for _ in range(keys))
        self.tensors = [self.tensor() for _ in range(tensors)]
        self.begin = -(-self.at // 32) * 32

    def take(self, letter):
        value, = struct.unpack_from('<' + letter, self.content, self.at)
        self.at += struct.calcsize('<' + letter)
        return value

    def text(self):
        size = self.take('Q')
        self.at += size
        return self.content[self.at - size:self.at].decode()

    def value(self, number):
        return self.text() if number == 8 else self.take(SCALARS[number].split()[1])

    def entry(self):
        key, number = self.text(), self.take('I')
        if number != 9:
            return key, {'type': self.type_name(number), 'value': self.value(number)}
        number, count = self.take('I'), self.take('Q')
        return key, {'type': f'array[{self.type_name(number)}]', 'value': [self.value(number) for _ in range(count)]}

    @staticmethod
    def type_name(number):
        return 'string' if number == 8 else SCALARS[number].split()[0]

    def tensor(self):
        name = self.text()
        dims = [self.take('Q') for _ in range(self.take('I'))]
        return name, dims, TENSOR_TYPES[self.take('I')], self.take('Q')

    def data(self, dims, size, offset):
        begin = self.begin + offset
        return self.content[begin:begin + int(math.prod(dims) * size)]

    def digest(self, dims, size, offset):
        return hashlib.sha256(self.data(dims, size, offset)).hexdigest()

    def digest_all(self):
        whole = b''.join(self.data(dims, size, offset) for _, dims, (_, size), offset in self.tensors)
        return hashlib.sha256(whole).hexdigest()


def text_of(value):
    return json.dumps(value, separators=(',', ':'))


def lines_of(values):
    return ',\n'.join(map(text_of, values))


def tower(root, fixture, folder):
    config, gguf_type = fixture['config'], {}
    name = 'params.json' if 'mistral' in fixture else (config.get('vision_config', {}).get('architectures')
                                                       or config['architectures'])[0]
    model_class = reference_class(root.resolve(), name, True)
    import gguf
    for target, file_type in TOWER_TYPES.items():
        content = convert(model_class, folder, gguf.LlamaFileType[file_type], folder / (target + '.gguf'))
        gguf_type[target] = Reader(content)
    renamed = fixture.get('renamed', {})
    full = gguf_type['f32']
    tensors = [[renamed.get(row[0], row[0]), row[1], {target: file.tensors[i][2][0] for target, file in gguf_type.items()},
                full.digest(row[1], row[2][1], row[3])] for i, row in enumerate(full.tensors)]
    return full.metadata, tensors, {target: file.digest_all() for target, file in gguf_type.items()}


def model(root, fixture, folder):
    model_class = reference_class(root.resolve(), fixture['config']['architectures'][0])
    import gguf
    full = Reader(convert(model_class, folder, gguf.LlamaFileType.ALL_F32, folder / 'f32.gguf'))
    half = Reader(convert(model_class, folder, gguf.LlamaFileType.MOSTLY_F16, folder / 'f16.gguf'))
    half_types = {name: kind[0] for name, _, kind, _ in half.tensors}
    tensors = [[name, dims, {'f32': kind, 'f16': half_types[name]}, full.digest(dims, size, offset)]
               for name, dims, (kind, size), offset in full.tensors]
    return full.metadata, tensors, None


def main(root, path):
    fixture = json.loads(path.read_text())
    with tempfile.TemporaryDirectory() as top:
        folder = pathlib.Path(top) / path.stem
        write_folder(fixture, folder)
        metadata, tensors, data = (tower if 'mmproj' in fixture else model)(root, fixture, folder)
    others = ''.join(f'{text_of(key)}:{text_of(value)},\n' for key, value in fixture.items()
                     if key not in ('config', 'tensors', 'expected'))
    metadata = ',\n'.join(f'{text_of(key)}:{text_of(value)}' for key, value in metadata.items()
                          if not key.startswith('tokenizer.'))
    all_data = f',\n"data":{text_of(data)}' if data else ''
    print(f'{{"config":{text_of(fixture["config"])},\n{others}"tensors":[\n{lines_of(fixture["tensors"])}],\n'
          f'"expected":{{"metadata":{{\n{metadata}}},\n"tensors":[\n{lines_of(tensors)}]{all_data}}}}}')


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
