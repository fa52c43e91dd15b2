"""The git commit that a run or a trained network comes from."""

import subprocess
from pathlib import Path


def checkout_commit(*, short: bool = False) -> str | None:
    """Commit of the checkout that this package runs from; None where it runs from none, or there is no git.

    Args:
        short: gives the abbreviated hash, followed by `+changes` where tracked files of the package differ from it.
    """
    package = Path(__file__).resolve().parents[1]
    try:
        root = _git(package, "rev-parse", "--show-toplevel")
        # A package installed below somebody's own repository is not a commit of it.
        if not root or Path(root) / "src" / "mrac" != package:
            return None
        head = _git(package, "rev-parse", *(["--short"] if short else []), "HEAD")
        changed = short and head and _git(package, "diff", "--quiet", "HEAD", "--", ".") is None
    except OSError:  # no git
        return None
    return f"{head}+changes" if changed else head or None


def _git(folder: Path, *words: str) -> str | None:
    """What a git command prints; None where it fails."""
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None
