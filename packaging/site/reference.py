"""Prints what pydoc says of a module, with the docstrings below fields, which Python itself does not keep."""

import ast
import importlib
import inspect
import pydoc
import sys


def described(cls: type) -> "dict[str, str]":
    """Returns the docstrings of the fields of a class, by their names."""
    found = {}
    body = ast.parse(inspect.getsource(cls)).body[0].body
    for member, after in zip(body, body[1:]):
        if isinstance(member, (ast.AnnAssign, ast.Assign)) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            target = member.target if isinstance(member, ast.AnnAssign) else member.targets[0]
            found[target.id] = inspect.cleandoc(after.value.value)
    return found


module = importlib.import_module(sys.argv[1])
for cls in vars(module).values():
    if not inspect.isclass(cls) or cls.__module__.split(".")[0] != module.__name__.split(".")[0]:
        continue
    others = []
    for name, text in described(cls).items():
        if issubclass(cls, tuple):
            getattr(cls, name).__doc__ = text
        else:
            others.append(f"{name}: {text}")
    if others:
        cls.__doc__ = "\n\n".join([inspect.cleandoc(cls.__doc__ or ""), "\n".join(others)])
print(pydoc.plain(pydoc.render_doc(module)))
