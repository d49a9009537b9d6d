"""Words of a text that say where the program ran: patterns for `Means.given` and `Means.unless`."""

from __future__ import annotations

BOXED = (
    r"docker|podman|container|kubernetes|k8s|\bpod\b|compose|containerd|image:|/entrypoint|nvidia/cuda:"
    r"|(?-i:\bFROM) [\w.-]+/"
)
OTHER_MAKER = (
    r"\bamd radeon|radeon|\bRX ?[5-9]\d{3}|\bintel (?:\S+ )?(?:hd|uhd|iris|arc)\b|\bapple m\d|\bno nvidia\b(?! driver)"
    r"|rocm\b(?! used)"
)
BLACKWELL = r"\bRTX ?50\d0|\b50xx\b|\bgb20\d|RTX (?:6000 )?PRO\b|Blackwell|\bB[12]00\b"
MAC = (
    r"\bmacOS\b|\bmac OS X\b|\bDarwin\b|(?<![A-Za-z:])(?-i:/Users/)[^/\n]+/"
    r"|/opt/homebrew/|macosx_\d|\bapple m\d|package_macos"
)
WINDOWS = r"windows|\bwin(?:32|64|_amd64)\b|\.dll\b|[A-Z]:\\\\|\bMSVC\b|WinError|specified module could not be found"
IS_WSL = r"\bWSL|microsoft-standard|/usr/lib/wsl"
JETSON = r"jetson|\bL4T\b|jetpack|tegra|\b(?:AGX )?(?:Orin|Xavier)\b|\bNano\b[^\n]{0,20}(?:aarch64|kit)"
TOOLKIT = (
    r"CUDA(?:/cuDNN)? ?(?:version|toolkit|runtime)?[ :=]*v?(?:7|8|9|1\d)(?:\.\d+)+|cuda[-_ ](?:7|8|9|1\d)\.\d"
    r"|release \d+\.\d, V|\bcuda ?\d\d\.\d"
)  # a release of CUDA that the text names
CANNOT = (
    r"(?:can(?:not|'t| not)|could(?: not|n't)|fail(?:ed|ure|s)?(?: to)?|unable to|not able to|did(?: not|n't)"
    r"|error(?: in| while)?)"
    r"(?: dynamically| to)? ?(?:re)?(?:load|open|find|locat|dlopen|import|resolv)(?:e|ing)?\b"
)
NOT_THERE = (
    r"(?:(?:is |was |are )?(?:not|never) (?:be )?(?:found|loaded|located|opened|present|installed)|(?:is )?missing"
    r"|could(?: not|n't) be (?:found|loaded|located|opened)|can(?:not|'t) be (?:found|loaded|located|opened)"
    r"|(?:: )?cannot open shared object|: No such file)"
)
DRIVER_LIBRARY = (
    r"(?:libcuda|libnvcuvid|libnvidia-(?:encode|ml|opticalflow|fbc|ptxjitcompiler|rtcore)|libnvoptix"
    r"|nvcuda|nvcuvid|nvEncodeAPI(?:64)?|nvml(?=\.dll)|nvoptix|nvofapi64)(?:\.so|\.dll|\b)"
)
