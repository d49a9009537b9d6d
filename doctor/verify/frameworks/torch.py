"""PyTorch, from 0.4 on: `torch.nn.functional.conv2d` and its gradients."""

TYPE_CHECKING = False
if TYPE_CHECKING:  # and annotations are texts: this runs under 3.6, too
    from typing import Any

DIRECTIONS = ("forward", "backward-data", "backward-filter")


def load() -> "dict[str, str]":
    import torch

    built = torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None
    return {"version": torch.__version__, "cudnn": str(built or "")}


def gpu(number: int) -> "Any":
    import torch

    if not torch.cuda.is_available():
        raise LookupError(_why_not())
    if torch.cuda.device_count() <= number:
        raise LookupError(f"torch sees {torch.cuda.device_count()} GPU(s)")
    return f"cuda:{number}"


def _why_not() -> str:
    import torch

    try:
        torch.cuda.init()
    except Exception as error:  # noqa: BLE001 - whatever it is, its words are the answer
        return str(error).strip().splitlines()[0]
    return "torch.cuda.is_available() is False"


def cpu() -> "Any":
    return "cpu"


def convolve(place: "Any", problem: "dict[str, Any]") -> "dict[str, Any]":
    import torch

    def tensor(name: str, grad: bool) -> "Any":
        return torch.tensor(problem[name], dtype=torch.float32, device=place).requires_grad_(grad)

    x, w, dy = tensor("x", True), tensor("w", True), tensor("dy", False)
    y = torch.nn.functional.conv2d(x, w, padding=problem["padding"])
    y.backward(dy)
    found = {"forward": y.detach(), "backward-data": x.grad, "backward-filter": w.grad}
    return {direction: result.cpu().tolist() for direction, result in found.items()}
