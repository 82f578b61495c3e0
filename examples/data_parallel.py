#!/usr/bin/env python3
"""One quantised network on several GPUs: each process has a GPU, a network and a shard of the images, and NCCL gathers the logits.

    torchrun --nproc-per-node 2 examples/data_parallel.py resnet50.weft --batch 512 --json two_gpus.json
    torchrun --nproc-per-node 2 examples/data_parallel.py resnet18.weft --batch 2 --cpu    # on the CPU, by gloo

--batch is that of each process. First each runs its shard alone, one after the other, then all run at once and gather all outputs at each
step, so that every process has them all. It prints images a second of one GPU (the quickest) and of all, and their ratio, after it has
seen that the gathered outputs are those of one process that runs every shard: 0 differ. It takes the packages weft and torch.
"""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import time
from typing import Any, Callable

import torch
import torch.distributed as dist
import weft


class Worker:
    """One process: its network, its shard, and the outputs of all."""

    def __init__(self, file: str, batch: int, gpu: bool) -> None:
        self.rank, self.ranks, self.gpu, self.batch = dist.get_rank(), dist.get_world_size(), gpu, batch
        self.device = torch.device("cuda", torch.cuda.current_device()) if gpu else torch.device("cpu")
        self.network = weft.load(file)
        if len(self.network.inputs) != 1 or self.network.inputs[0][1] != "float32":
            raise SystemExit(f"{file}: its inputs are {self.network.inputs}; this example feeds one input of float32")
        self.network.prepare(batch, gpu=gpu)
        self.shard = self.images_of(self.rank)
        outputs = self.outputs_of(self.shard)
        self.gathered = [torch.empty((self.ranks * batch, *y.shape[1:]), dtype=y.dtype, device=self.device) for y in outputs]
        self.run: Callable[[], Any] = lambda: self.outputs_of(self.shard)
        self.outputs = outputs
        if gpu:  # a step costs the processor one call
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):  # threads of NCCL ask the GPU meanwhile
                self.outputs = self.outputs_of(self.shard)
            self.run = lambda: (graph.replay(), self.outputs)[1]

    def images_of(self, rank: int) -> torch.Tensor:
        """The shard of a process: random images, the same whoever asks."""
        generator = torch.Generator().manual_seed(rank)
        return torch.randn((self.batch, *self.network.inputs[0][2]), generator=generator).to(self.device)

    def outputs_of(self, images: torch.Tensor) -> list[torch.Tensor]:
        outputs = self.network(images)
        return list(outputs) if isinstance(outputs, tuple) else [outputs]

    def step(self) -> None:
        """The outputs of all images, in every process."""
        for everyone, own in zip(self.gathered, self.run()):
            dist.all_gather_into_tensor(everyone, own)

    def differences(self) -> int:
        """How many gathered outputs are others than those of this process alone."""
        self.step()
        wrong = 0
        for rank in range(self.ranks):
            for everyone, own in zip(self.gathered, self.outputs_of(self.images_of(rank))):
                wrong += int((everyone[rank * self.batch:(rank + 1) * self.batch] != own).sum())
        return wrong

    def wait(self) -> None:
        if self.gpu:
            torch.cuda.synchronize()

    def seconds(self, step: Callable[[], Any], count: int) -> float:
        """The time of a step, the least of three rounds."""
        rounds = []
        for _ in range(3):
            step()
            self.wait()
            begin = time.perf_counter()
            for _ in range(count):
                step()
            self.wait()
            rounds.append((time.perf_counter() - begin) / count)
        return min(rounds)

    def everyones(self, number: float) -> list[float]:
        numbers = torch.zeros(self.ranks, dtype=torch.float64, device=self.device)
        numbers[self.rank] = number
        dist.all_reduce(numbers)
        return numbers.tolist()


def measured(worker: Worker, count: int) -> dict[str, Any]:
    """What is printed. Differences and times are of all processes."""
    wrong = sum(worker.everyones(worker.differences()))
    alone = 0.0
    for rank in range(worker.ranks):
        if rank == worker.rank:
            alone = worker.seconds(worker.run, count)
        dist.barrier()
    one = worker.batch / min(worker.everyones(alone))
    together = worker.ranks * worker.batch / max(worker.everyones(worker.seconds(worker.step, count)))
    return dict(processes=worker.ranks, batch=worker.batch, images_per_s_of_one=round(one, 1), images_per_s_of_all=round(together, 1),
                ratio=round(together / one, 3), outputs=sum(y.numel() for y in worker.gathered), differ=int(wrong),
                device=torch.cuda.get_device_name() if worker.gpu else "CPU", torch=torch.__version__)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("file", help="a .weft file, or a quantised .onnx model")
    arguments.add_argument("--batch", type=int, default=256, help="images of each process at a step")
    arguments.add_argument("--steps", type=int, default=50, help="steps of a round that is timed")
    arguments.add_argument("--cpu", action="store_true", help="on the CPU, by gloo")
    arguments.add_argument("--json", type=pathlib.Path, help="a file for what is printed")
    a = arguments.parse_args()
    if a.cpu:
        dist.init_process_group("gloo")
    else:
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(device)
        dist.init_process_group("nccl", device_id=device)
    result = dict(model=pathlib.Path(a.file).stem, **measured(Worker(a.file, a.batch, not a.cpu), a.steps))
    if dist.get_rank() == 0:
        print(json.dumps(result), flush=True)
        if a.json:
            a.json.write_text(json.dumps(result, indent=1) + "\n")
    dist.destroy_process_group()
    if result["differ"]:
        raise SystemExit(f"{result['differ']} outputs differ from those of one process")


if __name__ == "__main__":
    main()
