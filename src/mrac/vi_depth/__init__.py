"""VI-Depth (Wofk et al., ICRA 2023, arXiv 2303.12134): global alignment, scale map and the network that refines it.

A package of its own and not files of `head/`, because a file there is a head that users can name; the head `sml`, its
retrained twin and the alignment alone are all made of these parts. Everything is inverse depth in 1/m until the last
step. Only `network`, `checkpoint` and `export` import torch.
"""
