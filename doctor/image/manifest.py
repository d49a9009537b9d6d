"""Which image of a file is meant, and which layers it has: indexes, manifests, and what `docker save` writes.

Sources: the OCI image specification (index, manifest, image layout); Docker's "Image Manifest V 2, Schema 2" and its
image specification v1.2 (manifest.json); BuildKit's attestation storage.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from typing import Any

from compat.base.record import NamedTuple
from doctor.image import Damaged, ImageError
from doctor.image.config import Config, parse_config, read_json
from doctor.image.store import Store

_NESTED_AT_MOST = 8  # indexes in one another
_MANIFESTS_AT_MOST = 1000
_LAYERS_AT_MOST = 512  # the storage drivers of containers have 127 to 500
_LISTED_AT_MOST = 20
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "AMD64": "amd64", "arm64": "arm64", "ppc64le": "ppc64le"}
_VARIANTS = {"arm": "v7", "arm64": "v8"}  # that a name without one stands for; v1 for all others
_NAMES = ("org.opencontainers.image.ref.name", "io.containerd.image.name")
_MEDIA_AT_MOST = 100
_LAYER = re.compile(r"\.tar(?:[.+](?:gzip|zstd|xz))?(?:;|$)")
_CONFIG = re.compile(r"image\.config\.|container\.image\.|^application/(?:octet-stream|json)(?:;|$)|^$")
_ATTESTATION = "vnd.docker.reference.type"


class Blob(NamedTuple):
    """A layer of an image."""

    name: str  # in its store
    digest: str  # "" where the file has none
    size_bytes: int | None


class Chosen(NamedTuple):
    """An image of a file."""

    names: tuple[str, ...]
    digest: str  # of its manifest, "" where the file has none
    config: Config
    layers: tuple[Blob, ...]


class _Candidate(NamedTuple):
    """An image that may be meant."""

    names: tuple[str, ...]
    platform: str  # "linux/amd64", "linux/arm/v7", "" where nothing says it
    digest: str
    manifest: dict[str, Any]
    is_oci: bool


def choose_image(store: Store, shown: str, name: str, wanted: str) -> Chosen:
    """The image of that name ("" for the only one) and platform ("" for this machine's); raises ImageError."""
    listed = [*_candidates(store)]
    found = [one for one in listed if not _other_media(one)]
    if listed and not found:
        raise ImageError(f"{shown} holds no container image (config media type {_other_media(listed[0])})")
    if not found:
        raise Damaged(f"{shown}: it holds no image")
    named = [one for one in found if not name or _is_named(one, name)]
    if not named:
        raise ImageError(f"{shown} holds no image {name}; it has {_listing(found)}")
    fitting = _of_platform(store, _each_once(named), shown, wanted)
    if len(fitting) > 1:
        raise ImageError(f"{shown} holds several images; name one, {shown}:NAME: {_listing(fitting)}")
    return _read(store, fitting[0])


def _candidates(store: Store) -> Iterator[_Candidate]:
    if store.has("index.json"):
        yield from _of_index(store, _object(store.small("index.json"), "index.json"), (), 0, [_MANIFESTS_AT_MOST])
        return
    if not store.has("manifest.json"):
        return
    said = read_json(store.small("manifest.json"), "manifest.json")
    if isinstance(said, dict) and "layers" in said:  # a directory of skopeo's
        yield _Candidate((), "", "", said, is_oci=True)
        return
    if isinstance(said, dict) and said.get("schemaVersion") == 1:
        raise ImageError(
            "manifest.json is of schema 1, which is not read: skopeo copy --format oci makes another of it"
        )
    if not isinstance(said, list):
        raise Damaged("manifest.json: it is not a list of images")
    for one in said[:_MANIFESTS_AT_MOST]:
        if not isinstance(one, dict):
            raise Damaged("manifest.json: it is not a list of images")
        tags = one.get("RepoTags")
        names = tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()
        yield _Candidate(names, "", str(one.get("Config", "")), one, is_oci=False)


def _of_index(
    store: Store, index: dict[str, Any], names: tuple[str, ...], depth: int, left: list[int]
) -> Iterator[_Candidate]:
    """The images of an index and of those in it; raises Damaged for one that holds itself, or thousands."""
    listed = index.get("manifests")
    if depth > _NESTED_AT_MOST or not isinstance(listed, list):
        raise Damaged("its indexes lead too deep" if depth else "index.json lists no manifests")
    for one in listed:
        left[0] -= 1
        if left[0] < 0:
            raise Damaged(f"its indexes list more than {_MANIFESTS_AT_MOST} manifests")
        if not isinstance(one, dict) or not isinstance(one.get("digest"), str):
            raise Damaged("an index lists something without a digest")
        notes = one.get("annotations")
        notes = notes if isinstance(notes, dict) else {}
        if _ATTESTATION in notes:
            continue
        own = tuple(notes[key] for key in _NAMES if isinstance(notes.get(key), str)) or names
        path = blob_path(store, one["digest"])
        if not store.has(path) and isinstance(one.get("platform"), dict) and len(listed) > 1:
            continue  # only one platform was saved
        said = _object(store.small(path, one["digest"]), one["digest"])
        if "manifests" in said:
            yield from _of_index(store, said, own, depth + 1, left)
        elif _platform(one.get("platform")) != "unknown/unknown":
            yield _Candidate(own, _platform(one.get("platform")), one["digest"], said, is_oci=True)


def _other_media(one: _Candidate) -> str:
    """The media type of a configuration that is no image's: of a Helm chart, a signature; "" for an image's."""
    said = one.manifest.get("config")
    media = said.get("mediaType") if isinstance(said, dict) else ""
    return "" if not isinstance(media, str) or _CONFIG.search(media) else repr(media[:_MEDIA_AT_MOST])


def blob_path(store: Store, digest: str) -> str:
    """The name of the blob with a digest; raises Damaged for what is no digest."""
    algorithm, _, encoded = digest.partition(":")
    if algorithm not in {"sha256", "sha512"} or not encoded.isalnum() or not encoded.isascii():
        raise Damaged(f"{digest[:80]!r} is no digest")
    return encoded if not store.has("index.json") and store.has("version") else f"blobs/{algorithm}/{encoded}"


def _platform(said: Any) -> str:
    if not isinstance(said, dict):
        return ""
    return _joined(said.get("os", ""), said.get("architecture", ""), said.get("variant"))


def _joined(system: object, machine: object, variant: object) -> str:
    return f"{system}/{machine}/{variant}" if variant else f"{system}/{machine}"


def _object(content: bytes, shown: str) -> dict[str, Any]:
    said = read_json(content, shown)
    if not isinstance(said, dict):
        raise Damaged(f"{shown}: it is not a JSON object")
    return said


def _listing(found: list[_Candidate]) -> str:
    names = [*dict.fromkeys(", ".join(one.names) or one.digest[:19] or "one without a name" for one in found)]
    rest = len(names) - _LISTED_AT_MOST
    return "; ".join([*names[:_LISTED_AT_MOST], *([f"and {rest} more"] if rest > 0 else [])])


def _is_named(one: _Candidate, name: str) -> bool:
    """By its name, with or without the registry that tools put before it, its tag, or the beginning of its digest."""
    by_name = any(f"/{known}".endswith(f"/{name}") or name == known.rpartition(":")[2] for known in one.names)
    return by_name or (len(name) >= 8 and name.removeprefix("sha256:") in one.digest)


def _each_once(found: list[_Candidate]) -> list[_Candidate]:
    """Images under several names are one."""
    known: dict[str, _Candidate] = {}
    for number, one in enumerate(found):
        key = one.digest or str(number)
        names = (*known[key].names, *one.names) if key in known else one.names
        known[key] = one._replace(names=tuple(dict.fromkeys(names)))
    return [*known.values()]


def _of_platform(store: Store, found: list[_Candidate], shown: str, wanted: str) -> list[_Candidate]:
    """Those for the platform; a single image counts for any, unless one was asked for."""
    if len(found) == 1 and not wanted:
        return found
    asked = wanted or f"linux/{_ARCHITECTURES.get(platform.machine(), platform.machine())}"
    asked = asked if "/" in asked else f"linux/{asked}"
    system, _, machine = asked.partition("/")
    machine, _, variant = machine.partition("/")
    asked = _joined(system, _ARCHITECTURES.get(machine, machine), variant)
    has = [one._replace(platform=one.platform or _said_platform(store, one)) for one in found]
    levels = [(_level(one.platform, asked), one) for one in has]
    best = max((level for level, _ in levels if level is not None), default=None)
    fitting = [one for level, one in levels if level is not None and level == best]
    if not fitting:
        there = ", ".join(sorted({one.platform for one in has}))
        raise ImageError(f"{shown} holds no image for {asked}; it has {there}: choose one by --platform")
    return fitting


def _level(said: str, asked: str) -> int | None:
    """How well a platform runs where another is asked for, its variant: 7 for arm/v7; None where it does not.

    Source: containerd, platforms: the variant that a name without one stands for, and that each runs what is below it.
    Where no variant is asked for, one above that is better than none.
    """
    (family, level), (wanted, highest) = _split(said), _split(asked)
    if family != wanted:
        return None
    return level if level <= highest else None if asked != wanted else -level


def _split(text: str) -> tuple[str, int]:
    system, machine, variant = (*text.split("/"), "", "")[:3]
    number = re.match(r"v([0-9]{1,3})", variant or _VARIANTS.get(machine, ""))
    return f"{system}/{machine}", int(number[1]) if number else 1


def _said_platform(store: Store, one: _Candidate) -> str:
    config = _config(store, one)
    return _joined(config.os_family, config.machine, config.variant)


def _config(store: Store, one: _Candidate) -> Config:
    if not one.is_oci:
        name = str(one.manifest.get("Config", ""))
        # The digest that old tars of `docker save` have in the name of a configuration, "" for none.
        encoded = name.rpartition("/")[2].removesuffix(".json")
        is_digest = len(encoded) == 64 and all(one in "0123456789abcdef" for one in encoded)
        return parse_config(store.small(name, f"sha256:{encoded}" if is_digest else ""), name)
    descriptor = one.manifest.get("config")
    if not isinstance(descriptor, dict) or not isinstance(descriptor.get("digest"), str):
        raise Damaged("a manifest names no configuration")
    digest = descriptor["digest"]
    return parse_config(store.small(blob_path(store, digest), digest), digest)


def _read(store: Store, one: _Candidate) -> Chosen:
    config = _config(store, one)
    if config.os_family == "windows":
        raise ImageError("an image of Windows is not read: unpack it, and look at its folder Files with --root")
    listed = one.manifest.get("layers" if one.is_oci else "Layers")
    if not isinstance(listed, list) or len(listed) > _LAYERS_AT_MOST:
        raise Damaged("a manifest lists no layers" if not isinstance(listed, list) else f"{len(listed)} layers")
    layers = tuple(_blob(store, item, is_oci=one.is_oci) for item in listed)
    if config.diff_ids and len(config.diff_ids) != len(layers):
        raise Damaged(f"the manifest has {len(layers)} layers, the configuration {len(config.diff_ids)}")
    return Chosen(one.names, one.digest if one.is_oci else "", config, layers)


def _blob(store: Store, said: Any, *, is_oci: bool) -> Blob:
    if not is_oci:
        if not isinstance(said, str):
            raise Damaged("manifest.json lists a layer that is not a name")
        digest = f"sha256:{said.rpartition('/')[2]}" if said.startswith("blobs/sha256/") else ""
        return Blob(said, digest, None)
    if not isinstance(said, dict) or not isinstance(said.get("digest"), str):
        raise Damaged("a manifest lists a layer without a digest")
    _refuse(store, said)
    size = said.get("size")
    return Blob(blob_path(store, said["digest"]), said["digest"], size if isinstance(size, int) else None)


def _refuse(store: Store, said: dict[str, Any]) -> None:
    """Raise ImageError for a layer that is whole, and cannot be read."""
    media, digest = str(said.get("mediaType", ""))[:_MEDIA_AT_MOST], said["digest"][:19]
    if media.endswith("+encrypted"):
        raise ImageError(
            f"the layer {digest} is encrypted: skopeo copy --decryption-key KEY makes an image without that"
        )
    if media and not _LAYER.search(media):
        raise ImageError(f"{digest} is {media!r}, no layer of a container image")
    places = said.get("urls")
    if isinstance(places, list) and places and not store.has(blob_path(store, said["digest"])):
        raise ImageError(f"the layer {digest} is not in the image, but at {str(places[0])[:_MEDIA_AT_MOST]!r}")
