"""The options of a compilation, as shardonnay/pipeline/Options.def declares them.

`Options` is made of the compiler's own table when this is imported; options.pyi, which scripts/reference-docs writes
from the same table, is what a type checker reads.
"""

import dataclasses
import difflib
import os
from typing import NamedTuple, TypedDict

from . import _core
from .errors import OptionError


class Option(NamedTuple):
    """A row of the table. value: what stands for it in a usage line; choices: the values that there are, () if any."""

    name: str
    default: bool | int | float | str
    value: str
    choices: tuple
    help: str

    @property
    def kind(self):
        return type(self.default)

    @property
    def flag(self):
        return "--" + self.name.replace("_", "-")


OPTIONS = tuple(Option(*row) for row in _core.options())
STAGES = next(option.choices for option in OPTIONS if option.name == "to")


def check(name, value):
    """Raises OptionError or TypeError if there is no option of this name, or not with this value."""
    try:
        _core.check_option(name, value)
    except ValueError as error:
        raise OptionError(str(error)) from None


def _check_all(options):
    for option in OPTIONS:
        value = getattr(options, option.name)
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
            object.__setattr__(options, option.name, value)
        check(option.name, value)


_DOCUMENT = "What may be chosen about a compilation.\n\n" + "\n".join(
    f"{option.name} = {option.default!r}: {option.help}" for option in OPTIONS
)
Options = dataclasses.make_dataclass(
    "Options",
    [(option.name, option.kind, option.default) for option in OPTIONS],
    frozen=True,
    kw_only=True,
    namespace={"__doc__": _DOCUMENT, "__module__": __name__, "__post_init__": _check_all},
)
OptionKeywords = TypedDict("OptionKeywords", {option.name: option.kind for option in OPTIONS}, total=False)


def options_of(base, keywords):
    """`base`, or the defaults, with what the keywords say; a name that is none is told what it may have meant."""
    names = [option.name for option in OPTIONS]
    for name in keywords:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            raise TypeError(f"there is no option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    if not isinstance(base, Options | None):
        raise TypeError(f"options: expected a shardonnay.Options, got {base!r}; single options are keywords")
    return dataclasses.replace(base or Options(), **keywords)
