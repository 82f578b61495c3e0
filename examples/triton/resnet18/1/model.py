"""A network of Weft as a model of Triton Inference Server's Python back end.

Its folder holds this file and model.weft or model.onnx. Triton hands over the requests that wait; they become one batch, which is filled up to the
next of the batches that were planned and compiled when the server started (`batches` of config.pbtxt), so that no request waits for a compiler.
On a GPU tensors of torch stay there; on the CPU they are arrays of numpy.
"""
import json
import pathlib

import numpy as np
import triton_python_backend_utils as pb_utils
import weft


class TritonPythonModel:
    def initialize(self, args):
        """args: as Triton gives them, all of them text."""
        config = json.loads(args["model_config"])
        folder = pathlib.Path(args["model_repository"]) / args["model_version"]
        files = [folder / name for name in ("model.weft", "model.onnx") if (folder / name).exists()]
        if not files:
            raise pb_utils.TritonModelException(f"{folder} has neither model.weft nor model.onnx; model.save(...) writes the former")
        self.network = weft.load(files[0])
        given = config.get("parameters", {}).get("batches", {}).get("string_value", "")
        most = max(config.get("max_batch_size", 0), 1)
        self.batches = sorted({int(n) for n in given.split(",") if n} | {most})
        self._check(config, most)
        self.gpu = args["model_instance_kind"] == "GPU"
        if self.gpu:
            import torch

            self.torch = torch
            self.device = torch.device("cuda", int(args["model_instance_device_id"]))
            torch.cuda.set_device(self.device)
        for batch in self.batches:
            self.network.prepare(batch, gpu=self.gpu)

    def _check(self, config, most):
        """Names and shapes of config.pbtxt are those of the network."""
        for what, ports in (("input", self.network.inputs), ("output", self.network.outputs)):
            said = {port["name"]: tuple(int(d) for d in port["dims"]) for port in config[what]}
            known = {name: shape for name, _, shape in ports}
            if said != known:
                raise pb_utils.TritonModelException(f"config.pbtxt has {what} {said}, and the network {known}")
        if not 1 <= self.batches[0] or self.batches[-1] > most:
            raise pb_utils.TritonModelException(f"batches={self.batches} of config.pbtxt; give numbers from 1 to max_batch_size={most}")

    def execute(self, requests):
        """A response for each request, in their order."""
        with self._on_device():
            return self._responses(requests)

    def _on_device(self):
        import contextlib

        return self.torch.cuda.device(self.device) if self.gpu else contextlib.nullcontext()

    def _responses(self, requests):
        inputs = [[self._array(pb_utils.get_input_tensor_by_name(request, name)) for request in requests] for name, _, _ in self.network.inputs]
        sizes = [x.shape[0] for x in inputs[0]]
        parts = [self._run([self._joined(xs, begin, end) for xs in inputs]) for begin, end in self._pieces(sum(sizes))]
        outputs = [self._joined([part[i] for part in parts], 0, sum(sizes)) for i in range(len(self.network.outputs))]
        responses, at = [], 0
        for size in sizes:
            responses.append(pb_utils.InferenceResponse([self._tensor(name, y[at:at + size]) for (name, _, _), y in zip(self.network.outputs, outputs)]))
            at += size
        return responses

    def _pieces(self, count):
        """Where to cut so many images, into pieces of at most the largest batch."""
        most = self.batches[-1]
        return [(begin, min(count, begin + most)) for begin in range(0, count, most)]

    def _run(self, inputs):
        """The outputs of at most the largest batch, which is filled up with zeros to the next one that is planned."""
        count = inputs[0].shape[0]
        batch = next(n for n in self.batches if n >= count)
        outputs = self.network(*(self._filled(x, batch) for x in inputs))
        return [y[:count] for y in (outputs if isinstance(outputs, tuple) else (outputs,))]

    # Arrays of torch on a GPU, of numpy elsewhere.

    def _array(self, tensor):
        if not self.gpu:
            return tensor.as_numpy()
        return self.torch.from_dlpack(tensor.to_dlpack()).to(self.device)

    def _joined(self, arrays, begin, end):
        whole = arrays[0] if len(arrays) == 1 else self.torch.cat(arrays) if self.gpu else np.concatenate(arrays)
        return whole[begin:end]

    def _filled(self, x, batch):
        """x with images of zeros behind it, row-major."""
        if x.shape[0] == batch:
            return x.contiguous() if self.gpu else np.ascontiguousarray(x)
        shape = (batch - x.shape[0], *x.shape[1:])
        return self.torch.cat([x, x.new_zeros(shape)]) if self.gpu else np.concatenate([x, np.zeros(shape, x.dtype)])

    def _tensor(self, name, y):
        if not self.gpu:
            return pb_utils.Tensor(name, np.ascontiguousarray(y))
        self.torch.cuda.current_stream().synchronize()  # Triton reads it on streams of its own
        return pb_utils.Tensor.from_dlpack(name, y.contiguous())
