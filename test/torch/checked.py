"""Functions that ask for the numbers of a tensor; pytest writes `assert` anew in the files of tests."""

import logging
import warnings

import torch
import torch.nn.functional as F


def raises(x):
    if (x < 0).any():
        raise ValueError("negative")
    if not torch.isfinite(x).all():
        message = "not finite"
        raise ValueError(message)
    return x


def ends(x):
    """As torchvision's detectors look for boxes that are none."""
    below = x < 0
    if below.any():
        first = torch.where(below)[0][0]
        torch._assert(False, f"found {x[first].tolist()}")
    return x


def asserts(x):
    assert (x >= 0).all() and x.max() < 8 and not (x < 0).any(), "out of bounds"
    torch._assert((x >= 0).all(), "negative")
    return x


def several(x):
    if x.dim() > 3 or (x < 0).any() or not (x > 0).all():
        raise ValueError("negative")
    if x.dim() and any(part < 0 for part in x) or not bool((x > 0).all()):
        raise ValueError("negative")
    if (
        x.dim() == 1
        and (x
             < 0).any()
    ):  # fmt: skip
        raise ValueError("negative")
    return x


def numbers(x):
    if x.max().item() >= 5:
        raise ValueError("too large")
    if not 0 <= x.min().item() <= 3:
        raise ValueError("out of bounds")
    return x


def alternatives(x):
    if (x > 0).all():
        x = x + 1
    else:
        raise ValueError("negative")
    if x.dim() > 1:
        x = x * 3
    elif (x < 0).any():
        raise ValueError("negative")
    else:
        x = x * 2
    return x


def warns(x):
    if (x < 0).any():
        warnings.warn("negative")
    return x


def equalities(x):
    if not torch.equal(x, x + 0) or not torch.allclose(x, x):
        raise ValueError("not a number")
    return x


def of_generators(x):
    if not all((part > 0).all() for part in (x, 2 * x)):
        raise ValueError("negative")
    if any(torch.equal(part, x.abs().neg()) for part in (x, 2 * x)):
        warnings.warn("negative")
    return x


def of_a_choice(x):
    if (x < 0).any() if isinstance(x, torch.Tensor) else x < 0:
        raise ValueError("negative")
    return x


def logs(x):
    if (x < 0).any():
        assert isinstance(x, torch.Tensor)
        warnings.warn_explicit("negative", UserWarning, "checked.py", 1)
    if (x < 0).any():
        logging.getLogger("x").error("negative")
    return x


def same(x):
    """Equal as they were made, or as their shapes are unlike."""
    y = x.clone()
    if torch.equal(x / y[0], x.clone() / x.detach()[0]):
        y = y * 3
    return y + 1 if x.equal(x[:1]) else y


def with_factors(x):
    """Asks whether a matrix has a factor, as GPyTorch does before it changes the diagonal."""
    factor, info = torch.linalg.cholesky_ex(x[:, None] * x + torch.eye(2))
    if not torch.any(info) or (info == 0).all():
        return factor
    return 2 * factor


def of_masks(x):
    """Bodies that change nothing where a mask is false."""
    y, mask = x.sin(), x > 1
    if mask.any():
        warnings.warn("large")
        y[mask] = x[mask] ** 2
    if torch.any(x < 0):
        y[x < 0] = 0
    if y.lt(0.9).any():
        y = y.clamp_min(0.9)
    return y


def of_another_mask(x):
    if (x > 1).any():
        x[x > 0] = 3
    return x


def of_a_mean(x):
    if (x > 5).any():
        x = x + x[x > 5].mean()
    return x


def bounded_otherwise(x):
    if (x < 0).any():
        x = x.clamp_min(1)
    return x


def written_between(x):
    y = x.sin()
    x[0] = 2
    if torch.equal(y, x.sin()):
        return x
    return 2 * x


def written_through_a_view(x):
    y, z = x.sin(), x.sin()
    y[:1].zero_()
    if torch.equal(y, z):
        return x
    return 2 * x


def unlike(x):
    if torch.equal(x.sin(), x.cos()):
        return x
    return 2 * x


def of_random_numbers(x):
    if torch.equal(torch.rand_like(x), torch.rand_like(x)):
        return x
    return 2 * x


def of_a_factor(x):
    factor, info = torch.linalg.cholesky_ex(x[:, None] * x)
    if (factor > 0).any() or info > x[0]:
        return x
    return 2 * x


def informs(x):
    """A method of something that is no logger."""
    if (x < 0).any():
        torch.nn.Module().info(x)
    return x


def is_positive(x):
    return bool((x > 0).all()) and not (x < 0).any()


def by_a_function(x):
    if not is_positive(x):
        raise ValueError("negative")
    assert is_positive(x)
    return x


def by_the_library(x):
    normal = torch.distributions.Normal(x, x, validate_args=True)
    return normal.log_prob(x) + F.gaussian_nll_loss(x, x * 2, x)


def branch(x):
    if (x > 0).all():
        return x
    return 2 * x


def branch_by_a_function(x):
    if is_positive(x):
        return x
    return 2 * x


def choice(x):
    return x if (x > 0).all() else 2 * x


def handled(x):
    try:
        if (x > 0).all():
            raise ValueError("positive")
    except ValueError:
        x = 2 * x
    return x


def caught(x):
    try:
        scale = x.sum().numpy()
    except Exception:
        scale = 0.0
    return x * scale


def caught_shape(x):
    try:
        return x[torch.nonzero(x > 0)[:, 0]].sum()
    except Exception:
        return x * 0


def repeated(x):
    while (x > 1).any():
        x = x / 2
    return x


def with_a_number(x):
    if float(x.max()) > 5:
        raise ValueError("too large")
    return x
