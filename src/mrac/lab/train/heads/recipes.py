"""The named trainings of the learned heads, one function each."""

from dataclasses import replace

from mrac.lab.train.heads.data import ALL_PIXELS
from mrac.lab.train.heads.options import HeadOptions, LossWeights

# The paper prints no weight for its `res` term; a tenth makes it felt beside SILog without freezing the correction.
RES_WEIGHT = 0.1


def vanilla() -> HeadOptions:
    """The paper's recipe for R_θ (Sec. III-F): clean anchors, four losses, `res` left out as it recommends."""
    return HeadOptions(recipe="vanilla")


def b_prime() -> HeadOptions:
    """The paper's recipe with the one change that anchors are dropped at random, up to 40 % of an image's."""
    return replace(vanilla(), recipe="b_prime", dropout_rate_max=0.4)


def raw_depth() -> HeadOptions:
    """The same network and losses without closed form: depth is regressed."""
    return replace(vanilla(), recipe="raw_depth", kind="raw")


def sml_retrained() -> HeadOptions:
    """VI-Depth's scale-map learner at its own budget of 150 readings, which publishes weights but no training code.

    The paper's schedule at half its learning rate, since the network is 45 times larger and starts from random weights,
    and for half its epochs: by then it had stopped getting better on the scenes held out.
    """
    return HeadOptions(
        recipe="sml_retrained",
        kind="sml",
        space="inverse_depth",
        num_pixels=ALL_PIXELS,  # VI-Depth has a rule of its own for the size at which its learner works
        budgets=(150,),
        num_epochs=40,
        rate=5e-4,
    )


def ablation() -> dict[str, HeadOptions]:
    """The paper's loss–architecture table (Sec. VI-B): eleven rows, each the full recipe of its head less one loss."""
    full = {
        "raw": replace(raw_depth(), weights=LossWeights()),
        "residual": replace(vanilla(), weights=LossWeights(res=RES_WEIGHT)),
    }
    rows = {}
    for kind, options in full.items():
        rows[f"{kind}_full"] = options
        for loss in ("silog", "cwa", "ssc", "fmp", *(("res",) if kind == "residual" else ())):
            rows[f"{kind}_no_{loss}"] = replace(options, weights=replace(options.weights, **{loss: 0.0}))
    return {name: replace(options, recipe=name) for name, options in rows.items()}
