from mrac.web.bounded import BoundedStore


def test_the_least_recently_used_goes_first() -> None:
    store: BoundedStore[str] = BoundedStore(10)
    store.put("a", "A", 4)
    store.put("b", "B", 4)
    assert store.get("a") == "A"
    store.put("c", "C", 4)
    assert (store.get("a"), store.get("b"), store.get("c")) == ("A", None, "C")
    assert store.num_bytes == 8


def test_a_replaced_value_counts_once_and_one_beyond_the_bound_stays_alone() -> None:
    store: BoundedStore[int] = BoundedStore(10)
    store.put("a", 1, 6)
    store.put("a", 2, 7)
    assert (store.get("a"), store.num_bytes) == (2, 7)
    store.put("b", 3, 99)
    assert (store.get("a"), store.get("b"), len(store)) == (None, 3, 1)
