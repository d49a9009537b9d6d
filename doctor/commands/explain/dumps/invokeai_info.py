"""The system information that InvokeAI's page copies: JSON with the packages under "dependencies"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_HEAD = r'^ *"dependencies" *: *\{'
_PAIR = r'^ *"([A-Za-z][\w.-]*)" *: *(?:"([^"]*)"|null),? *$'
_KNOWN = r"torch\w*|xformers|onnxruntime(?:-gpu)?|triton|numpy|transformers|accelerate|diffusers|bitsandbytes"


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    inside = False
    for line in lines:
        if re.match(_HEAD, line.text):
            inside = True
        elif inside and (found := re.match(_PAIR, line.text)):
            name, value = found[1].lower(), found[2] or ""
            if name == "python" and value:
                yield Said(Field.PYTHON, value, line.number)
            elif name == "cuda" and value:
                yield Said(Field.TORCH_CUDA, value, line.number)
            elif value[:1].isdigit() and (re.fullmatch(_KNOWN, name) or name.startswith("nvidia-")):
                yield Said(Field.PACKAGE, f"{name}=={value}", line.number)
        else:
            inside = False


DUMP = Dump(
    title="InvokeAI's system information",
    mark=r'^ *"dependencies" *: *\{\s*\n(?: *"[\w.-]+" *: *(?:"[^"\n]*"|null),? *\n){0,400}?'
    r' *"(?:torch|accelerate|compel)" *:',
    tell=_tell,
    source="invoke-ai/InvokeAI: invokeai/app/api/routers/app_info.py",
)
