from collections import Counter
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from mrac.lab.bench.plan import plan
from mrac.lab.bench.protocol import Cell, Condition, Protocol
from mrac.lab.bench.work import Task


def pairs(tasks: list[Task]) -> Counter[tuple[Cell, int]]:
    return Counter((cell, image) for task in tasks for cell in task.cells for image in task.images)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 30), st.integers(1, 5), st.dictionaries(st.sampled_from("ab"), st.integers(0, 12), min_size=2),
    st.sets(st.tuples(st.integers(0, 120), st.integers(0, 11)), max_size=60),
)  # fmt: skip
def test_every_missing_row_is_planned_once_and_none_that_is_there(
    num_conditions: int, num_methods: int, num_images: dict[str, int], there: set[tuple[int, int]]
) -> None:
    cells = [
        Cell(Condition(set_name=name, seed=seed), f"m{method}")
        for name in num_images
        for seed in range(num_conditions)
        for method in range(num_methods)
    ]
    have: dict[Cell, set[int]] = {}
    for c, image in there:
        have.setdefault(cells[c % len(cells)], set()).add(image)
    wanted = {
        (cell, image)
        for cell in cells
        for image in range(num_images[cell.condition.set_name])
        if image not in have.get(cell, ())
    }
    assert pairs(plan(cells, num_images, have)) == Counter(wanted)


def test_an_image_is_decoded_for_many_cells_at_a_time(make_protocol: Callable[..., Protocol]) -> None:
    cells = make_protocol(methods=["mrac", "vanilla"], families=["near"], fractions=[0.0, 0.1, 0.2]).cells()
    tasks = plan(cells, {"room": 100}, {})
    assert all(task.cells == tuple(cells) for task in tasks)
    assert max(task.num_rows for task in tasks) <= 40


def test_the_methods_of_a_condition_stay_together(make_protocol: Callable[..., Protocol]) -> None:
    cells = make_protocol(methods=["mrac", "vanilla", "default"], seeds=list(range(30))).cells()
    for task in plan(cells, {"room": 1}, {}):
        assert set(Counter(cell.condition for cell in task.cells).values()) == {3}
