"""Programs of Debian packages, as set-up scripts use them: unpacked without root, or installed."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from cache import SetupError

APT_OPTIONS = ["-o", "DPkg::Lock::Timeout=300", "-o", "APT::Sandbox::User=root"]


def release():
    """The release whose package is unpacked: a newer one may need a newer C library."""
    release = Path("/etc/os-release")
    return release.read_text() if release.exists() else ""


def unpack(package, programs, folder):
    """Downloads a package and takes programs out of its `usr/bin` into `folder`/bin."""
    with tempfile.TemporaryDirectory() as aside:
        if apt_get("download", package, cwd=aside, quiet=True):
            if os.geteuid() == 0:
                apt_get("update")
            if apt_get("download", package, cwd=aside):
                raise SetupError(f"the Debian package {package} cannot be downloaded, for the reason above")
        for file in Path(aside).glob("*.deb"):
            subprocess.run(["dpkg-deb", "--extract", file, aside], check=True)
        (folder / "bin").mkdir()
        for program in programs:
            shutil.move(Path(aside, "usr", "bin", program), folder / "bin" / program)


def apt_get(*arguments, cwd=None, quiet=False):
    """Runs apt-get without questions; its exit status."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    output = subprocess.DEVNULL if quiet else None
    command = ["apt-get", "--quiet", "--quiet", *APT_OPTIONS, *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, stdout=output, stderr=output).returncode
