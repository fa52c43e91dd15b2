"""docs/datasets.md: a small pack in the layout of a manifest; a line for each frame, with the hash of its anchors."""

from pathlib import Path

from tests.pages.run import Step

LAB = True


def write(folder: Path) -> None:
    from tests.lab.layouts import manifest  # noqa: PLC0415  (needs the extra `lab`)

    manifest.write(folder / "pack")


class Check:
    def __call__(self, step: Step) -> None:
        lines = [line.split() for line in step.stdout.splitlines()]
        assert [line[:2] for line in lines] == [["street", "000"], ["street", "001"], ["nyu", "0009"]]
        assert all(len(line[-1]) == 64 for line in lines)

    def finish(self) -> None:
        pass
