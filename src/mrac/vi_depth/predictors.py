"""The seven relative-depth networks that VI-Depth has learners for, and the statistics of each at three budgets."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from mrac.errors import ContractError
from mrac.vi_depth.resize import ResizeRule

# Readings per frame of VOID that the published learners were trained with. They select weights and statistics only:
# any number of readings can be given to any of them.
BUDGETS: Final = (150, 500, 1500)


@dataclass(frozen=True)
class Standardisation:
    """Mean and deviation over VOID of the two maps that the scale-map learner sees.

    Attributes:
        inv_z_mean_per_m: of the aligned inverse depth, 1/m.
        inv_z_std_per_m: likewise.
        scale_mean: of the scale map in [0, 1].
        scale_std: likewise.
    """

    inv_z_mean_per_m: float
    inv_z_std_per_m: float
    scale_mean: float
    scale_std: float


@dataclass(frozen=True, kw_only=True)
class Predictor:
    """A relative-depth network as VI-Depth runs it.

    Attributes:
        name: as in the file names of the learners.
        weights_file: of the MiDaS release.
        rule: the size of its input. Not always MiDaS's own; the statistics hold for this one.
        image_mean: per RGB channel, of values in [0, 1].
        image_std: likewise.
        standardisations: by budget.
    """

    name: str
    weights_file: str
    rule: ResizeRule
    image_mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    image_std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    standardisations: Mapping[int, Standardisation]

    def standardisation(self, budget: int) -> Standardisation:
        """The statistics for 150, 500 or 1500 readings.

        Raises:
            ContractError: it is another number.
        """
        _check_budget(budget)
        return self.standardisations[budget]

    def learner_file(self, budget: int) -> str:
        """The name of the published scale-map learner's checkpoint.

        Raises:
            ContractError: the budget is not 150, 500 or 1500.
        """
        _check_budget(budget)
        return f"sml_model.dpredictor.{self.name}.nsamples.{budget}.ckpt"


def _check_budget(budget: int) -> None:
    if budget not in BUDGETS:
        known = ", ".join(map(str, BUDGETS))
        raise ContractError(f"vi_depth: a budget of {budget!r} arrived; one of {known} is needed, the nearest will do")


def predictor(name: str) -> Predictor:
    """The predictor called `name`.

    Raises:
        ContractError: there is none.
    """
    if name not in PREDICTORS:
        raise ContractError(f"vi_depth: there is no predictor {name!r}; known: {', '.join(PREDICTORS)}")
    return PREDICTORS[name]


def _by_budget(*rows: tuple[float, float, float, float]) -> Mapping[int, Standardisation]:
    return MappingProxyType({n: Standardisation(*row) for n, row in zip(BUDGETS, rows, strict=True)})


_ALL: Final = (
    Predictor(
        name="dpt_beit_large_512",
        weights_file="dpt_beit_large_512.pt",
        rule=ResizeRule(target_px=384),  # MiDaS's own is 512
        standardisations=_by_budget(
            (0.730, 0.226, 0.380, 0.102), (0.736, 0.232, 0.366, 0.099), (0.730, 0.232, 0.355, 0.096)
        ),
    ),
    Predictor(
        name="dpt_swin2_large_384",
        weights_file="dpt_swin2_large_384.pt",
        rule=ResizeRule(target_px=384, keep_aspect=False),
        standardisations=_by_budget(
            (0.730, 0.219, 0.402, 0.107), (0.736, 0.224, 0.389, 0.106), (0.730, 0.226, 0.377, 0.103)
        ),
    ),
    Predictor(
        name="dpt_large",
        weights_file="dpt_large_384.pt",
        rule=ResizeRule(target_px=384),
        standardisations=_by_budget(
            (0.729, 0.213, 0.403, 0.116), (0.735, 0.219, 0.390, 0.116), (0.730, 0.221, 0.380, 0.116)
        ),
    ),
    Predictor(
        name="dpt_hybrid",
        weights_file="dpt_hybrid_384.pt",
        rule=ResizeRule(target_px=384),
        standardisations=_by_budget(
            (0.729, 0.210, 0.404, 0.117), (0.735, 0.215, 0.392, 0.118), (0.730, 0.218, 0.381, 0.117)
        ),
    ),
    Predictor(
        name="dpt_swin2_tiny_256",
        weights_file="dpt_swin2_tiny_256.pt",
        rule=ResizeRule(target_px=256, keep_aspect=False),
        standardisations=_by_budget(
            (0.735, 0.207, 0.419, 0.122), (0.741, 0.212, 0.406, 0.124), (0.733, 0.213, 0.396, 0.125)
        ),
    ),
    Predictor(
        name="dpt_levit_224",
        weights_file="dpt_levit_224.pt",
        rule=ResizeRule(target_px=224, keep_aspect=False),
        standardisations=_by_budget(
            (0.734, 0.198, 0.421, 0.129), (0.740, 0.202, 0.410, 0.134), (0.734, 0.204, 0.400, 0.137)
        ),
    ),
    Predictor(
        name="midas_small",
        weights_file="midas_v21_small_256.pt",
        rule=ResizeRule(target_px=384, method="upper_bound"),  # MiDaS's own is 256
        image_mean=(0.485, 0.456, 0.406),
        image_std=(0.229, 0.224, 0.225),
        standardisations=_by_budget(
            (0.723, 0.190, 0.402, 0.132), (0.731, 0.196, 0.393, 0.136), (0.728, 0.199, 0.385, 0.140)
        ),
    ),
)
PREDICTORS: Final[Mapping[str, Predictor]] = MappingProxyType({each.name: each for each in _ALL})
