"""A plan as an Ansible playbook: a module where one does what a step does, else the lines that a person would type.

Each host has one directory for files, where relative paths begin. JSON is YAML, so that nothing needs
quoting rules of its own. Sources: the Ansible documentation of the modules of ansible.builtin that stand here, and of
community.general.zypper, pacman and ini_file.
"""

from __future__ import annotations

import json
from typing import Any

from installers.packages import INSTALL
from installers.plan import Plan, Target
from installers.render import step_lines
from installers.render.comments import comment
from installers.step import Step, kind_of
from installers.steps.by_hand import ByHand
from installers.steps.check import Check
from installers.steps.command import Command
from installers.steps.download import Download
from installers.steps.edit_text import EditText
from installers.steps.extract import Extract
from installers.steps.fetch_keyring import FetchKeyring
from installers.steps.note import Note
from installers.steps.pause import Pause
from installers.steps.prove import Prove
from installers.steps.reboot import Reboot
from installers.steps.unless import Unless
from installers.steps.write_file import WriteFile

Task = dict[str, Any]
_DIR = "{{ gpudoctor_dir }}"
_MODULES = {
    **{name: f"ansible.builtin.{name}" for name in ("apt", "dnf", "yum")},
    **{name: f"community.general.{name}" for name in ("zypper", "pacman")},
}
_ADD_REPO = ("config-manager", "--add-repo")


def playbook(plan: Plan, target: Target) -> str:
    """The whole playbook, ending with a line feed."""
    as_root = target._replace(is_root=True)  # Ansible itself becomes root
    where = {"path": _DIR, "state": "directory", "owner": "{{ ansible_facts.user_id }}", "mode": "0755"}
    first = {"name": "a directory for downloads", "ansible.builtin.file": where}
    play = {
        "name": plan.summary,
        "hosts": "{{ gpudoctor_hosts | default('all') }}",
        "vars": {"gpudoctor_dir": "/opt/gpudoctor"},
        "tasks": [first | {"become": True}, *_tasks(plan.steps, as_root)],
    }
    head = comment(f"{plan.summary}: written by gpudoctor. Read it, then run: ansible-playbook THIS-FILE.yml -K")
    return "\n".join((*head, "---", json.dumps([play], indent=2, ensure_ascii=False), ""))


def _tasks(steps: tuple[Step, ...], target: Target) -> list[Task]:
    """The tasks; those of a part that may be there already are a block with its condition."""
    tasks: list[Task] = []
    into, number = tasks, 0
    for step in steps:
        if isinstance(step, Unless):
            into = tasks
            if not step.ends:
                number += 1
                into = []
                tasks += [_look(step, number), {"name": step.what, "block": into, "when": _missing(step, number)}]
            continue
        task = _task(step, target)
        if task:
            root = {"become": True} if kind_of(step).needs_root(step) else {}
            into.append({"name": kind_of(step).title(step)} | task | root)
    return tasks


def _look(step: Unless, number: int) -> Task:
    name = f"look for {step.what}"
    if step.path:
        path = step.path if step.path.startswith("/") else f"{_DIR}/{step.path}"
        return {"name": name, "ansible.builtin.stat": {"path": path}, "register": f"found_{number}"}
    argv = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    quiet = {"register": f"found_{number}", "changed_when": False, "failed_when": False}
    return {"name": name, "ansible.builtin.command": {"argv": argv}} | quiet


def _missing(step: Unless, number: int) -> str:
    if step.path:
        return f"not found_{number}.stat.exists"
    lines = f"(found_{number}.stdout_lines | default(['0']) + ['0'])[0]"
    return f"found_{number}.rc != 0 or {lines} is version('{step.driver}', '<')"


def _task(step: Step, target: Target) -> Task | None:
    if isinstance(step, (ByHand, Note)):
        return {"ansible.builtin.debug": {"msg": step.text}}
    if isinstance(step, Reboot) or (isinstance(step, Pause) and step.is_reboot):
        return {"ansible.builtin.reboot": {}, "become": True}
    if isinstance(step, (Check, Pause)):
        return {"ansible.builtin.debug": {"msg": kind_of(step).title(step)}}
    if isinstance(step, (Download, FetchKeyring)):
        digest = step.sha256 if isinstance(step, Download) else ()
        known = {"checksum": f"sha256:{digest[0]}"} if len(digest) == 1 else {}
        where = {"url": step.url, "dest": f"{_DIR}/{step.to}", "mode": "0644"}
        return {"ansible.builtin.get_url": where | known, "become": True}
    if isinstance(step, Extract) and not step.renames:
        unpack: Task = {"src": f"{_DIR}/{step.archive}", "dest": f"{_DIR}/{step.to}".rstrip("/"), "remote_src": True}
        return {"ansible.builtin.unarchive": unpack, "become": True}
    if isinstance(step, WriteFile):
        text = "".join(f"{line}\n" for line in step.lines)
        return {"ansible.builtin.copy": {"dest": step.path, "content": text, "mode": "0644"}}
    if isinstance(step, EditText):
        return _edited(step)
    if isinstance(step, (Command, Prove)):
        return _command(step, target)
    return _typed(step, target)


def _edited(step: EditText) -> Task:
    if step.lines:
        loop = {"loop": list(step.lines)}
        return {"ansible.builtin.lineinfile": {"path": step.path, "line": "{{ item }}", "create": True}} | loop
    where = {"path": step.path, "section": step.section, "option": "{{ item.key }}", "value": "{{ item.value }}"}
    return {"community.general.ini_file": where, "loop": [{"key": key, "value": value} for key, value in step.settings]}


def _command(step: Command | Prove, target: Target) -> Task | None:
    argv, staged = step.argv, step.staged if isinstance(step, Command) else ()
    if isinstance(step, Command) and (step.rehearses or step.place):
        return {"ansible.builtin.debug": {"msg": list(step_lines(step, target))}} if step.place else None
    for manager, words in INSTALL.items():
        if argv[: len(words)] == words and not staged and not (isinstance(step, Command) and step.unless):
            names = [one.replace("$(uname -r)", "{{ ansible_facts.kernel }}") for one in argv[len(words) :]]
            return {_MODULES[manager]: {"name": names, "state": "present"}}
    if argv == ("apt-get", "update"):
        return {"ansible.builtin.apt": {"update_cache": True}}
    if argv[:2] == ("dpkg", "-i") and staged:
        return {"ansible.builtin.apt": {"deb": f"{_DIR}/{staged[0]}"}}
    if argv[1:3] == _ADD_REPO:
        dest = f"/etc/yum.repos.d/{argv[3].rpartition('/')[2]}"
        return {"ansible.builtin.get_url": {"url": argv[3], "dest": dest, "mode": "0644"}}
    if isinstance(step, Command) and step.unless:
        return _typed(step, target)
    given = [f"{_DIR}/{one}" if one in staged else one for one in argv]
    proof = {"changed_when": False} if isinstance(step, Prove) else {}
    return {"ansible.builtin.command": {"argv": given, "chdir": _DIR}} | proof


def _typed(step: Step, target: Target) -> Task | None:
    lines = [line for line in step_lines(step, target) if not line.startswith("#")]
    text = "\n".join(("set -e", *lines))
    where = {"cmd": text, "chdir": _DIR, "executable": "/bin/bash"}
    return {"ansible.builtin.shell": where} if lines else None
