#!/usr/bin/env python3
"""A quantised network behind Ray Serve: images as .npy files come by HTTP and are run in batches.

    python examples/ray_serve.py resnet18.weft --batch 64         # one replica on a GPU; --cpu: on the CPU
    python - <<'END'
    import io, urllib.request, numpy as np
    body = io.BytesIO(); np.save(body, np.zeros((3, 64, 64), np.float32))
    print(np.load(io.BytesIO(urllib.request.urlopen("http://127.0.0.1:8000", body.getvalue()).read())).argmax())
    END

It takes the packages weft and ray[serve], and on a GPU torch.
"""
from __future__ import annotations

import argparse
import io
import pathlib
from typing import Any

import numpy as np
from ray import serve
from starlette.requests import Request
from starlette.responses import Response


@serve.deployment
class Served:
    """A network of one input and one output, which runs one number of images; what is missing is filled up."""

    def __init__(self, file: str, batch: int, gpu: bool) -> None:
        import weft

        self.network, self.batch, self.gpu = weft.load(file), batch, gpu
        self.network.prepare(batch, gpu=gpu)
        self.run.set_max_batch_size(batch)

    @serve.batch(batch_wait_timeout_s=0.002)
    async def run(self, images: list[np.ndarray]) -> list[np.ndarray]:
        x: Any = np.zeros((self.batch, *self.network.inputs[0][2]), np.float32)
        x[:len(images)] = images
        if self.gpu:
            import torch

            x = torch.from_numpy(x).cuda()
        y = self.network(x)
        return list((y.cpu().numpy() if self.gpu else y)[:len(images)])

    async def __call__(self, request: Request) -> Response:
        try:
            image = np.load(io.BytesIO(await request.body()), allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            return Response(f"the body is no .npy file: {error}", 400)
        if not isinstance(image, np.ndarray):
            return Response("the body holds several arrays; give a .npy file of one", 400)
        wanted = self.network.inputs[0][2]
        if image.dtype != np.float32 or image.shape != wanted:
            return Response(f"the image is {image.dtype} {image.shape}; give float32 {wanted}", 400)
        body = io.BytesIO()
        np.save(body, await self.run(image))
        return Response(body.getvalue(), media_type="application/octet-stream")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("file", type=pathlib.Path, help="a .weft file, or a quantised .onnx model")
    arguments.add_argument("--batch", type=int, default=64, help="images of a run at most")
    arguments.add_argument("--replicas", type=int, default=1, help="processes, on a GPU one for each")
    arguments.add_argument("--cpu", action="store_true")
    a = arguments.parse_args()
    options = dict(num_replicas=a.replicas, ray_actor_options={"num_gpus": 0 if a.cpu else 1})
    serve.run(Served.options(**options).bind(str(a.file.resolve()), a.batch, not a.cpu), blocking=True)


if __name__ == "__main__":
    main()
