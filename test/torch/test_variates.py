"""Random numbers of gamma, Dirichlet and Poisson distributions, and their derivatives."""

import pytest
import torch
import torch.distributions as D
from running import difference, run_whole

from shardonnay.torch import capture, seeded

COUNT = 6000
DRAWN = {
    "gamma of a small shape": lambda: D.Gamma(0.1, 2.0).sample((COUNT,)),
    "gamma": lambda: D.Gamma(9.5, 2.0).sample((COUNT,)),
    "double": lambda: D.Gamma(torch.tensor(0.7).double(), 1.0).sample((COUNT,)),
    "beta": lambda: D.Beta(0.5, 2.0).sample((COUNT,)),
    "dirichlet": lambda: D.Dirichlet(torch.tensor([0.3, 2.0, 5.0])).sample((COUNT,))[:, 0],
    "student": lambda: D.StudentT(4.0).sample((COUNT,)),
    "few": lambda: torch.poisson(torch.full((COUNT,), 9.9)),
    "many": lambda: torch.poisson(torch.full((COUNT,), 10.1)),
    "most": lambda: torch.poisson(torch.full((COUNT,), 400.0)),
    "negative binomial": lambda: D.NegativeBinomial(5.0, torch.tensor(0.6)).sample((COUNT,)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_distribution(name):
    """By Kolmogorov's and Smirnov's distance, which chance makes larger than this once in 10**5 times."""
    torch.manual_seed(0)
    expected = DRAWN[name]()
    with seeded(3):
        found = DRAWN[name]()
    assert found.dtype == expected.dtype
    places = torch.cat([found, expected]).sort().values
    shares = [torch.searchsorted(part.sort().values, places, right=True) / COUNT for part in (found, expected)]
    assert (shares[0] - shares[1]).abs().max() < 2.47 * (2 / COUNT) ** 0.5


def variates(shape, rate):
    shape, rate = (x.detach().requires_grad_() for x in (shape, rate))
    drawn = [D.Gamma(shape, rate).rsample((3,)), D.Beta(shape, rate).rsample(), D.Dirichlet(shape).rsample(),
             D.StudentT(shape + 1).rsample(), D.Chi2(shape).rsample()]  # fmt: skip
    total = sum((x * torch.linspace(0.5, 1, 5)).sum() for x in drawn)
    return (*drawn, torch.poisson(shape), *torch.autograd.grad(total, [shape, rate]))


def test_program():
    """What `seeded` draws; torch's own derivatives have three or four digits."""
    given = torch.tensor([0.2, 1.0, 3.0, 50.0, 0.9]), torch.tensor([2.0, 0.5, 3.0, 20.0, 0.1])
    captured = capture(variates, given)
    found = run_whole(captured, {"inputs.0": given[0], "inputs.1": given[1], "seed": torch.tensor(5)})
    with seeded(5):
        expected = variates(*given)
    *drawn, shape, rate = zip(found.values(), expected, strict=True)
    assert not any(difference(*pair, 5) for pair in drawn)
    assert torch.allclose(*shape, rtol=1e-3) and torch.allclose(*rate, rtol=1e-3)


@pytest.mark.parametrize("shape", [0.02, 0.5, 1.0, 8.0, 300.0])
def test_derivative_of_a_gamma_variate(shape):
    """Of the variates' mean, which is the shape, it is one; of x**2, whose mean is a**2 + a, it is 2 * a + 1."""
    edges = torch.linspace(-40, 8, 4001, dtype=torch.float64)  # of log x, in the trapezoidal rule
    x, a = torch.exp(edges / max(1, shape**0.5) + torch.tensor(shape).log()), torch.tensor(shape, dtype=torch.float64)
    captured = capture(torch._standard_gamma_grad, [a.expand_as(x).contiguous(), x])
    slope = run_whole(captured, {"inputs.0": a.expand_as(x), "inputs.1": x})["result"]
    density = D.Gamma(a, 1.0).log_prob(x).exp()
    assert abs(torch.trapezoid(slope * density, x) - 1) < 1e-4
    assert abs(torch.trapezoid(2 * x * slope * density, x) / (2 * a + 1) - 1) < 1e-4


@pytest.mark.parametrize("shape", [0.02, 0.5, 1.0, 8.0, 300.0])
def test_derivative_of_a_beta_variate(shape):
    """Of a second shape of one the distribution function is x**a."""
    x = torch.linspace(0.001, 0.999, 199, dtype=torch.float64)
    given = x, torch.full_like(x, shape), torch.full_like(x, shape + 1)
    captured = capture(torch._dirichlet_grad, given)
    found = run_whole(captured, dict(zip(("inputs.0", "inputs.1", "inputs.2"), given)))["result"] * (1 - x)
    assert torch.allclose(found, -x * torch.log(x) / shape, rtol=1e-7, atol=0)
