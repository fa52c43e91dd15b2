"""The seven MiDaS networks that VI-Depth has scale-map learners for, and the input statistics of each learner."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from mrac.errors import ContractError

# Readings per frame of VOID that the published learners were trained with. They select weights and statistics only:
# any number of readings can be given to any of them.
BUDGETS: Final = (150, 500, 1500)


@dataclass(frozen=True)
class Standardisation:
    """Mean and standard deviation over VOID of the two input maps of the scale-map learner.

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
class MidasPredictor:
    """A relative-depth network of the MiDaS release that VI-Depth has learners for.

    Attributes:
        name: as in the file names of the learners.
        standardisations: by budget.
    """

    name: str
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


def predictor(name: str) -> MidasPredictor:
    """The predictor called `name`.

    Raises:
        ContractError: there is none.
    """
    if name not in PREDICTORS:
        raise ContractError(f"vi_depth: there is no predictor {name!r}; known: {', '.join(PREDICTORS)}")
    return PREDICTORS[name]


# Per predictor and budget of `BUDGETS` the four numbers of `Standardisation`. They hold for the input sizes that
# VI-Depth uses, not always MiDaS's own: about 384 × 384 pixels (MiDaS: 512 for BEiT, 256 for midas_small), 256 × 256
# for SwinV2-T, 224 × 224 for LeViT.
_STATISTICS: Final = {
    "dpt_beit_large_512": ((0.730, 0.226, 0.380, 0.102), (0.736, 0.232, 0.366, 0.099), (0.730, 0.232, 0.355, 0.096)),
    "dpt_swin2_large_384": ((0.730, 0.219, 0.402, 0.107), (0.736, 0.224, 0.389, 0.106), (0.730, 0.226, 0.377, 0.103)),
    "dpt_large": ((0.729, 0.213, 0.403, 0.116), (0.735, 0.219, 0.390, 0.116), (0.730, 0.221, 0.380, 0.116)),
    "dpt_hybrid": ((0.729, 0.210, 0.404, 0.117), (0.735, 0.215, 0.392, 0.118), (0.730, 0.218, 0.381, 0.117)),
    "dpt_swin2_tiny_256": ((0.735, 0.207, 0.419, 0.122), (0.741, 0.212, 0.406, 0.124), (0.733, 0.213, 0.396, 0.125)),
    "dpt_levit_224": ((0.734, 0.198, 0.421, 0.129), (0.740, 0.202, 0.410, 0.134), (0.734, 0.204, 0.400, 0.137)),
    "midas_small": ((0.723, 0.190, 0.402, 0.132), (0.731, 0.196, 0.393, 0.136), (0.728, 0.199, 0.385, 0.140)),
}
PREDICTORS: Final[Mapping[str, MidasPredictor]] = MappingProxyType(
    {
        name: MidasPredictor(
            name=name,
            standardisations=MappingProxyType(
                {budget: Standardisation(*row) for budget, row in zip(BUDGETS, rows, strict=True)}
            ),
        )
        for name, rows in _STATISTICS.items()
    }
)
