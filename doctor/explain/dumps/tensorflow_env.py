"""TensorFlow's tf_env_collect.sh, and the form of its issues: a question a heading or a line, with the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.explain.dump import Dump, Field, Said, keyed
from doctor.explain.reading import Line

_KEYS = {
    "python version": Field.PYTHON,
    "os platform": Field.PLATFORM,
    "machine": Field.MACHINE,
    "os platform and distribution": Field.SYSTEM,
    "**os platform and distribution (e.g., linux ubuntu 16.04)**": Field.SYSTEM,
    "- os platform and distribution (e.g., linux ubuntu 16.04)": Field.SYSTEM,
    "- python version": Field.PYTHON,
    "gpu model and memory": Field.GPU,
    "- gpu model and memory": Field.GPU,
}
_RELEASE = re.compile(
    r"^[ *-]*(?:tf\.(?:version\.)?VERSION = |TensorFlow (?:version|installed)[^:\n]{0,40}: *\**) *"
    r"v?(\d+\.\d+(?:\.\d+)?)\b"
)
_CUDART = re.compile(r"^(/usr/local/\S*/libcudart\.so\.\d+\.\d+\S*)$")
_LISTED = re.compile(r"^(tensorflow(?:-gpu|-cpu|-intel)?|tf-nightly|numpy) +\(?(\d[\w.]*)\)?$")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    for one in keyed(lines, _KEYS):
        yield one._replace(value=f"0 {one.value.partition(',')[0]}") if one.field is Field.GPU else one
    listed = False
    for line in lines:
        text = line.text.strip()
        if found := _LISTED.match(text):
            listed = True
            yield Said(Field.PACKAGE, f"{found[1]}=={found[2]}", line.number)
        elif found := _CUDART.match(text):
            yield Said(Field.CUDART, found[1], line.number)
        elif (found := _RELEASE.match(text)) and not listed and len(found[1].split(".")) == 3:
            yield Said(Field.PACKAGE, f"tensorflow=={found[1]}", line.number)


DUMP = Dump(
    title="TensorFlow's form",
    mark=r"(?i)^[ *-]*(?:tf\.(?:version\.)?VERSION = |TensorFlow version[^:\n]{0,40}:|== tensorflow import ==)",
    tell=_tell,
    source="tensorflow/tensorflow: tools/tf_env_collect.sh; .github/ISSUE_TEMPLATE/tensorflow_issue_template.yaml",
)
