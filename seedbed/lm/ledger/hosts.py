"""Which machine and process a writer of the ledger is, and whether it still runs."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

_NETWORK = ("nfs", "cifs", "smb", "afs", "ceph", "lustre", "gluster", "gpfs", "beegfs", "9p", "fuse.sshfs", "fuse.s3fs")
"""How the names of network file systems begin."""


@lru_cache(maxsize=1)
def host() -> str:
    """This machine as NAME/BOOT/PROCESSES. Containers of one machine share BOOT but count their processes apart, so
    process numbers mean the same only where all three are equal."""
    boot = namespace = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    with suppress(OSError):
        namespace = str(Path("/proc/self/ns/pid").readlink())
    return f"{socket.gethostname()}/{boot}/{namespace}"


def host_name(host: str) -> str:
    """The part of it that people know."""
    return host.partition("/")[0]


def elsewhere(other: str) -> bool:
    """Whether that is another machine: its name differs, and it is no container on this one."""
    name, boot, _ = f"{other}//".split("/", 2)
    own_name, own_boot, _ = host().split("/", 2)
    return name != own_name and (not boot or boot != own_boot)


def process_exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    with suppress(OSError, IndexError):
        # A killed process whose parent has not asked for its end is still listed, as a zombie.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return True


def network_filesystem(path: Path, mounts: Path = Path("/proc/mounts")) -> str | None:
    """The kind of network file system a file lies on; None where it is a local one, or cannot be told."""
    kinds: dict[Path, str] = {}
    with suppress(OSError):
        for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines():
            fields = line.split()
            if len(fields) > 2:
                # A space in a mount's path stands there as \040.
                kinds[Path(fields[1].replace("\\040", " "))] = fields[2]
    for folder in (path, *path.parents):
        if folder in kinds:
            return kinds[folder] if kinds[folder].startswith(_NETWORK) else None
    return None
