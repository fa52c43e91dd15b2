"""VI-Depth (Wofk et al., ICRA 2023, arXiv 2303.12134): global alignment, scale map and the network that refines it.

A package of its own, because every file in `head/` is a head that users can name: the head `sml`, with published or
retrained weights or the alignment alone, consists of these parts. Everything is inverse depth in 1/m until the last
step. Only `network` and `checkpoint` import torch.
"""
