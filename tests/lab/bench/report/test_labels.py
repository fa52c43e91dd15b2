import pytest

from mrac import registry
from mrac.lab.bench.methods import ORACLE
from mrac.lab.bench.report.labels import (
    METHODS,
    family_label,
    foundation,
    is_swept,
    kappa,
    method_label,
    ordered,
    paper_set,
    percent,
    short,
    without_foundation,
    without_kappa,
)


@pytest.mark.parametrize(
    ("method", "label"),
    [
        ("mrac_b_prime", "MRAC/B′"),
        ("mrac_b_prime;gate=theil_sen_mad:kappa=3", "MRAC/B′, κ = 3"),
        ("default;gate=none", "default, no gate"),
        ("cfa_ols;gate=theil_sen_mad", "cfa-ols, paper's gate"),
        ("cfa_ols;foundation=dav2-large", "cfa-ols, foundation dav2-large"),
        ("default;gate=oracle", "default, oracle gate"),
        ("default;gate=consensus", "default, consensus gate"),
        ("default;gate=siegel_mad", "default, Siegel + MAD gate"),
        ("default;gate=gnc:threshold=0.1", "default, gate gnc:threshold=0.1"),
        ("truncated_l1;space=inverse_depth", "truncated L1, space inverse_depth"),
        ("somebody_elses", "somebody_elses"),
    ],
)
def test_methods_have_names_for_people(method: str, label: str) -> None:
    assert method_label(method) == label


def test_no_method_or_gate_of_ours_goes_by_its_file_name_for_want_of_a_better() -> None:
    assert set(METHODS) == set(registry.names("method"))
    for gate in (*registry.names("gate"), ORACLE):
        assert not method_label(f"default;gate={gate}").startswith("default, gate ")


def test_no_two_columns_have_one_head() -> None:
    for label in (method_label, short):
        heads = [label(name) for name in METHODS]
        assert len(set(heads)) == len(heads)
    assert max(len(short(name)) for name in METHODS) <= 8


@pytest.mark.parametrize(
    ("method", "value"),
    [
        ("mrac", 2.0),
        ("mrac;gate=theil_sen_mad:kappa=1.5", 1.5),
        ("cfa_ols;gate=theil_sen_mad", 2.0),
        ("vanilla", None),
        ("mrac;gate=ransac", None),
        ("somebody_elses", None),
    ],
)
def test_kappa_is_the_gate_s_own_unless_said_otherwise(method: str, value: float | None) -> None:
    assert kappa(method) == value


def test_points_of_a_study_are_told_from_methods() -> None:
    swept = "mrac;foundation=none;gate=theil_sen_mad:kappa=3"
    assert is_swept(swept)
    assert is_swept("cfa_ols;foundation=none")
    assert is_swept("default;fault=blurred")
    assert not is_swept("default;gate=none")
    assert without_kappa(swept) == "mrac;foundation=none"
    assert without_foundation(swept) == "mrac;gate=theil_sen_mad:kappa=3"
    assert (foundation(swept), foundation("mrac")) == ("none", "")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("nyu", "nyuv2"), ("nyuv2_filled", "nyuv2"), ("kitti15", "kitti"), ("sunrgbd_stride5", "sunrgbd"), ("tum", "")],
)
def test_sets_are_compared_with_the_paper_s_of_their_kind(ours: str, theirs: str) -> None:
    assert paper_set(ours) == theirs


def test_known_names_come_in_their_order_and_others_last() -> None:
    names = ["zzz", "default", "mrac;gate=none", "mrac", "vanilla"]
    assert ordered(names, METHODS) == ["vanilla", "mrac", "mrac;gate=none", "default", "zzz"]


def test_families_and_shares() -> None:
    assert family_label("gaussian:sigma_m=0.1") == "gaussian, sigma_m=0.1"
    assert (percent(0.25), percent(0.125), percent(0.0)) == ("25 %", "12.5 %", "0 %")
