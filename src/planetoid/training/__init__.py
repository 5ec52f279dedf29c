"""Algorithm 2 (``trainer``), the losses and the networks that the neural methods share.

Importing this package does not import torch; ``settings``, ``callbacks`` and ``checkpoint`` do not need it either.
"""
