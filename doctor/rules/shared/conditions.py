"""What several rules ask of the same facts: does NVML work, whose kernel is it, what does the kernel's log say."""

from __future__ import annotations

from compat.need import Advice, Need
from doctor.model.facts import Facts
from doctor.model.facts.driver import CudaStart, DriverLibrary, Nvml
from doctor.model.facts.environment import Variable
from doctor.model.facts.seen import Place, Seen, Unseen, value_or
from doctor.model.finding import Evidence, Symptom
from doctor.rules.shared.rule import NotApplicable
from doctor.rules.shared.subjects import need_gpu, need_linux, need_live

# What the kernel module says of a card that it cannot start.
OPEN_ONLY = "requires use of the NVIDIA open kernel modules"
NO_ROOM = "PCI I/O region assigned to your NVIDIA device is invalid"
FAILED_START = "RmInitAdapter failed"
_SILENT = Nvml("", "not-found", "", 0)
NIX = ("/nix/", "/run/opengl-driver/")  # whose programs carry the path of libcuda themselves
CUDA_UNKNOWN = 999  # CUDA_ERROR_UNKNOWN
# What a fault of the driver looks like to CUDA.
CUDA_DOES_NOT_START = (Symptom("cuda-call-failed"), Symptom("uvm-broken-after-suspend"))


def nvml_works(facts: Facts) -> bool:
    """Whether NVML initialised: proof that module, nodes and libraries fit, whatever indirect signs say."""
    return value_or(facts.driver.nvml, _SILENT).state == "ok"


def nvml_code(facts: Facts) -> int:
    """The return code that NVML's initialisation failed with; 0 where it did not fail, or never answered."""
    return value_or(facts.driver.nvml, _SILENT).code


def nvml_evidence(facts: Facts) -> tuple[Evidence, ...]:
    """What NVML said when it failed; nothing where it works or was not found."""
    said = value_or(facts.driver.nvml, _SILENT)
    library = Place(said.library) if said.library.startswith("/") else said.library  # else the name that was asked for
    return (Evidence.at(library or "NVML", said.error),) if said.error else ()


def cuda_start(facts: Facts) -> CudaStart:
    """How starting CUDA ended; raises NotApplicable where it was not started, UnseenError where it could not be."""
    need_gpu(facts)
    start = facts.driver.cuda_start.get()
    if start.state in {"not-asked", "not-opened"}:
        raise NotApplicable(f"CUDA was not started: {start.why if start.state == 'not-asked' else start.error}")
    return start


def cuda_start_evidence(facts: Facts) -> tuple[Evidence, ...]:
    """What CUDA said, and why it was checked."""
    start = facts.driver.cuda_start.get()
    return Evidence(f"{start.code} {start.error}" if start.code else start.error, label="cuInit"), Evidence(
        start.why, label="why it was checked"
    )


def container(facts: Facts) -> str:
    """The kind of container this is; "" for none, or where nothing shows one."""
    return value_or(facts.system.container, "")


def wsl(facts: Facts) -> int:
    """1 or 2 inside Windows Subsystem for Linux, else 0."""
    return value_or(facts.system.wsl, 0)


def need_kernel_driver(facts: Facts) -> None:
    """Raise NotApplicable where no NVIDIA module is expected: offline, WSL, Jetson, no card, cards given away."""
    need_live(facts)
    need_linux(facts)
    if wsl(facts):
        raise NotApplicable("in WSL the driver runs in Windows")
    if value_or(facts.system.jetson, ""):
        raise NotApplicable("a Jetson's system image contains the driver")
    need_gpu(facts)
    cards = value_or(facts.pci, ())
    if cards and all(card.driver == "vfio-pci" for card in cards):
        raise NotApplicable("every NVIDIA card is passed to virtual machines (vfio-pci)")


def need_own_kernel(facts: Facts) -> None:
    """The same, and NotApplicable in a container too, whose kernel and module files are the host's."""
    need_kernel_driver(facts)
    if container(facts):
        raise NotApplicable("a container runs the host's kernel: check there")


def module_is_loaded(facts: Facts) -> bool:
    """Whether the nvidia kernel module is loaded; raises UnseenError where nothing tells."""
    if nvml_works(facts) or isinstance(facts.driver.module_release, Seen):
        return True
    return "nvidia" in facts.driver.modules_loaded.get()


def undriven(facts: Facts) -> tuple[str, ...]:
    """PCI addresses of NVIDIA cards that NVML, which works, does not show (a container may be given only some)."""
    gpus = value_or(facts.gpus, ())
    if not nvml_works(facts) or (gpus and container(facts)) or any(isinstance(gpu.pci_address, Unseen) for gpu in gpus):
        return ()
    shown = {short_address(value_or(gpu.pci_address, "")) for gpu in gpus}
    cards = (card for card in value_or(facts.pci, ()) if card.driver in {"", "nvidia"})
    return tuple(card.address for card in cards if short_address(card.address) not in shown)


def short_address(address: str) -> str:
    """A PCI address without its domain's leading zeros, which NVML and sysfs write in different number."""
    return address.lower().lstrip("0") if address.count(":") == 2 else f":{address.lower()}"


def loading_library(facts: Facts, stem: str) -> DriverLibrary | None:
    """The file that a process loads for a driver library; raises UnseenError where the libraries were not seen."""
    return next((one for one in facts.driver.libraries.get() if one.stem == stem and one.loads), None)


def variable(facts: Facts, name: str) -> Variable | None:
    """An environment variable that is set; raises UnseenError where the environment was not seen."""
    shown = next((one for one in value_or(facts.configuration.shown, ()) if one.name == name), None)
    return shown or next((one for one in facts.configuration.variables.get() if one.name == name), None)


def without_gpus(facts: Facts) -> str:
    """ "Slurm" in a job that it gave no GPU; "" elsewhere, and where other schedulers do not say."""
    job = value_or(facts.system.job, None)
    return job.scheduler if job and job.scheduler == "Slurm" and not job.gpus else ""


def ask_for_gpus() -> Need:
    """What a job asks Slurm for. Source: Slurm, "Generic Resource (GRES) Scheduling"."""
    return Advice(
        "Request a GPU from Slurm at the job's start: 'srun --gres=gpu:1 --pty bash', in a batch script '#SBATCH "
        "--gres=gpu:1'. Some clusters also need a partition with GPUs (-p): \"sinfo -o '%P %G'\" lists them."
    )


def kernel_says(facts: Facts) -> str:
    """The kernel's lines about NVIDIA as one text without prefixes, so that messages of several lines can be matched.

    Empty where the log could not be read.
    """
    import re  # late: only a machine with lines to read needs it

    lines = (line.split("kernel:", 1)[-1] for line in value_or(facts.system.kernel_log, ()))
    # the kernel writes a line's end inside a record as \x0a, rsyslog as #012
    return " ".join(re.sub(r"\[\s*\d+\.\d+\]|NVRM:|\\x0a|#012", " ", " ".join(lines)).split())


def on_host(facts: Facts, need: Need, what: str) -> Need:
    """The need itself; in a container or image, which cannot bring it about, a request to do so on the host."""
    if facts.assumed:
        return Advice(f"On the host: {what}.")
    return Advice(f"On the host, not in this container: {what}.") if container(facts) else need
