"""Windows: DLLs that are not found, or need others that are not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.explain.clues import Clues
from doctor.explain.signature import Family, Means, Signature

_PATH, _REDIST, _OMP = "windows-dll-path", "msvc-redist-missing", "missing-libomp140"
# "The specified module could not be found." as Windows says it in other languages.
_NOT_FOUND = (
    r"(?:The specified module could not be found|Das angegebene Modul wurde nicht gefunden|Не найден указанный модуль"
    r"|找不到指定的模块|找不到指定的模組|指定されたモジュールが見つかりません"
    r"|No se puede encontrar el módulo especificado|Le module spécifié est introuvable)"
)


def _cuda_dll(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """cudart64_110.dll is of CUDA 11; where the text names a toolkit of that major, it is there and not found."""
    name = found["dll"] or found["tf"] or found["find"]
    number = re.search(r"64_(\d+)", name)
    major = number[1] if number and int(number[1]) < 30 else (number[1][:-1] if number else "")
    named = set(
        re.findall(r"CUDA[/\\ _]*(?:cuDNN|toolkit|version|PATH_)?[ :=]*v?(\d{1,2})[._]\d", clues.text, re.IGNORECASE)
    )
    if major in named:
        yield Means(_PATH, f"{name} is of an installed CUDA, and this program does not find it", 0.93)
    elif named:
        yield Means("framework-wants-other-cuda", f"{name} is of another CUDA than is installed", 0.9)
    yield Means("cudart-soname-missing", f"{name} is not found", 0.85)


FAMILY = Family(
    Signature(
        r"msvcp140(?:_1)?\.dll|vcruntime140(?:_1)?\.dll|Microsoft Visual C\+\+ Redistributable",
        Means(_REDIST, "the Visual C++ runtime is missing or too old", 0.94),
        source="tensorflow/tensorflow: python/platform/self_check.py; pytorch/pytorch: torch/__init__.py",
    ),
    Signature(
        r"(?:loading|load|find)[^\n]{0,120}fbgemm\.dll|fbgemm\.dll",
        Means(_OMP, "fbgemm.dll of torch 2.4.0 needs libomp140.x86_64.dll", 0.9, unless=r"clean Windows"),
        Means(_REDIST, "fbgemm.dll needs the Visual C++ runtime", 0.88),
        source="pytorch/pytorch#131662",
    ),
    Signature(
        r"zlibwapi\.dll",
        Means("zlibwapi-missing", "cuDNN 8.3 and later of major 8 needs a 64-bit zlibwapi.dll on Windows", 0.95),
        source="NVIDIA cuDNN 8 installation guide, Windows",
    ),
    Signature(
        rf"(?:ImportError: DLL load failed[^\n]{{0,80}}|\[?WinError 126\]?[^\n]{{0,20}}"
        rf"|LoadLibrary failed with error 126)(?:: )?(?:{_NOT_FOUND})?",
        Means(
            _REDIST,
            "TensorFlow from 2.1 on needs the Visual C++ runtime of 2019",
            0.88,
            given=r"TensorFlow[^\n]{0,10} ?2\.\d|tensorflow[= ]*2\.\d|_pywrap_tensorflow",
        ),
        Means(
            _REDIST,
            "torch's own DLLs for the CPU need nothing but one another, Windows and the Visual C++ runtime",
            0.75,
            given=r"torch[\\/]+lib[\\/]+(?:c10|shm|torch_cpu|torch_python|torch_global_deps)\.dll",
        ),
        Means(_PATH, "a DLL, or one that it needs, is not where Windows looks", 0.7, unless=r"fbgemm\.dll"),
        asks="Which DLL is named, and does `gpudoctor which` find it? Is the Visual C++ runtime installed?",
        source="CPython: Python/dynload_win.c; Windows, error 126; imports of torch-2.15.0-cp311-cp311-win_amd64.whl",
    ),
    Signature(
        _NOT_FOUND,
        Means(_PATH, "a DLL, or one that it needs, is not where Windows looks", 0.6, unless=r"fbgemm|TensorFlow"),
        source="Windows, error 126",
    ),
    Signature(
        r"does not have Windows Long Path support enabled|\[WinError 206\]|The filename or extension is too long",
        Means("windows-long-paths", "Windows refuses a path of 260 characters or more", 0.95),
        source="pip 23.2.1: _internal/commands/install.py; Windows, error 206",
    ),
    Signature(
        r"\[WinError 127\]|specified procedure could not be found|angegebene Prozedur wurde nicht gefunden"
        r"|Не найдена указанная процедура|找不到指定的程序|指定されたプロシージャが見つかりません"
        r"|La procédure spécifiée est introuvable|No se encontró el proceso especificado",
        Means(_PATH, "a DLL of another release comes first: it lacks a function that is asked of it", 0.72),
        source="Windows, error 127",
    ),
    Signature(
        r"\[WinError 193\]|is not a valid Win32 application|%1 is not a valid|keine zulässige Win32-Anwendung"
        r"|не является приложением Win32|不是有效的 ?Win32|有効な Win32 アプリケーションではありません"
        r"|n[’']est pas une application Win32 valide|no es una aplicación Win32 válida",
        Means(_PATH, "a DLL of another architecture (32 bits) comes first", 0.6),
        Means("corrupted-install", "a DLL is damaged", 0.6),
        source="Windows, error 193",
    ),
    Signature(
        r"\[WinError 1114\]|DLL\) initialization routine failed|DLL-Initialisierungsroutine ist fehlgeschlagen"
        r"|Произошел сбой в программе инициализации|初始化例程失败|初期化ルーチンの実行に失敗しました"
        r"|routine d[’']initialisation d[’']une bibliothèque de liens|rutina de inicialización de biblioteca",
        Means(_REDIST, "a DLL does not start: mostly the Visual C++ runtime is older than the DLL needs", 0.65),
        Means(_PATH, "a DLL does not start: it finds another release of one that it needs", 0.5),
        asks="is the newest Visual C++ runtime installed, and does the same DLL load in a new environment?",
        source="Windows, error 1114",
    ),
    Signature(
        r"\[WinError 1455\]|paging file is too small|Auslagerungsdatei ist zu klein|Файл подкачки слишком мал"
        r"|页面文件太小|ページング ファイルが小さすぎる"
        r"|fichier de pagination est insuffisant|archivo de paginación es demasiado pequeño",
        Means(
            "out-of-memory-not-a-stack-fault",
            "Windows has no memory left to load the DLL: the paging file is too small, or too many processes load it",
            0.9,
        ),
        source="Windows, error 1455",
    ),
    Signature(
        r"(?P<dll>(?:cudart|cublas|cublasLt|cufft|curand|cusolver|cusparse"
        r"|cupti)64_\w+\.dll)(?: was| ->)? not found|dlerror: (?P<tf>\w+64_\w+\.dll) not found"
        r"|Could not find '(?P<find>(?!msvcp|cudnn)\w+64_\w+\.dll)'",
        decide=_cuda_dll,
        source="tensorflow/tensorflow: tsl/platform/default/dso_loader.cc, self_check.py",
    ),
    Signature(
        r"Could not find module '(?P<dll>[^'\n]+\.dll)' \(or one of its dependencies\)",
        Means(_PATH, "{dll}, or one that it needs, is not where Python 3.8 and later look", 0.8),
        source="CPython: Lib/ctypes/__init__.py, since 3.8",
    ),
)
