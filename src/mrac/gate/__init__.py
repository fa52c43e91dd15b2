"""Gates: which anchors are inliers, and their weights. One file per gate; its name is the gate's."""
