"""What must become true, as data: rules and the solver say it, `installers` knows how to bring it about."""

from __future__ import annotations

from compat.base.record import NamedTuple

ABSENT = "absent"
AGAIN = "again"
BY_HAND = "by-hand"
WHEELS = "wheels"


class Need(NamedTuple):
    """One thing that must become true.

    | product | spec | where | build |
    | --- | --- | --- | --- |
    | driver | PEP 440 specifier, ">=580" | | "open" for the open kernel module |
    | cuda, cudnn | PEP 440 specifier | directory, "" for the usual one | CUDA major for cudnn |
    | a Python distribution, "torch" | PEP 440 specifier, "" (any), ABSENT | the environment's interpreter | \
      "cu128", "cpu"; AGAIN to install it anew |
    | environment | its Python, "==3.12.*", "==3.13t.*", "" (any) | its directory | |
    | kernel-module | "loaded", "reloaded", "rebuilt", "built" (not loaded yet), "signed" | kernel release or "" | \
      "nvidia", "nvidia_uvm"; behind it packages that a build lacks, "nvidia gcc-12", or who makes what is signed |
    | module-package | "", "built" (not loaded yet), or the release, "==580.95.05" | kernel release | who brings it: \
      DriverFacts.module_source, or "nvidia-dkms-580-open" |
    | nouveau | ABSENT | | |
    | restart | "" | | |
    | device-nodes | "" | | |
    | device-access | "" | paths of the nodes | group that owns it; "label" where SELinux closes them |
    | container-gpu | "" | container kind | |
    | variable | "" to unset it, "=value", or "without /dir" for path-like ones | file and line that sets it | name |
    | alternative | where it shall lead | the name that programs use, "/usr/local/cuda" | |
    | link | text of the link | path of the link | |
    | file | ABSENT | path | |
    | files-aside | ABSENT | path of the first of them | pattern of all, "cudnn*.h" |
    | driver-leftovers | "runfile" where that laid them, "" | path of one of them | pattern of all, "lib*.so.575.57" |
    | modprobe-line | ABSENT | file | the line as it stands |
    | gpu-switch | "on" | | "prime-select", "envycontrol", "supergfxctl" |
    | mig | "off" | number of the GPU | |
    | gpu-reset | "" | number of the GPU, "" for all | |
    | rollback | id of the installation | | |
    | compute-mode | "DEFAULT", "EXCLUSIVE_PROCESS" | number of the GPU | |
    | shm | size in bytes | | |
    | service | "running" | | unit name |
    | fabric-manager | the driver's release, "==580.95.05" | | |
    | gpu-firmware | the driver's release, "==580.95.05" | | who brings its module: DriverFacts.module_source |
    | cpp-runtime | "" | | |
    | glx-alternative | the driver's release, "==550.163.01" | its directory, /usr/lib/nvidia/current | |
    | setting | its value | the file | "theano global floatX": program, section, option |
    | host-compiler | "" | | "g++-12", a package of Debian or Ubuntu |
    | loader-directory | "" | directory that the loader shall search | name of the file in /etc/ld.so.conf.d |
    | system-package | specifier, "", or AGAIN to install it anew | | package name |
    | system-library | "", or AGAIN to install its package anew | | SONAME, "libz.so.1" |
    | wheels | distributions to install (anew, if they are there), "a[x]==1+cu128 b==2" | the interpreter | \
      distributions to remove first, "c d" |
    | by-hand | the sentence that says what to do | | |
    """

    product: str
    spec: str = ""
    where: str = ""
    build: str = ""
