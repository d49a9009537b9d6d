"""What is private by its form: UUIDs, addresses, names of hosts in their place, credentials.

A version such as 10.3.2.106 has the form of an IPv4 address, so an address counts only where one belongs: behind "//",
"@" or a word that says so, before a port, or in a network that is no version's (192.168, 172.16 to 172.31). A checksum
has the form of a key, so long hexadecimal digits stay where the line says what they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from compat.base.paths import text_beside
from doctor.output.private_commands import HIDDEN

KEPT_NAMES = frozenset({"root", "user", "users", "public", "default", "shared", "all users"})
# An account or a host may be called like a part of the stack or of every path; such a word goes as a home only.
STACK_WORDS = frozenset(text_beside(__file__, "stack_words.txt").splitlines())
_UNQUOTED = r"[^\s\"'`,;)\]}<>]"
_WORD = rf"(?:\"[^\"\n]*\"|'[^'\n]*'|{_UNQUOTED}+)"  # of a command line
_SECRET = re.compile(
    r"TOKEN(?!IZ|_TYPE|_IDS?(?![A-Za-z]))|SECRET|PASSW|PASSPHRASE|PASSCODE|_PASS(?![A-Za-z])|[_-]PWD|CREDENTIAL|[_-]KEY(?!_VALUE|_PADDING)|PRIVATE|AUTHORIZATION"
    r"|(?:API|ACCESS|ACCOUNT)[_-]?KEY|_AUTH(?![A-Za-z])|COMMUNITY|_PAT(?![A-Za-z])|_DSN(?![A-Za-z])|WEBHOOK|_SALT"
    r"|CONN(?:ECTION)?[_-]?STR|_COOKIE|PRE_?SHARED|(?<![A-Za-z])PSK(?![A-Za-z])",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"(?<![A-Za-z0-9_.-])([A-Za-z0-9_.-]+)(?:\\*[\"'])?\]?\s*(?:=>|:=|[=:])\s*(?:b?\\*[\"'])?(?={_UNQUOTED})"
)
_VALUE = re.compile(rf"{_UNQUOTED}+")
_MANY = re.compile(r"\[[^\[\]]{0,2000}\]|\{[^{}]{0,2000}\}|(?:- [^\n]{1,500}\n?[ \t]{0,40}){1,100}")
_COUNT = re.compile(r"\d{1,7}(?![\w.-])")
_OPTION = re.compile(
    r"--?(?:[a-z0-9]+[_-])*(?:pass|passwd|password|passphrase|pwd|token|secret|apikey|key|credentials?)", re.IGNORECASE
)
_VERSION = re.compile(r"v?\d+(?:\.\d+)*[.,;:)]?")
_CHECKSUM = re.compile(
    r"sha-?\d|md5|digest|checksum|commit|git|hash|build|revision|fingerprint|[\W_]id\b", re.IGNORECASE
)
_HEXADECIMAL = re.compile(r"(?:sha\d+:)?[0-9a-fA-F]{32,128}")
_CONTEXT_CHARS = 200
_DISORDER = 0.42  # of random base64: 0.64; of names in code, kernels and wheels at most 0.35
_SETTINGS = frozenset({"yes", "no", "true", "false", "on", "off", "none", "null", "self", "absl"})
_SYSTEM_NAMES = KEPT_NAMES | {"video", "render", "nobody", "nogroup", "wheel", "staff", "daemon", "bin", "sys", "adm"}
_PAIR_NAME = r"[\"']?\b(?:name|key|variable)[\"']?\s{0,8}[:=]\s{0,8}[\"']?(?P<name>[\w.-]{1,80})"
_LOCAL = frozenset({"localhost", "localhost.localdomain", "ip6-localhost"})
_BRANCHES = frozenset({"main", "master", "develop", "latest", "stable", "nightly", "head", "HEAD"})
_QUAD = r"(?:\d{1,3}\.){3}\d{1,3}"
_IS = r"[\"']?\s*[:=]\s*[\"']?"
_SCHEMES = r"(?:https?|ssh|git|ftp|ldaps?|postgres(?:ql)?|mysql|redis|amqp|nfs|smb|tcp|grpc|mongodb|s3)"
_COLONS = r"[0-9A-Fa-f:]"
_KEY_ATTRIBUTE = re.compile(r"\s(?:name|key|id|property)\s?=\s?[\"']([^\"']{1,100})")
_VALUE_ATTRIBUTE = re.compile(r"(\svalue\s?=\s?[\"'])[^\"']+")


def is_secret(name: str) -> bool:
    """Whether the name of a variable or an option says that its value is secret."""
    return _SECRET.search(name) is not None or (name.isupper() and "KEY" in name)


def is_secret_option(word: str) -> bool:
    """Return whether the next word of a command line is secret: --password X, --api-key X, -token X."""
    return _OPTION.fullmatch(word) is not None


def is_checksum(name: str, value: str) -> bool:
    """Return whether a field holds a checksum, which has the form of a secret."""
    return _CHECKSUM.search(name) is not None and _HEXADECIMAL.fullmatch(value) is not None


def without_secrets(text: str) -> str:
    """Values go whose names say that they are secret; what is in a value may be another name."""
    found, done = [], 0
    for match in _NAMED.finditer(text):
        if match.start() >= done and is_secret(match[1]) and not _is_count(text, match):
            found += [text[done : match.end()], HIDDEN]
            done = _end_of_value(text, match)
    return "".join((*found, text[done:]))


def _is_count(text: str, named: re.Match[str]) -> bool:
    """Return whether this says how many: max_new_tokens=128."""
    return named[1].lower().endswith("_tokens") and _COUNT.match(text, named.end()) is not None


def _end_of_value(text: str, named: re.Match[str]) -> int:
    """Where the value ends that begins behind the name."""
    many = _MANY.match(text, named.end())  # a list, a mapping
    if many:
        return many.end()
    quote = named[0][-1]
    closing = text.find(quote, named.end()) if quote in "\"'" else -1
    while closing > 0 and text[closing - 1] == "\\" and named[0][-2:-1] != "\\" and text[closing - 2] != "\\":
        closing = text.find(quote, closing + 1)  # "a\"b"
    if closing >= 0 and "\n" not in text[named.end() : closing]:
        is_escaped = named[0][-2:-1] == text[closing - 1] == "\\"  # in a quotation
        return closing - is_escaped
    value = _VALUE.search(text, named.end())  # which begins there: `_NAMED` looks ahead
    return value.end() if value else named.end()


def _after_name(match: re.Match[str]) -> str:
    """The value behind a name and a blank: "DB_PASSWORD hunter2", and "password hunter2", not "password was wrong"."""
    name, value = match[2], match[3]
    if "PRIVATE KEY" in match[0] or value[0] in "=:<" or _VERSION.fullmatch(value):
        return match[0]
    is_word = value.strip(".,;:!?)\"'").isalpha() or not any(one.isdigit() for one in value)
    return match[0] if is_word and not (name.isupper() and len(name) > 3) else f"{match[1]}{HIDDEN}"


def _random(match: re.Match[str]) -> str:
    """Base64 that no person wrote: letters of both cases and digits follow each other without order."""
    word = match[0]
    if word.startswith("_Z") or word.isupper() or word.islower() or not any(one.isdigit() for one in word):
        return word  # a name of C++, a constant, a path
    kinds = ["u" if one.isupper() else "l" if one.islower() else "d" if one.isdigit() else "" for one in word]
    pairs = [(kinds[at - 1], one) for at, one in enumerate(kinds) if at and one and kinds[at - 1]]
    changes = sum(one != two for one, two in pairs)
    return HIDDEN if changes > _DISORDER * len(pairs) else word


def _hexadecimal(match: re.Match[str]) -> str:
    """A long number, unless the line says that it is a checksum, a commit or a build."""
    text, word = match.string, match[0]
    if word.isdigit() or word.isalpha() or text[match.end() : match.end() + 3].startswith(("  ", " *")):
        return word  # the output of sha256sum, too
    line = text[max(text.rfind("\n", 0, match.start()) + 1, match.start() - _CONTEXT_CHARS) : match.start()]
    return word if _CHECKSUM.search(line) else HIDDEN


def _named_address(match: re.Match[str]) -> str:
    """An IPv4 address where a word says so; what every machine has (127.0.0.1, 0.0.0.0) tells nothing."""
    return match[0] if match[2].startswith(("127.", "0.", "255.")) else f"{match[1]}<address>"


def _named_user(match: re.Match[str]) -> str:
    """The value of USER, SLURM_JOB_USER, LOGNAME; yes and true are none."""
    return match[0] if match[2].lower() in KEPT_NAMES | _SETTINGS else f"{match[1]}<user>"


def _named_host(match: re.Match[str]) -> str:
    return match[0] if match[2].lower() in _LOCAL else f"{match[1]}<host>"


def _account(match: re.Match[str]) -> str:
    """alice@box17, and no unit of systemd."""
    if match[2].endswith((".service", ".socket", ".slice", ".timer", ".mount", ".target")):
        return match[0]
    user = match[1] if match[1] in KEPT_NAMES else "<user>"
    return match[0] if match[2] in _BRANCHES else f"{user}@{match[2] if match[2] in _LOCAL else '<host>'}"


def _element(match: re.Match[str]) -> str:
    """An element of XML whose name, or whose key, says that its text is secret."""
    key = _KEY_ATTRIBUTE.search(match[2])
    names_secret = is_secret(match[1]) or (key is not None and is_secret(key[1]))
    return f"<{match[1]}{match[2]}>{HIDDEN}" if names_secret else match[0]


def _attributes(match: re.Match[str]) -> str:
    """A tag of XML: <add key="ApiKey" value="x"/>, in either order."""
    key = _KEY_ATTRIBUTE.search(match[0])
    if key is None or not is_secret(key[1]):
        return match[0]
    return _VALUE_ATTRIBUTE.sub(rf"\1{HIDDEN}", match[0])


def _internal(match: re.Match[str]) -> str:
    """A host by a name of an internal network; torch.internal is a module."""
    return match[0] if match[0].partition(".")[0].lower() in STACK_WORDS | _SETTINGS else "<host>"


def _if_secret(match: re.Match[str]) -> str:
    """A value behind its name, where the name's group is called so; what may follow is `end`."""
    if not is_secret(match["name"]):
        return match[0]
    return f"{match['start']}{HIDDEN}{match.groupdict().get('end') or ''}"


def _block(match: re.Match[str]) -> str:
    """A value of YAML on the lines below its name."""
    return f"{match[1]}{match[2]}{HIDDEN}" if is_secret(match[1]) else match[0]


def _digits_in_host(match: re.Match[str]) -> str:
    """A host behind a word of a sentence: gpu07, not a word."""
    return _named_host(match) if any(one.isdigit() for one in match[2]) else match[0]


def _owners(match: re.Match[str]) -> str:
    """The account and the group of a line of `ls -l`."""
    return match[1] + " ".join(one if one in _SYSTEM_NAMES else "<user>" for one in (match[2], match[3]))


def _set_by_blank(match: re.Match[str]) -> str:
    """A line that sets a variable without "=": Docker's ENV, csh's setenv, setx, fish's set."""
    return f"{match[1]}{HIDDEN}" if is_secret(match[2]) else match[0]


def _address(match: re.Match[str]) -> str:
    """An IPv6 address, or hexadecimal digits in four groups and more; not a time, a place on PCI or a name of C++."""
    text, end = (match[1][:-1], ":") if re.search(r"[^:]:$", match[1]) else (match[1], "")
    groups = text.split(":")
    named = [one for one in groups if one]
    if max(map(len, named), default=0) > 4 or len(groups) > 21 or ":::" in text:
        return match[0]
    is_short = "::" in text and (len(named) > 2 or re.match(r"(fe80|f[cd]..|[23]...)::", text, re.IGNORECASE))
    return f"<address>{end}" if is_short or (len(groups) > 3 and "" not in groups) else match[0]


def _share(match: re.Match[str]) -> str:
    """The server of a Windows share, with slashes of either kind; //usr/lib is a path."""
    return match[0] if match[2].lower() in STACK_WORDS else f"{match[1]}<host>"


# What the text must hold, which is asked first: most texts have none of it. No pattern may be tried from every letter
# of a long word: an image says how long its words are.
FORMS: tuple[tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    ("-", re.compile(r"\b(GPU|MIG|GPU-|MIG-GPU)-[0-9a-fA-F]{4,8}(-[0-9a-fA-F]{2,12})*(/\d+)*"), r"\1-<uuid>"),
    ("-", re.compile(r"\b[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "<uuid>"),
    ("://", re.compile(r"://[^\s/\"'<>]+@"), "://<credentials>@"),
    ("://", re.compile(r"://[^\s/\"'<>:@]*:(?!\d{1,5}[/?#])[^\s\"'<>@]{1,400}@"), "://<credentials>@"),
    ("--", re.compile(rf"((?<![\w-])--[a-z_-]{{0,40}}?(?:passw(?:or)?d|phrase|token|secret|[_-]key) +)(?!-){_WORD}"),
     r"\1<secret>"),
    ("-", re.compile(r"((?<![\w-])(?:-u|--user|--proxy-user)[ =]+[\"']?(?!\d+:)[^\s:/\"']+:)[^\s\"']+"), r"\1<secret>"),
    ("%", re.compile(r"(\b(?:user(?:name)?=|-U ?[\"']?)(?!\d)[^\s,%\"']{1,64}%)[^\s,\"']+"), r"\1<secret>"),
    ("use ", re.compile(rf"(?i)(\bnet use (?:[A-Z*]: )?\\\\\S{{1,200}} (?:/\S{{1,100}} ){{0,4}})(?![/*]){_WORD}"),
     r"\1<secret>"),
    ("|", re.compile(
        rf"(\b(?:echo|printf) (?:-\w+ )?(?:[\"']?%s(?:\\n)?[\"']? )?){_WORD}"
        r"(?= ?\|[^\n|]{0,200}?(?:--password-stdin|sudo -S|chpasswd|--stdin|cryptsetup|kinit|passphrase-fd|with-token)"
        r")"),
     r"\1<secret>"),
    ("<<<", re.compile(
        r"((?:--password-stdin|sudo -S|--stdin|cryptsetup|kinit|passphrase-fd|with-token)[^\n<]{0,200}<<< ?)"
        rf"{_WORD}"),
     r"\1<secret>"),
    (" ", re.compile(
        r"(\b(?:rabbitmqctl (?:add_user|change_password|authenticate_user) \S{1,80} |wpa_passphrase \S{1,80} "
        r"|poetry config (?:http-basic\.\S{1,80} \S{1,80}|pypi-token\.\S{1,80}) |(?:wandb|vault) login (?=\S*\d)))"
        rf"(?!-){_WORD}"), r"\1<secret>"),
    ("-", re.compile(r"(--(?:src-|dest-)?creds[= ][^\s:]{1,80}:)\S+"), r"\1<secret>"),
    ("auth", re.compile(r"(\\?\"auth\\?\"\s{0,8}:\s{0,8}\\?\")[\w+/=-]{8,}"), r"\1<secret>"),  # config.json of Docker
    ("ass", re.compile(
        r"(?i)(\bpass(?:word|phrase)?(?: for \S{1,80}?)?(?: is| was| ->|:) )(?=\S*\d)(?!\d+[.,;)]?(?:\s|$))[^\s<\"']+"),
     r"\1<secret>"),
    ("-literal", re.compile(rf"(--from-literal[= ][^\s=]{{1,80}}=){_WORD}"), r"\1<secret>"),
    ("psk", re.compile(rf"(\bpsk +){_WORD}"), r"\1<secret>"),
    ("value", re.compile(
        rf"(?P<start>{_PAIR_NAME}[\"']?[\s,]{{1,40}}[\"']?value[\"']?\s{{0,8}}[:=]\s{{0,8}}[\"']?)[^\"'\n,}}]{{1,400}}"),
     _if_secret),
    ("value", re.compile(
        rf"(?P<start>\bvalue[\"']?\s{{0,8}}[:=]\s{{0,8}}[\"']?)[^\"'\n,}}]{{1,400}}(?P<end>[\"']?[\s,]{{1,40}}{_PAIR_NAME})"),
     _if_secret),
    ("(", re.compile(r"(?P<start>\([\"'](?P<name>[\w.-]{1,80})[\"'], ?b?[\"'])[^\"'\n]{1,400}"), _if_secret),
    ("CDATA", re.compile(r"(?P<start><(?P<name>[\w:.-]{1,80})[^<>]{0,200}><!\[CDATA\[)[^\]]{1,2000}"), _if_secret),
    ("<value", re.compile(
        r"(?P<start>\b(?:name|key)=[\"'](?P<name>[^\"'<>]{1,80})[\"'][^<>]{0,100}>\s{0,20}<value>)[^<]{1,1000}"),
     _if_secret),
    ("</", re.compile(
        r"(?P<start><(?:name|key)>(?P<name>[^<>]{1,80})</(?:name|key)>\s{0,20}<(?:value|string)>)[^<]{1,1000}"),
     _if_secret),
    ("\n", re.compile(
        r"(?<![\w.-])([\w.-]{1,80})(:[ \t]{0,8}[|>][+-]?[ \t]{0,8}\n[ \t]{1,80})"
        r"(?:[^\n]{0,1000}\n[ \t]{1,80}){0,100}[^\n]{1,1000}"), _block),
    ("$", re.compile(r"\$(?:1|2[abxy]|5|6|y|apr1|argon2[a-z]{1,2})\$[\w./$=,+]{8,}"), HIDDEN),
    ("hooks", re.compile(r"(\bhooks\.slack\.com/(?:services|workflows)/|\bapi/webhooks/\d{1,20}/)[\w/-]+"),
     r"\1<secret>"),
    (":AA", re.compile(r"(?<!\d)\d{6,12}:AA[\w-]{28,}"), HIDDEN),  # a bot of Telegram
    ("%3", re.compile(
        r"((?:token|secret|passw(?:or)?d|key|sig|signature)%3D)[^&\s\"']+", re.IGNORECASE), r"\1<secret>"),
    ("pul-", re.compile(r"\bpul-[0-9a-f]{40}\b"), HIDDEN),  # Pulumi
    ("arpa", re.compile(r"\b(?:\d{1,3}\.){4}in-addr\.arpa"), "<address>"),
    (":", re.compile(r"(\barn:aws[\w-]{0,10}:[\w-]{0,40}:[\w-]{0,40}:)\d{12}(?=:)"), r"\1<account>"),
    ("arn:", re.compile(r"(\barn:aws[\w:-]{0,90}(?:<account>)?:(?:user|assumed-role/[\w-]{1,64})/)[\w.@+=-]+"),
     r"\1<user>"),
    (".dkr.", re.compile(r"(?<!\d)\d{12}(?=\.dkr\.ecr\.)"), "<account>"),
    ("[", re.compile(r"(?<![\w.:/-])()([A-Za-z][\w.-]{0,62})(?=:\d{2,8}:\d{2,8} \[\d)"), _named_host),  # NCCL
    ("Linux ", re.compile(r"(\bLinux )([A-Za-z][\w.-]{0,62})(?= \d+\.\d+\.\d+\S{0,60} #\d)"), _named_host),  # uname -a
    (" ***", re.compile(r"(\[)([A-Za-z][\w.-]{0,62})(?=:\d{2,8}\] \*\*\*)"), _named_host),  # Open MPI
    ("srun: ", re.compile(r"(\bsrun: error: )([A-Za-z][\w.-]{0,62})(?=: )"), _named_host),
    (" -", re.compile(r"(\b(?:srun|sbatch|salloc) [^\n]{0,200}?(?:-w|--nodelist)[ =])([A-Za-z][\w.,\[\]-]{0,253})"),
     _named_host),
    ("]:", re.compile(r"(\[)([A-Za-z][\w.-]{0,62})(?=\]:\d{2,5}\b)"), _named_host),
    ("Node: ", re.compile(r"(\bNode: +)([A-Za-z][\w.-]{0,62}/(?:\d{1,3}\.){3}\d{1,3})"), _named_host),
    ("instance=", re.compile(r"(\binstance=\"?)([A-Za-z][\w.-]{0,62})(?=:\d{2,5}\b)"), _named_host),
    ("mc ", re.compile(r"(\bmc alias set \S{1,80} \S{1,200} \S{1,80} )\S+"), r"\1<secret>"),
    ("--", re.compile(r"(--(?:master[_-]addr|rdzv[_-]endpoint|head[_-]node)[= ]+)([A-Za-z][\w.-]{0,253})"),
     _named_host),
    (" ", re.compile(r"(\b(?:ssh|scp|ping|mpirun -H|-H) )([A-Za-z][\w:,.-]{0,253})(?![\w:,.@-])"), _digits_in_host),
    ("host", re.compile(
        r"(\bhost(?:name)? )([A-Za-z][\w.-]{0,253})(?= port \d|: (?:Name|Temporary|nodename|No address|Unknown))"),
     _named_host),
    (" ", re.compile(
        r"(\b(?:for|user) (?:invalid user |user )?)([A-Za-z_][\w.-]{0,63})(?= from \S{1,80} port|\(uid=| from [\d<])"),
     _named_user),
    ("sudo: ", re.compile(r"(\bsudo: {1,8})([A-Za-z_][\w.-]{0,63})(?= : )"), _named_user),
    ("CRON[", re.compile(r"(\bCRON\[\d{1,10}\]: \()([A-Za-z_][\w.-]{0,63})(?=\))"), _named_user),
    ("serId=", re.compile(r"(\bUserId=)([A-Za-z_][\w.-]{0,63})(?=\()"), _named_user),
    ("ser", re.compile(r"((?<![\w-])[Uu]ser(?:name)?=)([A-Za-z_][\w.-]{0,63})"), _named_user),
    ("r", re.compile(r"((?<![\w-])[-dlcbsp][rwxsStT-]{9}[.+@]? {1,8}\d{1,8} )([\w.-]{1,64}) {1,64}([\w.-]{1,64})(?= )"),
     _owners),
    ("<<<", re.compile(r"(\bchpasswd ?<<< ?[\"']?[^\s:]{1,64}:)[^\s\"']+"), r"\1<secret>"),
    ("set ", re.compile(
        rf"(?i)(\bconfig(?:ure)? set [\w.]{{0,60}}(?:secret|token|password|key)[\w.]{{0,40}} ){_WORD}"),
     r"\1<secret>"),
    ("/", re.compile(r"((?:\bjdbc:oracle:\w+:|\bsqlplus (?:-\w+ ){0,4})[^\s/@\"']{1,64}/)[^\s@\"']+"), r"\1<secret>"),
    ("login", re.compile(r"(\blogin\s+\S+\s+password\s+)\S+"), r"\1<secret>"),  # .netrc
    ("ookie", re.compile(r"(\b(?:set-)?cookie[\"']?\s*[:=]\s*[\"']?)[^\n\"']+", re.IGNORECASE), r"\1<secret>"),
    (" ", re.compile(r"(?m)(\b(?:ENV|setenv|setx|set -\w+) +([A-Za-z0-9_]+) +)[^=\s][^\n]*"), _set_by_blank),
    ("PASS=", re.compile(rf"(\b(?!BYPASS|COMPASS)[A-Z]*PASS=){_WORD}"), r"\1<secret>"),
    (";", re.compile(r"(;\s?pwd\s?=\s?)[^;\s\"']+", re.IGNORECASE), r"\1<secret>"),  # a connection string
    ("</", re.compile(r"(<(?:password|passwd|token|secret|api-?key)>)[^<\n]+", re.IGNORECASE), r"\1<secret>"),
    ("</", re.compile(r"<([A-Za-z][\w:.-]{0,80})((?:\s[^<>]{0,200})?)>([^<]{1,2000})(?=</)"), _element),
    ("value", re.compile(r"<[A-Za-z][\w:.-]{0,80}\s[^<>]{1,400}>?"), _attributes),
    ("PRIVATE KEY", re.compile(r"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[^-]+"), r"\1<secret>"),
    ("assword ", re.compile(r"(?m)(^[ \t]*password +)\S+[ \t]*$", re.IGNORECASE), r"\1<secret>"),  # a line of .netrc
    ("", re.compile(
        r"((?<![\w.<-])((?:\w{0,40}_)?(?:pass(?:word|wd|phrase|code)?|token|secret|community|(?:api|access|private)_?key"
        r"|credentials?|pwd|pat|dsn)(?:_\w{1,20})?)[ \t]{1,8})(?![ \t-])([^\s\"'`,;)\]}]{3,})", re.IGNORECASE),
     _after_name),
    ("-", re.compile(
        r"\b(?:nvapi-|sk-[a-z]+-|xapp-|hvs\.|hvb\.|glsa_|gl[a-z]{2,4}-|dckr_pat_|dop_v1_|tskey-[a-z]+-|PMAK-|NRAK-|xai-"
        r"|pplx-|ATATT3|AGE-SECRET-KEY-)[\w.=-]{10,}"), HIDDEN),
    ("_", re.compile(
        r"\b(?:[srp]k_(?:live|test)_|whsec_|glsa_|dckr_pat_|dop_v1_|api_org_|gsk_|r8_|sbp_|shp[a-z]{2}_|figd_|tgp_v1_|rubygems_"
        r"|lin_api_|ntn_|sntry[a-z]_)[\w=-]{10,}"), HIDDEN),
    ("AIza", re.compile(r"\bAIza[\w-]{30,}"), HIDDEN),  # Google
    ("ya29.", re.compile(r"\bya29\.[\w.-]{10,}"), HIDDEN),
    ("hv", re.compile(r"\bhv[sbr]\.[\w-]{16,}"), HIDDEN),  # HashiCorp's Vault
    ("SG.", re.compile(r"\bSG\.[\w-]{16,}\.[\w-]{16,}"), HIDDEN),
    ("dapi", re.compile(r"\bdapi[0-9a-f]{32}"), HIDDEN),
    ("S-1-5-", re.compile(r"\bS-1-5-21(-\d{1,10}){3,5}\b"), "<sid>"),
    ("-", re.compile(r"(?<![\w-])([0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}(?![\w-])"), "<address>"),  # MAC of Windows
    (".", re.compile(r"(?<![\w.])([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}(?![\w.])"), "<address>"),  # MAC of Cisco
    ("uid", re.compile(rf"(\b\w{{0,20}}guid{_IS})(?:0x)?[0-9a-f:]{{12,40}}", re.IGNORECASE), r"\1<serial>"),
    ("", re.compile(
        r"((?:\b|_)(?:serial(?:[ _]?(?:number|no\.?|num))?|asset[ _]?tag|service[ _]?tag|s/n|machine[ _-]?id"
        rf"|boot[ _]?id)(?:{_IS}|[ \t]+[:=][ \t]*))(?!N/A|\[N/A|Not |None|To |Default|System|Chassis|<)[\w.-]{{3,64}}",
        re.IGNORECASE), r"\1<serial>"),
    ("serial>", re.compile(r"(<\w{0,20}serial>)(?!N/A)[^<\n]{1,64}"), r"\1<serial>"),
    (" ", re.compile(r"(\bauthorization[\"']?\s*[:=]\s*[\"']?[a-z]+ +)[^\s\"']+", re.IGNORECASE), r"\1<secret>"),
    (" ", re.compile(r"(\bBearer +)[\w.~+/=-]{16,}", re.IGNORECASE), r"\1<secret>"),
    ("=", re.compile(
        r"([?&](?:sig|pass|pwd|auth|code|[a-z_-]*(?:signature|credential|token|passw(?:or)?d|secret|key))=)[^&\s\"']+",
        re.IGNORECASE), r"\1<secret>"),
    ("eyJ", re.compile(r"\beyJ[\w-]{6,}\.[\w-]+(\.[\w-]*)?"), "<secret>"),  # a JSON web token
    ("_", re.compile(r"\b(hf_|gh[pousr]_|npm_|github_pat_[A-Za-z0-9]*_?)[A-Za-z0-9]{16,}"), "<secret>"),
    ("-", re.compile(r"\b(glpat-|xox[abprs]-|pypi-AgE)[\w-]{10,}|\bsk-(proj-|ant-)?[A-Za-z0-9]{20,}"), "<secret>"),
    ("A", re.compile(r"\b(AKIA|ASIA)[0-9A-Z]{16}\b"), "<secret>"),  # an access key of AWS
    ("/t/", re.compile(r"(://[^\s/\"']{1,250}/t/)[\w-]{4,}"), r"\1<secret>"),  # of a conda channel
    ("@", re.compile(
        r"(?<![\w.+-])[\w.+-]+@[\w-]+(\.[\w-]+)*\.(?!(?:service|socket|slice|timer|mount|target)\b)[A-Za-z]{2,}\b"),
     "<address>"),
    (".", re.compile(r"(?:(?<=//)(?!127\.)|(?<=@))(\d{1,3}\.){3}\d{1,3}(?![\d.])"), "<address>"),
    (".", re.compile(r"(?<![\w.])(?!127\.|0\.0\.)(\d{1,3}\.){3}\d{1,3}(?=:\d{2,5}\b|<\d{1,5}>)"), "<address>"),
    (".", re.compile(r"(?<![\w.])(192\.168|172\.(1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}(?![\d.])"), "<address>"),
    ("::", re.compile(r"(?<![\w:.])::ffff:(\d{1,3}\.){3}\d{1,3}(?![\d.])", re.IGNORECASE), "<address>"),
    (":", re.compile(rf"(?<![\w:.])({_COLONS}{{1,8}}:{_COLONS}+)(?![\w:])"), _address),
    ("\\\\", re.compile(r"(?<![\w:\\])(\\{2,4}(?:\?\\UNC\\)?)([A-Za-z0-9][\w.-]*)(?=\\)"), _share),
    ("//", re.compile(r"(?<![\w:/])(//)([A-Za-z0-9][\w.-]*)(?=/)"), _share),
    ("\\", re.compile(r"([A-Z]:\\Users\\)(?!public\\|default\\|all users\\)[^\\/:;\"'\n]+(?=\\)", re.IGNORECASE),
     r"\1<user>"),
    ("\\home\\", re.compile(r"(\\home\\{1,2})[^\\/:;\"'\s]+(?=\\)"), r"\1<user>"),  # of WSL, from Windows
    ("~", re.compile(r"(?<![^\s\"'(=:])(~)([A-Za-z_][\w.-]{0,63})(?=/)"), _named_user),
    ("id=", re.compile(r"(\b[ug]id=\d{1,10}\()([A-Za-z_][\w.-]{0,63})(?=\))"), _named_user),
    ("@", re.compile(
        r"(?<![^\s\"'(=\[,>])([A-Za-z_][\w.-]{0,31})@([A-Za-z][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,62}){0,6})"
        r"(?=$|[\s:\"')\],~#$/])"), _account),
    (".", re.compile(
        r"(?<![\w./@-])(?:[A-Za-z0-9-]{1,63}\.){1,6}(?:local|lan|internal|intern|intranet|corp|home|localdomain|private"
        r"|lab|cluster|home\.arpa)(?![\w./-]*[\w-])", re.IGNORECASE), _internal),
    (".", re.compile(
        r"(?<=[/@=])(?:[A-Za-z0-9-]{1,63}\.){1,6}(?:local|lan|internal|intern|intranet|corp|home|localdomain|private"
        r"|lab|cluster|home\.arpa)(?=$|[:/\s\"',;)])", re.IGNORECASE), _internal),
    ("://", re.compile(rf"(\b{_SCHEMES}://(?:<credentials>@)?)([A-Za-z0-9-]{{1,63}})(?=[:/\s\"']|$)"), _named_host),
    (":", re.compile(
        r"((?<!\w)[A-Z][a-z]{2} [ \d]\d (?:\d\d:){2}\d\d |(?<!\w)\d{4}-\d\d-\d\dT[\d:.,]{8,20}(?:Z|[+-]\d\d:?\d\d) )"
        r"(\S{1,253})(?= [\w./()-]{1,80}(?:\[\d+\])?:)"), _named_host),  # syslog
    ("", re.compile(
        r"((?<![A-Za-z0-9_])(?:[A-Z0-9]+_)*(?:USER|LOGNAME|USERNAME|ACCOUNT)[\"']?\s?[=:]\s?[\"']?)"
        r"([A-Za-z_][\w.\\@-]{0,63})"), _named_user),
    ("", re.compile(
        r"((?<![A-Za-z0-9_])(?:[A-Z0-9]+_)*(?:HOST|HOSTNAME|NODENAME|NODELIST|COMPUTERNAME|MASTER_ADDR|NODE_LIST|NodeList|NodeName|BatchHost"
        r"|[Hh]ost[Nn]ame)"
        r"[\"']?\s?[=:]"
        r"\s?[\"']?)([A-Za-z][\w.,\[\]-]{0,253})"), _named_host),
    (".", re.compile(
        r"((?<![A-Za-z0-9_])(?:ip|ipv4|hosts?|addr|address|addresses|inet|peer|server|node|via|src|dst|gateway|gw|client"
        r"|remote|nameserver|route|ping|ssh|(?:connect(?:ed|ing|ion)?|listen(?:ing)?|bind|bound) (?:to|from|on|at)"
        rf"|[A-Z_]*(?:ADDR|HOST|IP|NODE|PEER|SERVER|CLIENT))(?:[\"']?\s?[=:]\s?[\"']?|\s\(?))({_QUAD})(?![\d.]*\d)",
        re.IGNORECASE), _named_address),
    (" port ", re.compile(rf"(?<![\w.])()({_QUAD})(?= port \d)"), _named_address),
    ("/", re.compile(r"(?<![\w.])()((?:\d{1,3}\.){3}\d{1,3})(?=/\d{1,2}(?![\d.\w]))"), _named_address),
    ("", re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{32,}={0,2}(?![A-Za-z0-9])"), _random),
    ("", re.compile(r"(?<![\w-])[0-9a-fA-F]{32,}(?![\w-])"), _hexadecimal),
)  # fmt: skip
