"""PyTorch, from 0.4 on: `torch.nn.functional.conv2d` and its gradients."""

TYPE_CHECKING = False
if TYPE_CHECKING:  # and annotations are texts: this runs under 3.6, too
    from typing import Any

MOST_BYTES = 256 << 20
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
    if hasattr(torch.cuda, "set_per_process_memory_fraction"):  # since 1.8
        total = torch.cuda.get_device_properties(number).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, MOST_BYTES / total), number)
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


def convolve(place: "Any", problem: "dict[str, Any]") -> "tuple[dict[str, Any], dict[str, Any]]":
    import torch

    def tensor(name: str, grad: bool) -> "Any":
        return torch.tensor(problem[name], dtype=torch.float32, device=place).requires_grad_(grad)

    x, w, dy = tensor("x", True), tensor("w", True), tensor("dy", False)
    with torch.autograd.profiler.profile() as profile:
        y = torch.nn.functional.conv2d(x, w, padding=problem["padding"])
        y.backward(dy)
    found = {"forward": y.detach(), "backward-data": x.grad, "backward-filter": w.grad}
    results = {direction: result.cpu().tolist() for direction, result in found.items()}
    taken = torch.cuda.memory_reserved() if y.is_cuda and hasattr(torch.cuda, "memory_reserved") else None
    return results, dict(_used(profile.function_events, y.is_cuda), memory_bytes=taken)


def _used(events: "Any", is_on_gpu: bool) -> "dict[str, Any]":
    """The operators that convolved; cuDNN's is one of its own, forward, and chosen for the way back as well."""
    import torch

    names = {one.name for one in events if "conv" in one.name.lower() and "Backward0" not in one.name}
    cudnn = any("cudnn" in one for one in names)
    why = ""
    if not cudnn:
        why = "torch chose " + ", ".join(sorted(names))
        if not torch.backends.cudnn.enabled:
            why = "torch.backends.cudnn.enabled is False"
    return {"executed": [(one, "gpu" if is_on_gpu else "cpu") for one in sorted(names)], "cudnn": cudnn, "why": why}
