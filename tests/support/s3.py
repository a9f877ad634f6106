"""A real S3-compatible server on loopback, in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from types import TracebackType
from typing import Any

from tests.support.ports import quiet_port


class S3Server:
    """`with S3Server() as server`; `server.bucket()` makes a bucket, `server.environment` is what a client needs."""

    def __init__(self, *, closed: bool = False) -> None:
        """A closed server knows none of the keys it is shown."""
        self._settings = {"INITIAL_NO_AUTH_ACTION_COUNT": "0"} if closed else {}
        self.url = f"http://127.0.0.1:{quiet_port()}"
        self._made = 0
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # as long as the server
        self._read_to = 0

    @property
    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "an-access-key-of-tests",
            "AWS_SECRET_ACCESS_KEY": "a-secret-key-of-tests",
            "AWS_DEFAULT_REGION": "us-east-1",
            # Whatever the user of this machine has set up must have no part in it.
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }

    def bucket(self) -> str:
        self._made += 1
        name = f"seedbed-tests-{os.getpid()}-{self._made}"
        self._ask("PUT", f"/{name}")
        return name

    def client(self) -> Any:
        """A client that shares nothing with the code under test."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.url,
            aws_access_key_id="another",
            aws_secret_access_key="another",
            region_name="us-east-1",
        )

    def objects(self, bucket: str, prefix: str = "") -> dict[str, bytes]:
        """Every object of a bucket, or of a part of it, by its key."""
        client = self.client()
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        keys = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
        return {key: client.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}

    def requests(self, bucket: str) -> list[str]:
        """What was asked of a bucket since this was called last, by the server's own log: `GET /a-bucket/a/key`."""
        self._log.flush()
        size = os.fstat(self._log.fileno()).st_size
        lines = os.pread(self._log.fileno(), size - self._read_to, self._read_to).decode()
        self._read_to = size
        return re.findall(rf'"([A-Z]+ /{bucket}[/? ]\S*) HTTP', lines)

    def __enter__(self) -> S3Server:
        port = self.url.rpartition(":")[2]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", port],
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            env={**os.environ, **self._settings},
        )
        deadline = time.monotonic() + 600
        while True:
            try:
                self._ask("GET", "/moto-api/data.json")
                return self
            except (urllib.error.URLError, OSError):
                assert self._process.poll() is None, "the S3 server ended at once"
                assert time.monotonic() < deadline, "the S3 server did not answer"
                time.sleep(0.1)

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._process.terminate()
        self._process.wait(timeout=600)

    def _ask(self, method: str, path: str) -> None:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(f"{self.url}{path}", method=method)
        with opener.open(request, timeout=10) as reply:
            reply.read()
