"""What `mrac train ablation` measured: the ours of Table VI where the benchmark itself has none."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mrac.errors import ContractError


@dataclass(frozen=True)
class Ablation:
    """The table of `mrac train ablation`: AbsRel by row and set, on scenes held out of training.

    Attributes:
        scores: by row, then by set.
    """

    scores: Mapping[str, Mapping[str, float]]

    @classmethod
    def read(cls, path: Path) -> "Ablation":
        """Of an ablation.json.

        Raises:
            ContractError: it is not one.
        """
        try:
            rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
            return cls(
                {
                    row["row"]: {k.removesuffix("_head"): float(v) for k, v in row.items() if k.endswith("_head") and v}
                    for row in rows
                }
            )
        except FileNotFoundError:
            raise ContractError(f"{path}: no such file; ablation.json of `mrac train ablation` is needed") from None
        except (json.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise ContractError(f"{path}: not an ablation.json of `mrac train ablation` ({error})") from None
