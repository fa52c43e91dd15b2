"""CUDA kernels of our own, where torch's operations would be too many or too slow; each has its equal in torch.

Every function here has the arguments and the result of one elsewhere in `mrac.gpu`, which calls it where `own_kernels`
says so.
"""
