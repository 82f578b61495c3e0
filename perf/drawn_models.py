"""Networks for networks.py whose filters travel as the seed of their random numbers: of 138 MB of VGG-16 a few hundred kB remain.

`pack` leaves the filters out of a graph's file, after it has seen that random numbers drawn anew give the same bytes; `unpack` draws them
again, and the checksum that every .weft file has says that nothing else came out. Beside them lie the outputs that are wanted, and the
network's nodes over floats, of which a peer can be made without onnx (torch_network.py).
"""
import json

import numpy as np

SEED = 0  # of the weights, as FloatModel has it
BEGINNING, BLOCK = 128, 64  # of a .weft file


def draws(asked):
    """The random arrays of a list of means, deviations and shapes, one after the other."""
    random = np.random.default_rng(SEED)
    for mean, deviation, shape in asked:
        yield random.normal(mean, deviation, shape).astype(np.float32)


def quantized(weights, scale):
    """As onnxruntime's quantizer makes int8 weights without a zero point."""
    return np.clip(np.rint(weights / np.float32(scale)), -127, 127).astype(np.int8)


def text_of(data):
    """The JSON text of a .weft file, and where its constants begin."""
    bytes_of_text = int.from_bytes(data[16:24], "little")
    return json.loads(data[BEGINNING:BEGINNING + bytes_of_text]), BEGINNING + bytes_of_text


def places(data, drawn):
    """Of each drawn filter its place in a .weft file and its scale. drawn: names of nodes, each with the number of its random array."""
    text, begin = text_of(data)
    for node in text["nodes"]:
        if node["name"] in drawn:
            at, count = node["filter"]
            scale = int(begin + node["filter_scale"][0])
            yield drawn[node["name"]], slice(begin + at, begin + at + count), np.frombuffer(bytes(data[scale:scale + 4]), "<f4")[0]


def notes_of(model):
    """What is kept of a model of floats, as JSON: its draws, its nodes, and its constants as numbers if there are few of them, else as their shapes."""
    from onnx import helper, numpy_helper

    constants = {}
    for initializer in model.graph.initializer:
        array = numpy_helper.to_array(initializer)
        constants[initializer.name] = dict(shape=list(array.shape), **({"values": array.reshape(-1).tolist()} if array.size <= 8 else {}))
    nodes = [dict(kind=n.op_type, inputs=list(n.input), output=n.output[0],
                  attributes={a.name: helper.get_attribute_value(a) for a in n.attribute if a.type != a.STRING}) for n in model.graph.node]
    asked = json.loads(next(note.value for note in model.metadata_props if note.key == "draws"))
    layers = [node.name for node in model.graph.node if node.op_type in ("Conv", "Gemm")]
    return dict(asked=asked, layers=layers, model=dict(nodes=nodes, constants=constants, outputs=[o.name for o in model.graph.output]))


def pack(path, graph, notes, wanted):
    """Writes a graph that was imported from a quantized model, the notes of that of floats, and the outputs that are wanted.

    notes: None of a model whose weights nobody draws, which are written.
    """
    import weft.network

    notes = notes or dict(asked=[], layers=[], model=None)
    asked, layers = notes["asked"], notes["layers"]
    data = bytearray(weft.network.write_graph(graph))
    filters = [i for i, (_, _, shape) in enumerate(asked) if len(shape) > 1]
    if len(layers) != len(filters):
        raise ValueError(f"{path}: {len(layers)} layers have weights, and {len(filters)} arrays are drawn")
    numbers = dict(zip(layers, filters))
    products = [node.name for node in graph.nodes if node.filter is not None and layers]
    drawn = {name: numbers[name.removesuffix("_quant")] for name in products}
    found = {number: (place, scale) for number, place, scale in places(data, drawn)}
    for number, weights in enumerate(draws(asked)):
        if number in found:
            place, scale = found[number]
            if quantized(weights, scale).tobytes() != bytes(data[place]):
                raise ValueError(f"{path}: the weights of draw {number} are others than the quantizer's")
            data[place] = bytes(place.stop - place.start)
    np.savez_compressed(path, weft=np.frombuffer(bytes(data), np.uint8), notes=json.dumps(dict(notes, drawn=drawn)),
                        **{f"wanted_{i}": y for i, y in enumerate(wanted)})


def unpack(path):
    """The bytes of the .weft file, the nodes over floats, and the outputs that are wanted."""
    with np.load(path) as file:
        data, notes = bytearray(file["weft"].tobytes()), json.loads(str(file["notes"]))
        wanted = [file[name] for name in sorted(file.files, key=lambda name: (len(name), name)) if name.startswith("wanted_")]
    found = {number: (place, scale) for number, place, scale in places(data, notes["drawn"])}
    for number, weights in enumerate(draws(notes["asked"])):
        if number in found:
            place, scale = found[number]
            data[place] = quantized(weights, scale).tobytes()
    return bytes(data), notes["model"], wanted
