"""What comes out: depth with its uncertainty and verdicts, and the files it is written to."""

from mrac.result.metric_depth import MetricDepth, Verdicts

__all__ = ["MetricDepth", "Verdicts"]
