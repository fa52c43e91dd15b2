"""Mutants of a module: every small fault that an operator can put into its syntax tree, one at a time."""

import ast
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

_COMPARE: Final[dict[type, type]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_BINARY: Final[dict[type, type]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.Mod: ast.FloorDiv,
}  # fmt: skip
_SWAPS: Final = (("min", "max"), ("minimum", "maximum"), ("fmin", "fmax"), ("argmin", "argmax"), ("any", "all"))
_NAMES: Final = {a: b for pair in _SWAPS for a, b in (pair, pair[::-1])}
_DEFAULTS: Final[dict[str, bool | int | float | str]] = {"bool": False, "int": 0, "float": 0.0, "str": ""}
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
# What is no behaviour of the code: types, messages, what a type checker is told, decorators.
_SKIPPED: Final = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)
_SKIPPED_FIELDS: Final = frozenset({"annotation", "returns", "decorator_list", "bases", "type_params"})


class Mutant(NamedTuple):
    """One fault.

    Attributes:
        file: of the module, from the root of the checkout.
        place: function or class in which it is, "" at the top of the module.
        what: before -> after; a number follows where a place has several that read the same.
        line: in the file.
        function_line: of the outermost function that it is in, 0 where it runs at import.
        number: in the order of the file.
    """

    file: str
    place: str
    what: str
    line: int
    function_line: int
    number: int

    @property
    def key(self) -> str:
        """What names it as long as its place is not rewritten, wherever in the file that is."""
        return f"{self.file} {self.place}: {self.what}"


class _Site(NamedTuple):
    node: ast.AST
    what: str
    place: str
    function_line: int
    apply: Callable[[], None]


def mutants(source: str, file: str) -> list[Mutant]:
    """All mutants of a module's source, in the order of the file."""
    seen, found = Counter[tuple[str, str]](), []
    for number, site in enumerate(_sites(ast.parse(source))):
        seen[site.place, site.what] += 1
        again = seen[site.place, site.what]
        what = site.what if again == 1 else f"{site.what} #{again}"
        line = getattr(site.node, "lineno", 0)
        found.append(Mutant(file, site.place, what, line, site.function_line, number))
    return found


def mutated(source: str, number: int) -> ast.Module:
    """The syntax tree of a module with the mutant of that number."""
    tree = ast.parse(source)
    sites = list(_sites(tree))
    sites[number].apply()
    return ast.fix_missing_locations(tree)


def sample(of: list[Mutant], size: int, seed: int) -> list[Mutant]:
    """`size` of the mutants, drawn by a hash of their keys: editing one place does not change the others' draw."""
    drawn = sorted(of, key=lambda one: hashlib.sha256(f"{seed} {one.key}".encode()).digest())[:size]
    return sorted(drawn, key=lambda one: one.number)


def _sites(tree: ast.Module) -> Iterator[_Site]:
    yield from _walk(tree, "", 0, None)


def _walk(node: ast.AST, place: str, function_line: int, returns: ast.expr | None) -> Iterator[_Site]:
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        place = f"{place}.{node.name}".lstrip(".")
    if isinstance(node, _FUNCTIONS):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        function_line, returns = function_line or first, node.returns
    for what, apply in _changes(node, returns):
        yield _Site(node, what, place, function_line, apply)
    for name, value in ast.iter_fields(node):
        if name in _SKIPPED_FIELDS:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_skipped(child):
                yield from _walk(child, place, function_line, returns)


def _is_skipped(node: ast.AST) -> bool:
    if isinstance(node, _SKIPPED):
        return True
    if isinstance(node, ast.Expr):
        value = node.value
        return isinstance(value, ast.Constant) or ast.unparse(value).startswith(
            ("log.", "_log.", "logger.", "logging.")
        )
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    return isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)


_Change = tuple[str, Callable[[], None]]


def _changes(node: ast.AST, returns: ast.expr | None) -> Iterator[_Change]:
    """What the operators make of one node: before -> after, and what does it to the tree."""
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            yield _replace(node, partial(_compare_by, node, i, _COMPARE[type(op)]()))
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in _BINARY:
        yield _replace(node, lambda: setattr(node, "op", _BINARY[type(node.op)]()))
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield _replace(node, lambda: setattr(node, "op", other))
    elif isinstance(node, ast.UnaryOp):
        yield _without_operator(node)
    elif isinstance(node, ast.Constant):
        for value in _other_constants(node.value):
            yield _replace(node, partial(setattr, node, "value", value))
    elif isinstance(node, ast.Return) and node.value is not None:
        yield from _dropped(node, returns)
    elif isinstance(node, (ast.If, ast.IfExp)) and not _negates_itself(node.test):
        yield _negated(node)
    elif isinstance(node, ast.comprehension):
        yield from (_negated_filter(node, i) for i, test in enumerate(node.ifs) if not _negates_itself(test))
    elif isinstance(node, ast.Slice):
        yield from _shifted(node)
    elif isinstance(node, ast.Call):
        yield from _renamed(node)


def _compare_by(node: ast.Compare, i: int, op: ast.cmpop) -> None:
    node.ops[i] = op


def _replace(node: Any, apply: Callable[[], object]) -> _Change:
    """A change in place, with how the node reads before and after."""
    saved = {name: value[:] if isinstance(value, list) else value for name, value in ast.iter_fields(node)}
    before = ast.unparse(node)
    apply()
    after = ast.unparse(node)
    for name, value in saved.items():
        setattr(node, name, value)
    return f"{before} -> {after}", lambda: (apply(), None)[1]


def _other_constants(value: object) -> list[object]:
    if isinstance(value, bool):
        return [not value]
    if not isinstance(value, (int, float)):
        return []
    if value in (0, 1):
        return [type(value)(1 - value)]
    return [value + 1 if abs(value) < 100 else value * 2, -value]


def _without_operator(node: ast.UnaryOp) -> _Change:
    """`-x`, `not x` and `~x` become x: by +, or by the operator twice."""

    def apply() -> None:
        if isinstance(node.op, ast.USub):
            node.op = ast.UAdd()
        else:
            node.operand = ast.UnaryOp(node.op, node.operand)

    return f"{ast.unparse(node)} -> {ast.unparse(node.operand)}", apply


def _dropped(node: ast.Return, returns: ast.expr | None) -> Iterator[_Change]:
    default = _DEFAULTS.get(ast.unparse(returns)) if returns is not None else None
    if isinstance(node.value, ast.Constant) and node.value.value == default:
        return
    assert node.value is not None
    yield (
        f"return {ast.unparse(node.value)} -> return {default!r}",
        lambda: setattr(node, "value", ast.Constant(default)),
    )


def _negates_itself(test: ast.expr) -> bool:
    """Whether another operator already makes the opposite of this condition."""
    if isinstance(test, ast.Compare):
        return len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn))
    return isinstance(test, ast.Constant) or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))


def _negated(node: ast.If | ast.IfExp) -> _Change:
    test = ast.unparse(node.test)
    return f"if {test} -> if not ({test})", lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))


def _negated_filter(node: ast.comprehension, i: int) -> _Change:
    test = ast.unparse(node.ifs[i])
    return f"if {test} -> if not ({test})", lambda: node.ifs.__setitem__(i, ast.UnaryOp(ast.Not(), node.ifs[i]))


def _shifted(node: ast.Slice) -> Iterator[_Change]:
    for name, op in (("lower", ast.Add()), ("upper", ast.Sub())):
        end = getattr(node, name)
        if end is not None and not isinstance(end, ast.Constant):
            yield _replace(node, partial(setattr, node, name, ast.BinOp(end, op, ast.Constant(1))))


def _renamed(node: ast.Call) -> Iterator[_Change]:
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    if name in _NAMES:
        field = "attr" if isinstance(called, ast.Attribute) else "id"
        yield (
            f"{ast.unparse(called)}(...) -> {_NAMES[name]}(...) of {ast.unparse(node)[:60]}",
            lambda: setattr(called, field, _NAMES[name]),
        )
