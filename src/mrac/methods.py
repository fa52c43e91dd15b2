"""The named methods: for every stage which implementation, one entry each.

A method is what users type (`mrac calibrate --method mrac`, `Calibrator("mrac")`), and what the benchmark compares.
Another package adds one with an entry point of the group `mrac.method` that loads a `Method`.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Method:
    """Each stage is a spec as `registry.create` takes it: a name, or `name:option=value`.

    Attributes:
        summary: one line for `mrac list methods`.
        foundation: where relative depth comes from.
        gate: which anchors are taken for inliers, and their weights.
        fit: the relation from relative to metric depth.
        head: from the fit to dense depth.
        space: in which the relation is fitted; empty takes the relative field's own.
    """

    summary: str
    foundation: str = "embedded"
    gate: str = "none"
    fit: str = "ols"
    head: str = "affine"
    space: str = ""


METHODS: Final[dict[str, Method]] = {
    "default": Method(
        summary="Recommended: GP-mixture gate with a learned classifier, Bayesian fit, residual kriging.",
        gate="consensus_learned",
        fit="evidence",
        head="kriging",
    ),
    "fast": Method(
        summary="For real time on a processor: as `default`, with one pass of the network in 8 bits.",
        foundation="embedded:mirror=false,precision=int8",
        gate="consensus_learned",
        fit="evidence",
        head="kriging",
    ),
    # For products: its only weights are Apache-2.0, none of ours, which were trained on data for research, is in it
    # (docs/licences.md). With the foundation `none` it needs no download either.
    "open": Method(
        summary="For commercial use: Depth Anything V2 Small (`mrac fetch dav2-small`), GP-mixture gate, kriging.",
        foundation="dav2-small",
        gate="consensus",
        fit="evidence",
        head="kriging",
    ),
    # The paper's own rows: all of them fit in depth.
    "vanilla": Method(
        summary="The paper's residual head on a least-squares fit; no gate, every anchor is used.",
        head="residual_unet:weights=vanilla",
        space="depth",
    ),
    "b_prime": Method(
        summary="The paper's B′: the residual head trained with anchors dropped at random, in place of a gate.",
        head="residual_unet:weights=b_prime",
        space="depth",
    ),
    "mrac": Method(
        summary="The paper's method: the Theil–Sen + MAD gate before the fit and the vanilla residual head.",
        gate="theil_sen_mad",
        head="residual_unet:weights=vanilla",
        space="depth",
    ),
    "mrac_b_prime": Method(
        summary="The paper's gate before the B′ head.",
        gate="theil_sen_mad",
        head="residual_unet:weights=b_prime",
        space="depth",
    ),
    "ransac_residual": Method(
        summary="RANSAC with a fixed threshold as the vanilla head's fit, all anchors: the paper's obvious patch.",
        fit="ransac:threshold=0.2",
        head="residual_unet:weights=vanilla",
        space="depth",
    ),
    "raw_depth": Method(
        summary="The head's network regressing depth itself, without a closed-form fit (the paper's ablation).",
        head="raw_unet:weights=raw_depth",
        space="depth",
    ),
    "cfa_ols": Method(summary="Closed-form affine fit by least squares in depth (paper row).", space="depth"),
    "cfa_huber": Method(
        summary="Closed-form affine fit by Huber's estimator in depth (paper row).", fit="huber", space="depth"
    ),
    "cfa_ransac": Method(summary="Closed-form affine fit by RANSAC in depth (paper row).", fit="ransac", space="depth"),
    # VI-Depth fits inverse depth, and discards readings at or beyond its range: `max_depth_m` of `sml` and `range`. Of
    # the seven networks that checkpoints exist for, the two SwinV2 are those that transformers runs at exactly the size
    # and interpolation that VI-Depth feeds them with. In single precision, as VI-Depth does.
    "vi_depth": Method(
        summary="VI-Depth as published: a MiDaS network and its checkpoint, which you fetch; see docs/networks.md.",
        foundation="dpt-swinv2-large-384:resize=original,dtype=float32",
        head="sml:predictor=dpt_swin2_large_384,budget=150",
        space="inverse_depth",
    ),
    "vi_depth_ga": Method(
        summary="VI-Depth's global alignment alone: least squares in inverse depth within its ranges, no learner.",
        head="sml:global_alignment_only=true",
        space="inverse_depth",
    ),
    "vi_depth_scaffold": Method(
        summary="VI-Depth without its learner: least squares in inverse depth, times the interpolated scale map.",
        gate="range",
        head="scaffold",
        space="inverse_depth",
    ),
    "sml_retrained": Method(
        summary="VI-Depth retrained by us: its pipeline and its learner on the embedded network, at 150 readings.",
        head="sml:weights=sml_retrained",
        space="inverse_depth",
    ),
    # Baselines without training.
    "ransac_inverse": Method(
        summary="Marsal et al. (IROS 2025): RANSAC in inverse depth, threshold from the readings' own spread.",
        fit="ransac:trials=100",
        head="folded",
        space="inverse_depth",
    ),
    "knn_alignment": Method(
        summary="PriorDA's coarse stage (Wang et al. 2025): a line in inverse depth per pixel, from 5 anchors.",
        head="knn_alignment",
        space="inverse_depth",
    ),
    "truncated_l1": Method(
        summary="MoGe's alignment (Wang et al. 2025): the line in depth with the least truncated relative error.",
        fit="truncated_l1",
        space="depth",
    ),
    "siegel": Method(
        summary="Siegel's repeated median: its line and MAD test choose the anchors of a least-squares line.",
        gate="siegel_mad",
    ),
    "gnc": Method(
        summary="Graduated non-convexity (Yang et al. 2020): the line of truncated least squares.", fit="gnc"
    ),
    "msac": Method(
        summary="MSAC (Torr and Zisserman 2000): least squares on the inliers of the best line through two anchors.",
        fit="msac",
    ),
    "poisson_log": Method(
        summary="The fit's log-depth gradients integrated through the anchors: OMNI-DC without its network.",
        head="poisson_log",
    ),
    "patch_scale": Method(
        summary="The fit times a smooth field of scales between patches: OMNI-DC without its network.",
        head="patch_scale",
    ),
    "delaunay": Method(
        summary="Linear interpolation of the anchors' depth over the triangles between them; no network.",
        foundation="none",
        head="delaunay",
        space="depth",
    ),
    "nearest": Method(
        summary="The nearest anchor's depth everywhere; no network.",
        foundation="none",
        head="nearest",
        space="depth",
    ),
}
