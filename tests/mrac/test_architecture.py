"""What the code keeps to as a whole: which half imports which, how light an import is, how long anything may be."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
HEAVY = (
    "av",
    "torch",
    "transformers",
    "pyarrow",
    "matplotlib",
    "onnx",
    "onnxscript",
    "safetensors",
    "huggingface_hub",
    "ray",
)
# Adapters of networks that only torch runs: each is imported inside a function, when such a network is asked for.
ADAPTERS = frozenset(
    ("mrac.foundation._depth_anything", "mrac.foundation._depth_pro", "mrac.foundation._dpt", "mrac.foundation._family",
     "mrac.foundation._network", "mrac.foundation._zoedepth", "mrac.vi_depth.checkpoint", "mrac.vi_depth.network",
     "mrac.gpu.appearance", "mrac.gpu.calibrator", "mrac.gpu.classifier", "mrac.gpu.dealing", "mrac.gpu.device",
     "mrac.gpu.fit", "mrac.gpu.foundation", "mrac.gpu.gate", "mrac.gpu.graph", "mrac.gpu.hypotheses",
     "mrac.gpu.kernels.em", "mrac.gpu.kernels.hypotheses", "mrac.gpu.kernels.process",
     "mrac.gpu.kernels.small_matrices",
     "mrac.gpu.kernels.source", "mrac.gpu.kriging", "mrac.gpu.linear_algebra", "mrac.gpu.mixture", "mrac.gpu.network",
     "mrac.gpu.nodes", "mrac.gpu.padded", "mrac.gpu.process", "mrac.gpu.published", "mrac.gpu.stages",
     "mrac.gpu.tiles")
)  # fmt: skip
FUNCTION_LINES, MODULE_LINES = 60, 300


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the package, parsed."""
    paths = sorted(SOURCE.glob("mrac/**/*.py"))
    return {_name(path): ast.parse(path.read_bytes(), str(path)) for path in paths}


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.AST, whole: bool) -> Iterator[str]:
    """Modules that are imported when this one is; with `whole`, also those that its functions import when they run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:  # a module of the package, or a name in one
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules() else str(node.module)
        elif whole or not (_is_function(node) or _is_for_types(node)):
            yield from imports(node, whole)


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def runtime() -> dict[str, ast.Module]:
    return {name: tree for name, tree in modules().items() if not _within(name, "mrac.lab")}


def _within(name: str, package: str) -> bool:
    return f"{name}.".startswith(f"{package}.")


def test_the_runtime_half_imports_nothing_of_the_laboratory() -> None:
    found = [
        f"{name} imports {imported}"
        for name, tree in runtime().items()
        for imported in imports(tree, whole=True)
        if _within(imported, "mrac.lab")
    ]
    assert not found


def test_the_runtime_half_imports_heavy_packages_inside_functions_alone() -> None:
    found = [
        f"{name} imports {imported}"
        for name, tree in runtime().items()
        if name not in ADAPTERS
        for imported in imports(tree, whole=False)
        if imported in ADAPTERS or imported.partition(".")[0] in HEAVY
    ]
    assert not found
    assert set(runtime()) >= ADAPTERS


def package_of(module: str) -> str:
    """The unit that has a place in the order: mrac.X, mrac.lab.X, mrac.lab.train.X; a module beside them is one too."""
    parts = module.split(".")
    deep = 4 if parts[:3] == ["mrac", "lab", "train"] else 3 if parts[:2] == ["mrac", "lab"] else 2
    return ".".join(parts[:deep])


def test_no_package_imports_itself_by_way_of_others() -> None:
    uses: dict[str, set[str]] = {}
    for name, tree in modules().items():
        own = package_of(name)
        if own in ("mrac", "mrac.lab", "mrac.lab.train"):  # an __init__ that offers names of the packages below it
            continue
        others = {package_of(i) for i in imports(tree, whole=True) if i in modules()}
        uses.setdefault(own, set()).update(others - {own, "mrac", "mrac.lab", "mrac.lab.train"})
    while free := [name for name, others in uses.items() if not others & uses.keys()]:
        for name in free:
            del uses[name]
    cycles = {name: sorted(others & uses.keys()) for name, others in uses.items()}
    assert not cycles, "packages on a cycle, or that lead to one, and what of these they import"


def test_functions_and_modules_are_short() -> None:
    found = []
    for name, tree in modules().items():
        num_lines = len((SOURCE / tree_path(name)).read_text(encoding="utf-8").splitlines())
        if num_lines > MODULE_LINES:
            found.append(f"{name}: {num_lines} lines")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                if length > FUNCTION_LINES:
                    found.append(f"{name}.{node.name}: {length} lines")
    assert not found


def tree_path(module: str) -> Path:
    path = Path(*module.split("."))
    return path / "__init__.py" if (SOURCE / path).is_dir() else path.with_suffix(".py")


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import mrac", ("onnxruntime", "scipy", "numba", "skimage", "sklearn", "PIL", *HEAVY)),
        ("import mrac.cli", ("onnxruntime", "scipy", "numba", *HEAVY)),
        ("import mrac; [getattr(mrac, name) for name in mrac.__all__]", HEAVY),
    ],
)
def test_an_import_is_light(code: str, absent: tuple[str, ...]) -> None:
    listing = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & set(absent)
