"""The model card of a saved calibrator: what is in it, under which terms, and what its author has to add."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mrac.foundation._catalog import CATALOG
from mrac.licences import method_terms
from mrac.methods import Method
from mrac.registry import STAGES
from mrac.version import __version__

_HEAD: Final = """---
library_name: mrac
pipeline_tag: depth-estimation
license: other
---

# A calibrator of mrac {version}

Dense metric depth from one image and sparse range readings, some of them wrong.

```python
from mrac import Calibrator

calibrator = Calibrator.load("this folder")
out = calibrator(image, anchors)
```

Every option is in `calibrator.json`.

| stage | implementation | files in this folder |
|---|---|---|
"""
_OWN: Final = """
## To be added by whoever saved it

- what the files in `weights/` were trained on, and the licence under which they may be used;
- for which sensor and scenes it is meant, and how it was measured.
"""


def model_card(config: Mapping[str, Any], files: Sequence[str]) -> str:
    """The card, in Markdown, of a configuration with `files` of the user's own beside it: weights/STAGE/OPTION/NAME."""
    by_stage = {stage: [name for name in files if name.split("/")[1] == stage] for stage in STAGES}
    rows = [
        f"| {stage} | `{config[stage]['name']}` | {', '.join(f'`{name}`' for name in by_stage[stage])} |"
        for stage in STAGES
    ]
    use, why = method_terms(_as_method(config, by_stage))
    lines = ["", "## Licences", "", "The code is Apache-2.0. What limits a use is the weights:", "", f"- {use}: {why}"]
    lines += [f"- `{name}`: the terms of whoever made it, to be stated below" for name in files]
    card = _HEAD.format(version=__version__) + "\n".join(rows + lines) + "\n"
    return card + (_OWN if files else "")


def _as_method(config: Mapping[str, Any], by_stage: Mapping[str, Sequence[str]]) -> Method:
    """The stages as specs that the table of licences knows; a stage with the user's own files is not of the package."""
    specs = {stage: "onnx" if stage == "foundation" else "none" for stage in STAGES}
    for stage in STAGES:
        if not by_stage[stage]:
            name, options = str(config[stage]["name"]), config[stage]["options"]
            specs[stage] = _network(name, options) if stage == "foundation" else _weights(name, options)
    return Method(summary="", **specs)


def _network(name: str, options: Mapping[str, Any]) -> str:
    """A foundation, by its short name where its checkpoint has one."""
    spec = f"{name}:{options.get('model', '')}"
    return next((short for short, entry in CATALOG.items() if entry.spec == spec), name)


def _weights(name: str, options: Mapping[str, Any]) -> str:
    if options.get("predictor"):
        return f"{name}:predictor={options['predictor']}"
    weights = options.get("weights", "") or ("sml_retrained" if name == "sml" else "")
    return f"{name}:weights={weights}" if weights else name
