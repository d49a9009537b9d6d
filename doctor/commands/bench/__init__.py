"""The benchmark: networks trained on the CPU, on the GPU without cuDNN, and on the GPU with it.

Flow: `networks.load` reads a sourced row -> `measure.run(Order)` makes `job`s of it and starts one `child` for each ->
the child (`worker`) builds a `model` of `layers` on one of the `backends`, trains it for some steps and times them
(`timing`) -> what it wrote comes back as a `Bench` (`outcome`), with a `Lack` for everything that was not measured.
`card` asks NVML meanwhile whether the GPU held its clocks back.

What is compared. The layers are one code for every path. On the CPU they are NumPy's calls and BLAS' products. On the
GPU they are CuPy's and cuBLAS', with kernels of our own for what would be many small ones (`backends/kernels.cu`).
With cuDNN the convolutions are its own, each by the algorithm that proved the fastest within the workspace, and nothing
else is: so the difference between "gpu" and "gpu+cudnn" is the convolutions', no more. It is the classic interface of
cuDNN, which all releases from 5 to 9 have, in fp32 and N,C,H,W, as the frameworks of the articles used it.

What is not compared. Images lie on the device before the clock runs: reading, decoding and copying them is not
measured. Every step is put on the GPU by Python, so a small network on a fast GPU waits for Python on both paths: what
cuDNN itself gains there is in the table of algorithms, not in the time of an epoch.
"""
