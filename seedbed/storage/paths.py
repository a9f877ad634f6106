"""Where results lie: in a folder on a disk, or under a prefix of object storage (`s3://BUCKET/PREFIX`).

`as_path` turns either into something that reads like a `pathlib.Path`; `is_local` tells them apart. What joins paths
and reads files needs to know no more. What writes, makes folders or renames goes through `seedbed.storage.store` and
`seedbed.storage.objects`: an object has no folder, cannot be renamed, and appears whole with one put.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Any, cast

from seedbed.errors import UserError, causes

_PACKAGES = {"s3": "'seedbed[s3]'", "gs": "gcsfs universal-pathlib", "az": "adlfs universal-pathlib"}
"""Object storage that shows a put whole or not at all, and what pip must install for it. Only s3 is tested."""

_ADDRESS = re.compile(r"[A-Za-z0-9._=-]+(/[A-Za-z0-9._=-]+)*/?")
_CONNECT_S, _READ_S = 10, 60
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_MAX_NAME = 80


HUB = "hf:"
"""In front of the name of a data set that lies in no file of the user's: hf:NAME/CONFIG/SPLIT."""


def is_hub(path: Path) -> bool:
    """Whether a path of a config is the name of a Hugging Face data set."""
    return str(path).startswith(HUB)


def as_path(text: str) -> Path:
    """The folder or prefix of that name; nothing is asked of the storage yet."""
    scheme, mark, rest = text.partition("://")
    if not mark:
        return Path(text)
    if scheme not in _PACKAGES:
        raise UserError(f"{text}: results can lie in a folder or under s3://BUCKET/PREFIX, not on {scheme}://.")
    if not _ADDRESS.fullmatch(rest) or {".", ".."} & set(rest.split("/")):
        raise UserError(
            f"{text}: write {scheme}://BUCKET/PREFIX with letters, digits, '.', '_', '-' and '=' only; "
            "keys and endpoint come from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL)."
        )
    try:
        from upath import UPath

        path = UPath(text.rstrip("/"), **_options(scheme))
        assert path.fs is not None  # made now, so that a package that is missing is noticed here
    except ImportError as error:
        needed = _PACKAGES[scheme]
        raise UserError(f"{text}: {scheme}:// needs more packages ({error}); pip install {needed}.") from None
    # Not one by inheritance, but in all that is used here.
    return cast("Path", path)


def as_root(text: str) -> Path:
    """The root of all results, absolute. A bucket that is not there, or not for us, is refused now and in one
    sentence."""
    path = as_path(text)
    if is_local(path):
        return _local_root(path)
    try:
        _reach(path)
    except Exception as error:
        raise UserError(f"{text}: {explain(error) or error}") from None
    return path


def as_writable_root(text: str) -> Path:
    """The root for results that are yet to come; a folder that cannot be written is refused now."""
    root = as_root(text)
    refuse_unwritable(root)
    return root


def refuse_unwritable(root: Path) -> None:
    """Refuse a folder in which no file can be made. Nothing is made to find out."""
    if not is_local(root):
        return
    there = next(part for part in (root, *root.parents) if part.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise UserError(f"{there}: cannot be written, so results cannot go to {root}; name another with --out.")


def local_path(text: str, option: str) -> Path:
    """A folder on a disk, where nothing else will do."""
    if "://" in text:
        raise UserError(f"{option} {text}: must be a folder on this machine.")
    if not text:
        raise UserError(f"{option} is empty; name a place.")
    return Path(text)


def safe_name(name: str) -> str:
    """A name that may become part of a path, or a ValueError that says what is wrong with it."""
    if not _NAME.fullmatch(name) or name.startswith("."):
        raise ValueError(f"{name!r} goes into file names: use letters, digits, '.', '_' and '-' only")
    if len(name) > _MAX_NAME:
        raise ValueError(f"{name[:20]!r}... goes into file names: use at most {_MAX_NAME} characters")
    return name


def _local_root(path: Path) -> Path:
    try:
        found = path.resolve()
        there = next(part for part in (found, *found.parents) if part.exists())
    except (OSError, ValueError, RuntimeError) as error:
        raise UserError(f"{str(path)[:80]!r} cannot be a folder for results ({error}); name another.") from None
    if not there.is_dir():
        raise UserError(f"{there}: results go into a folder, but this is a file; name another with --out.")
    return found


def is_local(path: Path) -> bool:
    return not hasattr(path, "storage_options")


def home() -> Path:
    """Seedbed's own folder on this machine: server database, its log, cached results. SEEDBED_HOME overrides."""
    return Path(os.environ.get("SEEDBED_HOME") or Path.home() / ".seedbed")


def file_mask() -> int:
    """Which rights new files do not give. They hold prompts, answers and data: by default others have none; a lab that
    shares a folder sets SEEDBED_UMASK (007: the group may, 022: all may read)."""
    text = os.environ.get("SEEDBED_UMASK") or "077"
    if not re.fullmatch(r"0?[0-7]{1,3}", text):
        raise UserError(f"SEEDBED_UMASK is {text!r}; give three octal digits such as 077 or 027.")
    return int(text, 8)


def filesystem(path: Path) -> tuple[Any, str]:
    """The fsspec file system of a remote path, and the path's name there."""
    remote: Any = path
    return remote.fs, remote.path


def read_bytes(path: Path) -> bytes:
    """All of a file. An object comes with one request, where opening it would take two."""
    if is_local(path):
        return path.read_bytes()
    fs, name = filesystem(path)
    # Else s3fs asks for the size first, to fetch large objects in parts.
    whole = {"max_concurrency": 1} if hasattr(fs, "call_s3") else {}
    return fs.cat_file(name, **whole)


_NOT_WRITABLE = "make it writable for this user, or name another place"
_OF_THE_DISK = {
    errno.EACCES: _NOT_WRITABLE,
    errno.EPERM: _NOT_WRITABLE,
    errno.EROFS: "its disk can only be read; name another place",
    errno.ENOSPC: "make room on its disk and run again: everything finished is kept",
    errno.EDQUOT: "make room for this user on its disk and run again: everything finished is kept",
    errno.ENAMETOOLONG: "give shorter names",
    errno.ENOTDIR: "a file stands where a folder is needed; name another place",
    errno.EISDIR: "a folder stands where a file is needed; name another place",
    errno.EEXIST: "a file stands where a folder is needed; name another place",
}


def explain_disk(error: BaseException) -> str | None:
    """What a disk has against us and what to do, in one sentence; None if it has nothing."""
    for cause in causes(error):
        if isinstance(cause, OSError) and cause.errno in _OF_THE_DISK:
            where = f"{cause.filename}: " if cause.filename else ""
            return f"{where}{cause.strerror}; {_OF_THE_DISK[cause.errno]}."
    return None


def is_storage_fault(error: BaseException | None) -> bool:
    """Whether object storage, or the way to it, is to blame."""
    return error is not None and _storage_error(error) is not None


def explain(error: BaseException) -> str | None:
    """What a disk or object storage has against us and what to do, in one sentence; None if neither is to blame."""
    cause = _storage_error(error)
    if cause is None:
        return explain_disk(error)
    response: dict[str, Any] = getattr(cause, "response", None) or {}
    told = response.get("Error", {})
    code = str(told.get("Code", type(cause).__name__))
    match code:
        case "NoSuchBucket":
            bucket = told.get("BucketName") or "of this name"
            return f"there is no bucket {bucket}; make it first, or name another in `out`."
        case "NoCredentialsError" | "PartialCredentialsError" | "ProfileNotFound":
            return "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE."
        case "EndpointConnectionError" | "ConnectTimeoutError" | "ReadTimeoutError" | "ConnectionClosedError":
            return f"the object storage does not answer ({cause}); check AWS_ENDPOINT_URL and the network."
        case _ if response.get("ResponseMetadata", {}).get("HTTPStatusCode") in (401, 403):
            return (
                f"the object storage refuses ({code}); check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the rights "
                "to list, read, write and delete in the bucket."
            )
        case _:
            return f"the object storage failed ({code}: {told.get('Message') or cause})."


def _storage_error(error: BaseException) -> BaseException | None:
    return next((e for e in causes(error) if type(e).__module__.startswith(("botocore", "aiobotocore"))), None)


def _options(scheme: str) -> dict[str, Any]:
    # Other workers write there too: what a listing said a moment ago may be wrong now.
    options: dict[str, Any] = {"use_listings_cache": False}
    if scheme == "s3":
        retries = {"mode": "standard", "total_max_attempts": 4}
        settings = {"connect_timeout": _CONNECT_S, "read_timeout": _READ_S, "retries": retries}
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
        if "://127." in endpoint or "://localhost" in endpoint:
            # A proxy from the environment cannot reach this machine's loopback.
            settings["proxies"] = {}
        options["config_kwargs"] = settings
    return options


def _reach(path: Path) -> None:
    fs, name = filesystem(path)
    if hasattr(fs, "call_s3"):
        bucket, _, prefix = name.partition("/")
        fs.call_s3("list_objects_v2", Bucket=bucket, Prefix=prefix, MaxKeys=1)
    else:
        fs.exists(name)
