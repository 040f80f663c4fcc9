"""A real Redis for the tests."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path


def start_redis(port: int, folder: Path) -> subprocess.Popen[bytes]:
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server
    raise AssertionError("redis-server did not start")
