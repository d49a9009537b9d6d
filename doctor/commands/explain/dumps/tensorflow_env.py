"""TensorFlow's tf_env_collect.sh, and the form of its issues: a question a heading or a line, with the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said, keyed
from doctor.messages.reading import Line

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
    r"^[ *-]*(?:tf\.(?:version\.)?VERSION = |TensorFlow (?:version|installed)[^:\n]{0,40}:)[ *]*"
    r"(?:(?i:tf|tensorflow) *)?v?(\d+\.\d+(?:\.\d+)?)\b"
)
_HEADING = re.compile(r"^ *#{2,4} (?=TensorFlow version|OS platform|Python version|GPU model)(.{3,60}?):? *$")
_PATH = re.compile(r"^LD_LIBRARY_PATH (?!is unset)(\S.*)$")
_CUDART = re.compile(r"^(/usr/local/\S*/libcudart\.so\.\d{1,3}\.\d{1,3}\S*)$")
_LISTED = re.compile(r"^(tensorflow(?:-gpu|-cpu|-intel)?|tf-nightly|numpy) +\(?(\d[\w.]*)\)?$")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    lines = tuple(_answered(lines))
    for one in keyed(lines, _KEYS):
        yield one._replace(value=f"0 {one.value.partition(',')[0]}") if one.field is Field.GPU else one
    listed = False
    for line in lines:
        text = line.text.strip()
        if found := _LISTED.match(text):
            listed = True
            yield Said(Field.PACKAGE, f"{found[1]}=={found[2]}", line.number)
        elif found := _PATH.match(text):
            yield Said(Field.VARIABLE, f"LD_LIBRARY_PATH={found[1]}", line.number)
        elif found := _CUDART.match(text):
            yield Said(Field.CUDART, found[1], line.number)
        elif (found := _RELEASE.match(text)) and not listed and len(found[1].split(".")) == 3:
            yield Said(Field.PACKAGE, f"tensorflow=={found[1]}", line.number)


def _answered(lines: tuple[Line, ...]) -> Iterator[Line]:
    """A heading of GitHub's form and what stands below it, as one line; all others as they are."""
    heading = ""
    for line in lines:
        if found := _HEADING.match(line.text):
            heading = found[1]
        elif heading and line.text.strip():
            yield line._replace(
                text=line.text if line.text.lstrip().startswith("#") else f"{heading}: {line.text.strip()}"
            )
            heading = ""
        else:
            yield line


DUMP = Dump(
    title="TensorFlow's form",
    mark=r"(?i)^ *#{2,4} TensorFlow version *$|== tensorflow import ==|^[ *-]*(?:tf\.(?:version\.)?VERSION = "
    r"|TensorFlow version[^:\n]{0,40}:)",
    tell=_tell,
    source="tensorflow/tensorflow: tools/tf_env_collect.sh; .github/ISSUE_TEMPLATE/tensorflow_issue_template.yaml",
)
