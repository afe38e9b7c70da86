"""Tests of scripts/cluster, with programs that do nothing and a control plane that is a sleeping process, and of its set-up."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))

import cache
import debian

SCRIPTS = Path(__file__).resolve().parent


def load(path):
    """A script as a module."""
    loader = importlib.machinery.SourceFileLoader(path.name.replace("-", "_"), str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class ClusterTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for program in ("scripts/cluster", ".venv/etcd/bin/etcd", ".venv/kubernetes-1.37.2/control-plane"):
            (self.root / program).parent.mkdir(parents=True, exist_ok=True)
            (self.root / program).write_text("#!/bin/sh\n")
            (self.root / program).chmod(0o755)
        shutil.copy(SCRIPTS / "cluster", self.root / "scripts")
        self.plane = self.root / "plane"
        self.plane.mkdir()

    def cluster(self, *arguments):
        command = [sys.executable, "-B", self.root / "scripts" / "cluster", *arguments]
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def test_foreign_folder_is_neither_used_nor_deleted(self):
        (self.plane / "file").touch()
        for command, words in (("start", "has other files"), ("run", "has other files"), ("stop", "no control plane")):
            said = self.cluster(command, self.plane)
            self.assertEqual((said.returncode, words in said.stderr), (1, True), said.stderr)
        self.assertEqual(os.listdir(self.plane), ["file"])

    def test_running_control_plane_is_ended_by_stop_alone(self):
        with subprocess.Popen(["sleep", "1000"]) as process:
            self.addCleanup(process.kill)
            (self.plane / "tokens.csv").touch()
            (self.plane / "pids").write_text(f"{process.pid} sleep\n")
            for command in ("start", "run"):
                said = self.cluster(command, self.plane)
                self.assertEqual((said.returncode, "there is a control plane" in said.stderr), (1, True), said.stderr)
            self.assertIsNone(process.poll())
            said = self.cluster("stop", self.plane)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertEqual((process.wait(), self.plane.exists()), (-15, False))

    def test_program_that_exits_at_the_start_is_an_error(self):
        said = self.cluster("run", self.plane)
        self.assertEqual(said.returncode, 1, said.stderr)
        # Both exit at once.
        self.assertRegex(said.stderr, "(etcd|kube-apiserver) exited with 0")
        self.assertFalse((self.plane / "pids").exists())

    def test_port_that_another_process_takes_is_replaced(self):
        script = '#!/bin/sh\ntest -e "$0.tried" && echo has other ports && exit\ntouch "$0.tried"\necho bind: address already in use\n'
        for program in (".venv/etcd/bin/etcd", ".venv/kubernetes-1.37.2/control-plane"):
            (self.root / program).write_text(script)
        said = self.cluster("run", self.plane)
        self.assertEqual((said.returncode, "has other ports" in said.stderr), (1, True), said.stderr)

    def test_printed_command_is_for_a_shell(self):
        script = load(self.root / "scripts" / "cluster")
        folder = self.root / "My plane"
        printed = io.StringIO()
        argv = ["cluster", "start", str(folder)]
        with mock.patch.object(script, "Cluster"), mock.patch.object(script.signal, "signal"), \
                mock.patch.object(sys, "argv", argv), contextlib.redirect_stdout(printed):
            script.main()
        command = ["sh", "-c", printed.getvalue() + 'printf %s "$KUBECONFIG"']
        said = subprocess.run(command, capture_output=True, text=True, check=True)
        self.assertEqual(said.stdout, f"{folder}/kubeconfig")


class SetupTest(unittest.TestCase):
    """The set-up of control planes, on a machine that has neither Go nor a network."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.bin = Path(folder.name, "checkout"), Path(folder.name, "bin")
        self.bin.mkdir()
        scripts = ("setup-cluster", "cache.py", "debian.py", "skips.py", "wheels.py")
        for file in ("tests/control_plane/main.go", *(f"scripts/{name}" for name in scripts)):
            (self.root / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SCRIPTS.parent / file, self.root / file)
        cache.publish(Path(folder.name, "cache", "etcd"), f"etcd of {debian.release()}", lambda _: None)
        self.bare = {
            "PATH": str(self.bin), "HOME": folder.name, "TENGEN_CACHE": f"{folder.name}/cache", "GOPROXY": "off,http://127.0.0.1:9/",
        }

    def setup(self, *arguments, **environment):
        command = [sys.executable, "-B", self.root / "scripts" / "setup-cluster", *arguments]
        return subprocess.run(command, env={**self.bare, **environment}, capture_output=True, text=True)

    def program(self, name, text):
        (self.bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.bin / name).chmod(0o755)

    def load(self):
        return load(self.root / "scripts" / "setup-cluster")

    def test_package_that_cannot_be_downloaded_is_named(self):
        self.program("apt-get", "exit 100")
        with mock.patch.dict(os.environ, {"PATH": str(self.bin)}), self.assertRaises(cache.SetupError) as caught:
            debian.unpack("etcd-server", ["etcd"], self.root)
        self.assertIn("the Debian package etcd-server cannot be downloaded", str(caught.exception))

    def test_setup_without_network_names_the_proxy_and_the_other_ways(self):
        script = self.load()
        with mock.patch.object(script.wheels, "TRIES", 1), mock.patch.dict(os.environ, self.bare, clear=True):
            with self.assertRaises(script.wheels.FetchError) as caught:
                script.unpack_toolchain(self.root)
        self.assertIn("http://127.0.0.1:9/golang.org/toolchain/@v/v0.0.1-go1.26", str(caught.exception))
        self.program("go", "echo go1.26.0; test $1 = env")
        self.program("nice", 'exec "$@"')
        said = self.setup("1.37.2")
        self.assertEqual(said.returncode, 1, said.stdout)
        for words in ("go mod download", "TENGEN_ALLOW_SKIP=control-plane make test", "kind or k3s", "TENGEN_TEST_KUBECONFIG"):
            self.assertIn(words, said.stderr)
        self.assertEqual(list(self.root.glob(".venv/kubernetes*")), [])

    def test_only_a_go_that_kubernetes_accepts_is_used(self):
        script = self.load()
        for version, accepted in (("go1.19.8", False), ("go1.26.0", True), ("go1.30", True), ("go2.0.1", True), ("", False)):
            self.program("go", f"echo {version}")
            with mock.patch.dict(os.environ, {"PATH": str(self.bin)}):
                self.assertEqual(script.is_new_enough(), accepted, version)

    def test_toolchain_of_another_content_is_refused(self):
        script = self.load()
        fake = lambda url, archive, path: path.write_bytes(b"no archive")
        with mock.patch.object(script.wheels, "resume_download", fake), self.assertRaises(script.SetupError) as caught:
            script.unpack_toolchain(self.root)
        self.assertIn("wrong size or sha256", str(caught.exception))

    def test_setup_allowed_to_skip_succeeds(self):
        for allowed in ("control-plane", "gnugo, control-plane", "all"):
            said = self.setup(TENGEN_ALLOW_SKIP=allowed)
            self.assertEqual((said.returncode, "skipped" in said.stdout), (0, True), said.stderr)

    def test_foreign_folder_is_kept(self):
        foreign = self.root / ".venv" / "etcd" / "file"
        foreign.parent.mkdir(parents=True)
        foreign.touch()
        said = self.setup("1.37.2")
        self.assertEqual((said.returncode, "was not made by this script" in said.stderr), (1, True), said.stderr)
        self.assertTrue(foreign.exists())

    def test_versions_are_the_same_everywhere(self):
        versions = self.load().VERSIONS
        found = {
            file: re.findall(r"1\.\d\d\.\d+", (SCRIPTS.parent / file).read_text())
            for file in ("Makefile", "scripts/cluster", "crates/testing/src/tool.rs", "k8s/README.md", "docs/operations/kubernetes.md",
                         "CONTRIBUTING.md")
        }
        self.assertEqual(found["Makefile"], versions[::-1])
        self.assertEqual(found["scripts/cluster"], versions[-1:])
        self.assertEqual(found["crates/testing/src/tool.rs"], versions[-1:])
        self.assertEqual(found["CONTRIBUTING.md"], versions[-1:])
        self.assertEqual(found["k8s/README.md"][:2], versions)
        self.assertLessEqual(set(found["docs/operations/kubernetes.md"]), set(versions))

    def test_unknown_version_is_refused(self):
        said = self.setup("1.2.3")
        self.assertEqual((said.returncode, "scripts/setup-cluster [VERSION...]" in said.stderr), (1, True))


if __name__ == "__main__":
    unittest.main()
