"""The benchmark: networks trained on the CPU, on the GPU without cuDNN, and on the GPU with it.

Flow: `networks.load` reads a sourced row -> `measure.run(Order)` starts one child a measurement (`worker`) -> the child
builds a `model` of `layers` on a `backend` (NumPy or CuPy; convolutions by im2col, or by cuDNN), trains it for some
steps and times them (`timing`) -> what it wrote comes back as a `Bench`, with a `Lack` for everything not measured.

The layers are one code for every path: `backend.xp` is NumPy or CuPy, and the cuDNN backend replaces the convolution
alone. So the difference between "gpu" and "gpu+cudnn" is the convolution's, and nothing else's.
"""
