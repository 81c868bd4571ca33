"""A Python function of tensors as one functional graph of core aten ops, each with the user's line.

It runs once, on fake tensors: what torch's autograd and optimizers do, mutations and recomputation are recorded op by
op (recording.py), and then written as a graph without mutations, of what the table of ops (aten/) has (functional.py).
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch._decomp import core_aten_decompositions, decomposition_table, get_decompositions
from torch._library.custom_ops import OPDEFS
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.modules.batchnorm import _BatchNorm
from torch.overrides import TorchFunctionMode

from .alignment import selected, without_kernel
from .aten import TABLE
from .aten.composed import COMPOSED
from .aten.table import written
from .averages import without_first
from .builder import Site, UnsupportedError
from .checkpointing import without_reentry
from .checks import Checks
from .constants import Constants
from .covariance import WITHOUT_QUESTIONS
from .deferred import Number, Numbers
from .dense import WITHOUT_SPARSE_GRADIENTS, check_dense, without_nesting
from .flexible import without_flexible_kernel
from .functional import SITE, Functional, Templates
from .optimizers import as_compiled
from .python_numbers import Replaced
from .randomness import Randomness
from .recording import Recorder, Results, leaves_of, mapped
from .replacing import replaced
from .selections import WHAT_A_MASK_TAKES, Selections, mask_in
from .sharing import is_lost_by_foreach, note
from .sizes import Sizes
from .subscripts import Subscripts

aten = torch.ops.aten
# Frames of these folders are nobody's model; torchvision's are, whose folder begins as torch's.
_FOLDERS = (f"{Path(torch.__file__).parent}{os.sep}", f"{Path(__file__).parent}{os.sep}", str(contextlib.__file__))

# What the decompositions that torch calls core leave, and other decompositions of torch's take apart.
_FURTHER = [
    aten._log_softmax,
    aten._log_softmax_backward_data,
    aten._native_batch_norm_legit,
    aten._native_batch_norm_legit_functional,
    aten._native_batch_norm_legit_no_training,
    aten._softmax,
    aten._softmax_backward_data,
    aten.celu,
    aten.elu,
    aten.elu_backward,
    aten.gelu,
    aten.gelu_backward,
    aten.glu,
    aten.glu_backward,
    aten.hardsigmoid,
    aten.hardswish,
    aten.hardtanh,
    aten.leaky_relu,
    aten.log_sigmoid_forward,
    aten.mish,
    aten.native_batch_norm_backward,
    aten.native_group_norm,
    aten.native_group_norm_backward,
    aten.native_layer_norm,
    aten.native_layer_norm_backward,
    aten.prelu,
    aten.silu,
    aten.silu_backward,
    aten.softplus,
    aten.std,
    aten.std_mean,
    aten.var_mean,
]
# What torch would decompose, and the table has: a decomposition says less than the op.
_KEPT = [
    aten.embedding_dense_backward,
    aten.index_add,
    aten.logit,
    aten.logit_backward,
    aten.max_pool2d_with_indices_backward,
    aten.reflection_pad1d_backward,
    aten.reflection_pad2d_backward,
    aten.reflection_pad3d_backward,
    aten.slice_scatter,
    aten.stack,
    aten.select_scatter,
    aten.threshold_backward,
    aten.upsample_bicubic2d,
    aten.upsample_bilinear2d,
    aten.upsample_linear1d,
    aten.upsample_nearest1d,
    aten.upsample_nearest2d,
    aten.upsample_nearest3d,
    aten.upsample_trilinear3d,
    aten._upsample_nearest_exact1d,
    aten._upsample_nearest_exact2d,
    aten._upsample_nearest_exact3d,
    aten.xlogy,
]


@functools.lru_cache(maxsize=1)
def _decompositions(entries: int, known: int) -> dict[Any, Callable[..., Any]]:
    """torch's own decompositions, as far as the table of ops needs them; of so many entries and decompositions."""
    table = dict(core_aten_decompositions())
    table.update(get_decompositions(_FURTHER))
    for packet in _KEPT:
        for overload in packet.overloads():
            table.pop(getattr(packet, overload), None)
    for op, function in decomposition_table.items():
        if isinstance(op, torch._ops.OpOverload) and op not in TABLE and not op._schema.is_mutable:
            table.setdefault(op, function)
    table.update(COMPOSED)
    # Its logsumexp is wrong, and with it the gradients.
    del table[aten._scaled_dot_product_flash_attention_for_cpu.default]
    return table


def decompositions() -> dict[Any, Callable[..., Any]]:
    """torch's own decompositions, as far as the table of ops needs them."""
    return _decompositions(len(TABLE), len(decomposition_table))


def _batch_norm(x, weight, bias, mean, variance, training, momentum, eps):
    """`native_batch_norm`, whose schema does not say that it changes the running mean and variance, by ops that say
    it.
    """
    if mean is None:
        return aten._native_batch_norm_legit.no_stats(x, weight, bias, training, momentum, eps)
    if training:
        result = aten._native_batch_norm_legit_functional(x, weight, bias, mean, variance, training, momentum, eps)
        mean.copy_(result[3])
        variance.copy_(result[4])
        return result[:3]
    return aten._native_batch_norm_legit_no_training.default(x, weight, bias, mean, variance, momentum, eps)


def _averaging(forward: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A batch norm's forward that asks for no count of batches as a number, which it does where `momentum=None`: the
    running statistics are the mean over all batches.
    """

    def run(self: Any, x: torch.Tensor) -> torch.Tensor:
        if self.momentum is not None or not self.training or self.num_batches_tracked is None:
            return forward(self, x)
        running = {name: getattr(self, name) for name in ("running_mean", "running_var")}
        with contextlib.ExitStack() as stack:
            found = {name: statistic.clone() for name, statistic in running.items()}
            for name, value in {"momentum": 1.0, **found}.items():
                stack.enter_context(replaced(self, name, value))
            result = forward(self, x)
        with torch.no_grad():
            for name, statistic in running.items():
                statistic += (found[name] - statistic) / self.num_batches_tracked
        return result

    return run


def _applying(apply: Callable[..., Any]) -> Callable[..., Any]:
    """`Module._apply`, by which `.to(device)` exchanges parameters, also for those that are there: they stay."""

    def run(self: torch.nn.Module, function: Callable[..., torch.Tensor], *args: Any, **kwargs: Any) -> Any:
        with torch.no_grad():
            if all(function(tensor) is tensor for tensor in (*self.parameters(), *self.buffers())):
                return self
        try:
            return apply(self, function, *args, **kwargs)
        except RuntimeError as error:
            raise UnsupportedError(
                f"forward converts the parameters of a module, {type(self).__name__}, which a step keeps as they are; "
                "expected the module converted before, or autocast",
                _callers_site(),
            ) from error

    return run


def _refusing(scale: Callable[..., Any]) -> Callable[..., Any]:
    """`GradScaler.scale`, which is refused: nothing would divide the gradients again."""

    def run(self: Any, outputs: Any) -> Any:
        if not self.is_enabled():
            return scale(self, outputs)
        raise UnsupportedError(
            "a loss that torch.amp.GradScaler scales, whose gradients a step does not divide again; expected the loss "
            "itself, under autocast to bfloat16, which needs no scale, or GradScaler(enabled=False)",
            _callers_site(),
        )

    return run


def _lstsq(x, y, rcond=None, *, driver=None):
    """`linalg_lstsq`, the shapes of whose results depend on the rank: as if it were whole, the solution right all the
    same.
    """
    rows, columns = x.shape[-2:]
    found = torch.linalg.pinv(x, rtol=rcond) @ y
    none = y.new_empty([0], dtype=x.real.dtype if x.is_complex() else x.dtype)
    has_rest = rows > columns and driver not in (None, "gelsy")
    rest = ((x @ found - y).abs() ** 2).sum(-2) if has_rest else none
    rank = torch.empty([0], dtype=torch.int64) if driver == "gels" else torch.linalg.matrix_rank(x, rtol=rcond)
    return found, rest, rank, torch.linalg.svdvals(x) if driver in ("gelsd", "gelss") else none


def _zeros(size, **keywords):
    """What forward-mode AD makes for a tangent that is zero; fake tensors lose its device in ops of several tensors."""
    return torch.zeros(size, **keywords)


_HONEST: dict[Any, Callable[..., Any]] = {
    aten.native_batch_norm.default: _batch_norm,
    aten.linalg_lstsq.default: _lstsq,
    aten._efficientzerotensor.default: _zeros,
}


def _bodies() -> dict[Any, Callable[..., Any]]:
    """The functions of `torch.library.custom_op`, for ops that the table has not."""

    def traced(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except Exception:  # it asks for more than ops on tensors, as NumPy does: the op is refused by name
                return NotImplemented

        return run

    return {op._opoverload: traced(op._init_fn) for op in OPDEFS.values() if not written(op._opoverload)}


def _callers_frame() -> types.FrameType | None:
    """The innermost frame of the call stack that is neither torch's nor ours."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_FOLDERS) and not file.startswith("<"):
            break
        frame = frame.f_back
    return frame


def caller(frame: types.FrameType | None = None) -> tuple[str, int]:
    """The innermost line of the call stack that is neither torch's nor ours; frame: its frame, if that is known."""
    frame = frame or _callers_frame()
    return ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def _callers_site() -> Site:
    return Site(*caller())


def _set_data(x: torch.Tensor, value: torch.Tensor) -> None:
    """`x.data = value`, which autograd's C++ does where no trace sees it: here the value is copied."""
    if torch.nn.parameter.is_lazy(x):
        return torch.Tensor.data.__set__(x, value)
    if (x.shape, x.dtype) != (value.shape, value.dtype):
        raise UnsupportedError(
            f"the data of a tensor, {x.dtype}{list(x.shape)}, is set to {value.dtype}{list(value.shape)}; expected the "
            "same type and shape, or another tensor",
            _callers_site(),
        )
    note(x, value)
    x.data.copy_(value)


def _formatted(x: torch.Tensor, spec: str) -> str:
    """`f"{x:.3f}"`."""
    return format(x if x.dim() or not spec else x.item(), spec)


_REPLACED: dict[Any, Callable[..., Any]] = {
    **WITHOUT_QUESTIONS, **WITHOUT_SPARSE_GRADIENTS, torch.Tensor.data.__set__: _set_data,
    torch.Tensor.__format__: _formatted,
}  # fmt: skip


# What asks a tensor for its numbers, and may be given others; what may not.
_NUMBERS = {
    torch.Tensor.item: Numbers.item, torch.Tensor.tolist: Numbers.tolist, torch.Tensor.__format__: Numbers.text,
}  # fmt: skip
_CONVERSIONS = (torch.Tensor.__float__, torch.Tensor.__int__, torch.Tensor.__complex__)
_INSTEAD = "x.item() is captured, of a number that is returned, logged or computed with"


def _selection(func: Any, args: Sequence[Any]) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The tensor and the mask of a call that takes what a mask selects."""
    if func not in (torch.masked_select, torch.Tensor.masked_select, torch.Tensor.__getitem__) or len(args) != 2:
        return None
    if func is not torch.Tensor.__getitem__:
        return torch.broadcast_tensors(*args)
    mask = mask_in(*args)
    return None if mask is None else (args[0], mask)


class Sources(TorchFunctionMode):
    """Notes for each op that is traced the line that asked for it, and for autograd's the line of the forward op."""

    def __init__(self, constants: Constants, recorder: Recorder, numbers: Numbers) -> None:
        super().__init__()
        self.recorder, self.numbers = recorder, numbers
        self.constants, self.subscripts = constants, Subscripts(constants)
        self.replaced = {**_REPLACED, **self.subscripts.functions, **Sizes(constants).functions}
        self.modules: list[str] = []
        self.selections = Selections()
        # Functions of numbers, by which the modules that run ask tensors for theirs.
        self.python = Replaced()
        # What a call was refused for, if one was, which the program may have caught: it goes on otherwise then.
        self.refused: UnsupportedError | None = None

    def _run(self, func: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """The result of a function."""
        if keywords.get("generator") is not None:
            raise UnsupportedError(
                "random numbers of a generator, whose state a program has not; expected torch's own (generator=None), "
                "which follow from the argument 'seed', or the numbers as a tensor of the batch or a buffer",
                _callers_site(),
            )
        if is_lost_by_foreach(func, args):
            raise UnsupportedError(
                f"'{func.__name__}' changes a view with a gradient, or a tensor twice; expected a loop", _callers_site()
            )
        if func is torch.nn.functional.ctc_loss:
            args, keywords = torch.utils._pytree.tree_map(self._labels, (args, keywords))
        try:
            if self.numbers.made and next(leaves_of((args, keywords), Number), None) is not None:
                return self._run_with_numbers(func, args, keywords)
            run = functools.partial(self.replaced.get(func, func), *args, **keywords)
            return self.selections.call(func, args, keywords, run)
        except DataDependentOutputException as error:
            if func in _NUMBERS:
                return _NUMBERS[func](self.numbers, args[0], _callers_site())
            if func not in _CONVERSIONS:
                raise
            raise _data_dependent(error, f"'{func.__name__}' ({_INSTEAD})", _callers_site()) from error
        except DynamicOutputShapeException as error:
            asked = _selection(func, args)
            if asked is None:
                raise
            return self.selections.take(*asked, _data_dependent(error, WHAT_A_MASK_TAKES, _callers_site()))

    def _run_with_numbers(self, func: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        try:
            return self.numbers.run(func, args, keywords, self._run)
        except TypeError as error:  # it takes no tensor in place of a number
            what = f"'{getattr(func, '__name__', func)}' of a number that only a run knows"
            raise _data_dependent(error, what, _callers_site()) from error

    def _labels(self, leaf: Any) -> Any:
        """What a mask selected, one behind the other."""
        source = self.selections.source(leaf)
        return leaf if source is None else selected(*source)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        before = self.recorder.site
        if func is torch.autograd.grad or getattr(func, "__name__", "") == "backward":
            self.selections.check((args, kwargs))
            return func(*args, **(kwargs or {}))
        frame = _callers_frame()
        file, line = caller(frame)
        self.python.enter_callers(frame)
        site = Site(file, line, self.modules[-1] if self.modules else "")
        self.recorder.site = site
        try:
            result = self._run(func, args, kwargs or {})
            self.subscripts.pass_on()
            for tensor in leaves_of(result, torch.Tensor):
                check_dense(tensor, _callers_site)
                self._follow(tensor, site)
            return result
        except (DataDependentOutputException, DynamicOutputShapeException) as error:
            self.refused = self.refused or _data_dependent(error, site=_callers_site())
            raise
        except UnsupportedError as error:
            self.refused = self.refused or error
            raise
        except RuntimeError as error:
            if (what := _asked_in_c(error)) is not None:
                self.refused = self.refused or _data_dependent(error, what, _callers_site())
            raise
        finally:
            self.recorder.site = before

    def _follow(self, tensor: torch.Tensor, site: Site) -> None:
        """Gives the nodes of autograd behind `tensor` that have no site yet this one."""
        try:
            waiting = [tensor.grad_fn]
        except RuntimeError:  # a view made under no_grad, of what has changed since, has none that may be asked for
            return
        if waiting[0] is None:
            return
        backward = Site(site.file, site.line, site.module, backward=True)

        def enter(*_: Any) -> None:
            self.recorder.site = backward

        while waiting:
            node = waiting.pop()
            if node is None or SITE in node.metadata:
                continue
            node.metadata[SITE] = backward
            node.register_prehook(enter)
            waiting += [following for following, _ in node.next_functions]

    @contextlib.contextmanager
    def naming(self, model: torch.nn.Module) -> Iterator[None]:
        """While it lasts, ops are named by the submodule of `model` that runs."""

        def enter(name: str) -> Callable[..., None]:
            return lambda *_: self.modules.append(name)

        def leave(*_: Any) -> None:
            self.modules.pop()

        hooks = []
        for name, module in model.named_modules():
            if isinstance(module, torch.jit.ScriptModule):  # takes no hooks
                continue
            hooks.append(module.register_forward_pre_hook(enter(name)))
            hooks.append(module.register_forward_hook(leave, always_call=True))
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()


def site_of(node: torch.fx.Node) -> Site:
    return node.meta.get(SITE) or Site()


@contextlib.contextmanager
def _without_mkldnn() -> Iterator[None]:
    """Ops of their own for mkldnn are not traced. `torch.backends.mkldnn.flags` would warn of flags that it sets too.
    """
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(before)


@contextlib.contextmanager
def _without_autocasts_cache() -> Iterator[None]:
    """A cast of a parameter of another trace, or of none, would be taken for one of this."""
    before = torch.is_autocast_cache_enabled()
    torch.set_autocast_cache_enabled(False)
    try:
        yield
    finally:
        torch.set_autocast_cache_enabled(before)


@contextlib.contextmanager
def _settings() -> Iterator[None]:
    # Attention is written out: the decomposition of CPU flash attention has wrong gradients.
    with contextlib.ExitStack() as stack:
        stack.enter_context(as_compiled())
        stack.enter_context(without_reentry())
        stack.enter_context(without_kernel())
        stack.enter_context(without_flexible_kernel())
        stack.enter_context(without_first())
        stack.enter_context(without_nesting(_callers_site))
        stack.enter_context(replaced(torch.nn.Module, "_apply", _applying(torch.nn.Module._apply)))
        stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        for kernel in ("flash", "mem_efficient", "math", "cudnn", "overrideable"):  # a model may ask for one
            stack.enter_context(replaced(torch._C, f"_set_sdp_use_{kernel}", lambda _: None))
        stack.enter_context(_without_mkldnn())
        stack.enter_context(replaced(torch.distributions.Distribution, "_validate_args", False))
        stack.enter_context(replaced(torch.amp.GradScaler, "scale", _refusing(torch.amp.GradScaler.scale)))
        # The batch is whole here, and so are its statistics; SyncBatchNorm's own forward refuses what is on no GPU.
        for kind in (_BatchNorm, torch.nn.SyncBatchNorm):
            stack.enter_context(replaced(kind, "forward", _averaging(_BatchNorm.forward)))
        stack.enter_context(_without_autocasts_cache())
        yield


def trace(
    function: Callable[..., Sequence[torch.Tensor]],
    arguments: Sequence[torch.Tensor],
    mode: FakeTensorMode,
    randomness: Randomness,
    numbers: Numbers,
    model: torch.nn.Module | None = None,
    buffers: Mapping[int, tuple[str, torch.Tensor]] | None = None,
) -> tuple[torch.fx.GraphModule, dict[str, Site]]:
    """The functional graph of `function`, from flat tensors of `mode` to flat tensors; and of `buffers`, names and
    values by the place of their argument, those whose numbers Python has asked for, and where.
    """
    constants = Constants(caller)
    fakes = Results(mode)
    recorder = Recorder(fakes, {**_HONEST, **_bodies()})
    inputs = [recorder.enter(argument) for argument in arguments]
    sources = Sources(constants, recorder, numbers)
    with _settings():
        with contextlib.ExitStack() as stack:
            stack.enter_context(_explained())
            stack.enter_context(contextlib.closing(sources.python))
            stack.enter_context(sources)
            if model is not None:
                stack.enter_context(sources.naming(model))
            for context in (mode, recorder):
                stack.enter_context(context)
            constants.enter(arguments, buffers or {})
            for context in (randomness.recording(arguments[-1]), Checks(numbers), constants):
                stack.enter_context(context)
            results = function(*arguments[:-1])
            if sources.refused is not None:
                raise sources.refused
            sources.selections.check(results)
        functional = Functional(Templates(fakes, decompositions()), inputs)
        for call in recorder.calls:
            functional.call(call)
        return functional.result(mapped(results, torch.Tensor, recorder.token)), constants.asked


def _asked_in_c(error: RuntimeError) -> str | None:
    """What asks a tensor for its numbers by itself, if that is the error."""
    if "data is not allocated" in str(error):
        return "a function in C++"
    return f"an array of NumPy ({_INSTEAD})" if "not supported for tensor subclasses" in str(error) else None


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """What a trace is refused for is said at the user's line."""
    try:
        yield
    except (DataDependentOutputException, DynamicOutputShapeException) as error:
        raise _data_dependent(error) from error
    except RuntimeError as error:
        if (what := _asked_in_c(error)) is not None:
            raise _data_dependent(error, what) from error
        name = re.search(r"HigherOrderOperator (\w+)", str(error))
        if not name:
            raise
        raise UnsupportedError(
            f"'{name[1]}' takes functions, which are not captured; expected ops on tensors (torch.where), or a "
            "Python branch or loop that depends on no numbers in tensors",
            _users_site(error),
        ) from error
    except Exception as error:
        _remark(error)
        raise


def _users_site(error: Exception) -> Site:
    """The innermost line of the user's that the error came through."""
    file, line = "", 0
    traceback = error.__traceback__
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if not name.startswith(_FOLDERS) and not name.startswith("<"):
            file, line = name, traceback.tb_lineno
        traceback = traceback.tb_next
    return Site(file, line)


def _remark(error: Exception) -> None:
    """Says of an error in the model's own code what differs from eager PyTorch, where it may not be one."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None or traceback.tb_frame.f_code.co_filename.startswith(_FOLDERS[1]):
        return
    site = _users_site(error)
    error.add_note(
        f"{site.file}:{site.line}: while a step is captured, torch.compiler.is_compiling() is true, and a model that "
        "asks for it may take another branch than in eager PyTorch (transformers' make no masks then); expected a "
        "batch with which torch.compile takes it too"
    )


def _data_dependent(error: Exception, what: str = "", site: Site | None = None) -> UnsupportedError:
    return UnsupportedError(
        f"{what or repr(str(getattr(error, 'func', error)))}: its result depends on the numbers in a tensor, which a "
        "program that is compiled once does not know; expected shapes and branches that need no numbers (torch.where, "
        "masks)",
        site or _users_site(error),
    )
