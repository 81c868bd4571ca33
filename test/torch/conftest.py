"""For every test of this folder eight CPU devices, before anything uses JAX; and what may be asked of them."""

from shardonnay import engine

engine.prepare(8)


def pytest_addoption(parser):
    parser.addoption("--gloo", action="store_true", help="models of engine/test_models.py on eight processes that "
                                                         "send by gloo, in place of threads")
