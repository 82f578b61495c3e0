from collections.abc import Mapping, Sequence
from typing import Any, overload

__version__: str

class Error(Exception):
    """What weft refuses, and why, in a sentence."""

class ArgumentError(Error, ValueError):
    """A number, shape, stride or address that does not fit."""

class ArgumentTypeError(Error, TypeError):
    """An object or a dtype of another type."""

class RunError(Error, RuntimeError):
    """What this machine, its GPU or its compiler cannot do."""

class Problem:
    """
    The shape of a convolution, of a name such as n1c64h56w56k64r3s1p1, of fields, or of both: weft.problem_of says what they are. It does not change, and equal ones have one hash.
    """

    def __init__(self, name: str | None = None, **fields: Any) -> None: ...

    def replace(self, **fields: Any) -> Problem:
        """Another problem, in which these fields are others."""

    @property
    def flipped(self) -> bool:
        """
        Whether the filter is turned by 180 degrees, as in mathematics and not in networks.
        """

    @property
    def p(self) -> int:
        """Rows of the output."""

    @property
    def q(self) -> int:
        """Columns of the output."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    @property
    def n(self) -> int:
        """Images."""

    @property
    def h(self) -> int:
        """Rows of an image of x."""

    @property
    def w(self) -> int:
        """Columns of an image of x."""

    @property
    def c(self) -> int:
        """Channels of x, of all groups."""

    @property
    def k(self) -> int:
        """Channels of the output, of all groups."""

    @property
    def r(self) -> int:
        """Rows of the filter."""

    @property
    def s(self) -> int:
        """Columns of the filter."""

    @property
    def pad_top(self) -> int:
        """Rows of zeros above an image."""

    @property
    def pad_left(self) -> int:
        """Columns of zeros on its left."""

    @property
    def pad_bottom(self) -> int:
        """Rows of zeros below it."""

    @property
    def pad_right(self) -> int:
        """Columns of zeros on its right."""

    @property
    def stride_h(self) -> int:
        """Rows of x from one row of the output to the next."""

    @property
    def stride_w(self) -> int:
        """Columns of x from one column of the output to the next."""

    @property
    def dilation_h(self) -> int:
        """Rows of x from one row of the filter to the next."""

    @property
    def dilation_w(self) -> int:
        """Columns of x from one column of the filter to the next."""

    @property
    def groups(self) -> int:
        """Groups of channels, each convolved by itself; they divide c and k."""

class Network:
    """A network for a number of images; weft.network.Network makes it."""

    def __init__(self, file: bytes, batch: int = 1, gpu: bool = False, fuse: bool = True, tiles: Mapping[str, str] = {}, layouts: Sequence[str] = [], machine: str = "", memory: int = 0, blocks: str = "where_quicker") -> None: ...

    @property
    def arena_bytes(self) -> int:
        """
        Bytes of memory that a run needs for what lies between inputs and outputs.
        """

    @property
    def constant_bytes(self) -> int:
        """Bytes of filters and their like."""

    def describe(self) -> str:
        """A line for each kernel."""

    def prepare(self) -> None:
        """
        Loads kernels and filters into the GPU that is current, as the first run does.
        """

    def run(self, inputs: list, outputs: list, arena: Any, stream: Any = None) -> None:
        """Runs the network over arrays where they lie."""

    @property
    def tiles(self) -> dict[str, str]:
        """The tile of each convolution, by its name."""

    def tune(self, progress: Any = None, most: int = 8) -> dict:
        """Finds the tiles with which a run on the current GPU is quickest."""

    def tensors(self) -> list[dict[str, Any]]:
        """The tensors of the plan, and where each lies."""

    def steps(self) -> list[dict[str, Any]]:
        """The kernels of the plan, in their order."""

    def blocks(self) -> list[dict[str, Any]]:
        """The bottlenecks of the graph, and why each is not one kernel."""

    def measure(self, inputs: list, outputs: list, arena: Any, stream: Any = None, repeats: int = 3) -> tuple[list[float], float]:
        """
        Microseconds of each kernel, medians of several runs, and of a run without anything between them.
        """

class Compiled:
    """A policy that was compiled, without a problem."""

    @property
    def policy(self) -> str:
        """The name of the policy's struct."""

def compile(source: str, policy: str, values: Sequence[str]) -> Compiled:
    """What the text of a policy is compiled to."""

def last_type(source: str) -> str:
    """
    The last type that C++ text defines outside all braces; empty if there is none.
    """

def policy_source(name: str, code: str, base: str, element: str, prologue: str) -> str:
    """The text of a policy; what is empty is the base's."""

def check(problem: Problem) -> None:
    """An error unless it is a convolution's."""

def check_transposed(problem: Problem, output_padding: tuple[int, int]) -> None:
    """An error unless it is a transposed convolution's."""

def check_graph(text: bytes, constants: bytes, engine: bool = False) -> None:
    """
    ArgumentError, with the name of a node or tensor, if a file with this text and these constants has no graph that a network can run.
    """

def save_engine(networks: list) -> bytes:
    """
    The bytes of a file with the compiled kernels of these networks, which are of one graph.
    """

def nvrtc() -> str:
    """What compiles for a GPU, or why nothing does."""

def gpu() -> str:
    """The GPU that is current, or why there is none."""

class Operator:
    @overload
    def __init__(self, compiled: Compiled, problem: Problem, matrices: bool = False, source_zero_point: object | None = 0) -> None: ...

    @overload
    def __init__(self, compiled: Compiled, problem: Problem, output_padding: tuple[int, int], source_zero_point: object | None = 0) -> None: ...

    def __call__(self, x: Any, w: Any, *, bias: Any = None, residual: Any = None, alpha: Any = None, beta: float = 1.0, gamma: float = 1.0, output_scale: float = 0.0, zero_point: float = 0.0, out: Any = None, stream: Any = None) -> Any:
        """
        Runs the operator and returns the output; the class says what it takes.
        """

    @property
    def problem(self) -> Problem:
        """
        The problem that the operator was made for. Of a transposed convolution p and q are not the output's.
        """

    def describe(self) -> str:
        """The kernel in a line: tile, instruction, grid, shared memory."""

    def prepare(self) -> None:
        """
        Compiles and loads the kernel for the GPU that is current, as the first call on it does: a call that is captured in a CUDA graph must not be the first.
        """

    @property
    def _src(self) -> tuple: ...

    @property
    def _dst(self) -> tuple: ...

    @property
    def _residual(self) -> tuple: ...

    @property
    def _filter(self) -> tuple: ...

    @property
    def _parts(self) -> list: ...

    @property
    def _packed(self) -> tuple: ...

    @property
    def _corrected(self) -> list[tuple[int, int]]: ...

    def _correct(self, step: int, sums: object, w: object) -> None: ...

    @property
    def values(self) -> list[str]:
        """The names of the functors' members that can be set."""

    def get(self, name: str) -> Any:
        """The value that the next call uses, also op.name."""

    def set(self, name: str, value: Any) -> None:
        """
        Sets a value for the next calls, also op.name = value: a number, or k float32 where the member is an address.
        """

def candidate_tiles(op: Operator, gpu: bool = True) -> list[str]:
    """
    The tiles of the operator's family for the current GPU, the quickest by the model first.
    """

def times(operators: Sequence[Operator]) -> list[float]:
    """
    Microseconds of a call of each on the current GPU, of operators that differ by their tiles; negative for one that cannot run.
    """

def adopt(op: Operator, other: Operator) -> None:
    """Makes `op` the other operator, with the values that `op` has."""
