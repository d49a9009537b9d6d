"""Names of GPU packages that many people type: each has rows, or a reason and what to ask for in its place."""

from __future__ import annotations

import pytest

from compat.spec import parse_spec
from doctor.cli import execute
from doctor.rules.shared.products import NoRows, known_product

RIDERS = (
    "axolotl captum chatterbox-tts diffrax docling-ibm-models facenet-pytorch flagembedding keras-tuner kokoro lerobot"
    " llamafactory llmcompressor mteb neuralforecast nnunetv2 opacus open-webui optimum-quanto python-doctr"
    " pytorch-forecasting segmentation-models-pytorch sb3-contrib setfit silero-vad spacy-transformers surya-ocr tabpfn"
    " tensordict tensorflow-addons tensorflow-io tensorflow-model-optimization tf-models-official torchrl torchtext"
    " transformer-lens tts verl xgrammar"
)
NAMED = (
    "cuda-bindings cuml-cu13 dgl faiss-cpu gptqmodel gpustat hqq kvikio-cu12 lm-eval mlx mmdet natten"
    " nvidia-cublas-cu12 nvidia-cudnn-cu12 nvidia-ml-py nvidia-nccl-cu12 nvitop nvmath-python paddlenlp pynvml"
    " rapidocr skorch tensorrt-llm tf-nightly torch-cluster torch-directml torch-scatter torch-xla torchrec"
    " tritonclient"
)


@pytest.mark.no_cover  # other tests run the same lines
@pytest.mark.parametrize("name", RIDERS.split())
def test_what_runs_on_a_framework_is_answered(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["matrix", "can", name, "--gpu", "L4", "--driver", "580.65.06", "--os", "linux", "--arch", "x86_64"]
    status = execute(command)
    assert (status, capsys.readouterr().out.partition(":")[0]) == (0, "yes")


@pytest.mark.parametrize("name", NAMED.split())
def test_what_has_no_rows_is_named_with_the_reason(name: str) -> None:
    with pytest.raises(NoRows, match=f"{name} has no data of its own: "):
        known_product(parse_spec(name), "cuda", "cudnn")
