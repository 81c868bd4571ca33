"""docs/reference/python.md: what the package makes public, as its sources say it. Nothing is imported."""

import ast
import inspect
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python/shardonnay"
ENTRY = re.compile(r"^([\w, ]+): ", re.MULTILINE)


def _parsed(path):
    stub = path.with_suffix(".pyi")
    return ast.parse((stub if stub.exists() else path).read_text())


def _public(tree):
    """The names in a module's `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return ast.literal_eval(node.value)
    return []


def _definition(path, name):
    """The node that defines a name of a module, perhaps in a module that it imports the name from, at once or lazily.
    """
    for node in ast.walk(_parsed(path)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom) and node.level == 1 and name in [alias.name for alias in node.names]:
            return _definition(path.parent / f"{node.module}.py", name)
    return None


def _text(node):
    """The docstring of a node as Markdown: its `name: what it is` lines become a list."""
    head, *paragraphs = re.split(r"\n\n", inspect.cleandoc(ast.get_docstring(node) or ""))
    return "\n\n".join([head, *map(_with_list, paragraphs)])


def _with_list(paragraph):
    if not ENTRY.match(paragraph):
        return paragraph
    return ENTRY.sub(r"- `\1`: ", re.sub(r"\n\s+", " ", paragraph))


def _is(node, decorator):
    return any(decorator in ast.unparse(item) for item in node.decorator_list)


def _signature(node, name, method=False):
    arguments = node.args
    if method and not _is(node, "staticmethod"):
        arguments.args = arguments.args[1:]
    text = ast.unparse(arguments)
    if len(text) < 80:
        return f"{name}({text})"
    parts = [part.strip() for part in re.split(r",\s*(?![^\[(]*[\])])", text)]
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + ")"


def _block(text):
    return f"```python\n{text}\n```\n"


def _members(node):
    """Lines of a class's public fields, properties and methods, without the fields that its docstring has."""
    described = ENTRY.findall(ast.get_docstring(node) or "")
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
            text = _text(item).replace("\n\n", " ").replace("\n", " ")
            name = item.name if _is(item, "property") else _signature(item, item.name, method=True)
            yield f"- `{' '.join(name.split())}`{': ' + text if text else ''}"
        elif isinstance(item, ast.AnnAssign) and item.target.id not in described:
            yield f"- `{ast.unparse(item)}`"
        elif isinstance(item, ast.Assign) and ast.unparse(item.value).startswith("property("):
            text = [ast.literal_eval(word.value) for word in item.value.keywords if word.arg == "doc"]
            yield f"- `{item.targets[0].id}`{': ' + text[0] if text else ''}"


def _entry(name, node):
    if isinstance(node, ast.FunctionDef):
        return [f"### `{name}`\n", _block(_signature(node, name)), _text(node), ""]
    bases = ", ".join(base for base in map(ast.unparse, node.bases) if not base.startswith("_"))
    made = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
    head = _block(_signature(made[0], name, method=True)) if made and _is(node, "dataclass") else ""
    lines = [f"### `{name}`{f' ({bases})' if bases else ''}\n", head, _text(node), "", *_members(node), ""]
    return [line for at, line in enumerate(lines) if line or at != 1]


def page():
    """The page's text, without a banner."""
    found = ["# Python", "", "The options of a compilation have a page of their own: [options.md](options.md)."]
    for path in [PACKAGE / "__init__.py", *sorted(PACKAGE.glob("*/__init__.py"))]:
        tree = _parsed(path)
        names = _public(tree)
        if not names:
            continue
        module = ".".join(path.parent.relative_to(PACKAGE.parent).parts)
        found += ["", f"## `{module}`", "", _text(tree), ""]
        for name in names:
            node = _definition(path, name)
            if node is not None and name != "Options":
                found += _entry(name, node)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(found)).rstrip() + "\n"
