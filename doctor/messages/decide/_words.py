"""Words of a text that say where the program ran: patterns for `Means.given` and `Means.unless`."""

from __future__ import annotations

BOXED = (
    r"docker|podman|container|kubernetes|k8s|\bpod\b|compose|containerd|image:|/entrypoint|nvidia/cuda:"
    r"|(?-i:\bFROM) [\w.-]+/"
)
BLACKWELL = r"\bRTX ?50\d0|\b50xx\b|\bgb20\d|RTX (?:6000 )?PRO\b|Blackwell|\bB[12]00\b"
JETSON = r"jetson|\bL4T\b|jetpack|tegra|\b(?:AGX )?(?:Orin|Xavier)\b|\bNano\b[^\n]{0,20}(?:aarch64|kit)"
TOOLKIT = (
    r"CUDA(?:/cuDNN)? ?(?:version|toolkit|runtime)?[ :=]*v?(?:7|8|9|1\d)(?:\.\d+)+|cuda[-_ ](?:7|8|9|1\d)\.\d"
    r"|release \d+\.\d, V|\bcuda ?\d\d\.\d"
)  # a release of CUDA that the text names
