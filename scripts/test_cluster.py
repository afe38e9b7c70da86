"""Tests of scripts/cluster, with programs that do nothing and a control plane that is a sleeping process, and of its set-up."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import cache
import debian

SCRIPTS = Path(__file__).resolve().parent


class ClusterTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for program in ("scripts/cluster", ".venv/etcd/bin/etcd", ".venv/kubernetes-1.37.2/control-plane"):
            (self.root / program).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(shutil.which("true"), self.root / program)
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
        self.assertEqual((said.returncode, "etcd exited with 0" in said.stderr), (1, True), said.stderr)
        self.assertFalse((self.plane / "pids").exists())


class SetupTest(unittest.TestCase):
    def test_setup_without_go_names_the_tests_for_another_cluster(self):
        with tempfile.TemporaryDirectory() as folder:
            root, home = Path(folder, "checkout"), Path(folder, "cache")
            for file in ("scripts/setup-cluster", "scripts/cache.py", "scripts/debian.py", "tests/control_plane/main.go"):
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(SCRIPTS.parent / file, root / file)
            cache.publish(home / "etcd", f"etcd of {debian.release()}", lambda _: None)
            command = [sys.executable, "-B", root / "scripts" / "setup-cluster"]
            environment = {"PATH": folder, "HOME": folder, "TENGEN_CACHE": str(home)}
            said = subprocess.run(command, env=environment, capture_output=True, text=True)
            self.assertEqual(said.returncode, 1, said.stderr)
            for words in ("there is no Go", "kind or k3s", "TENGEN_TEST_KUBECONFIG"):
                self.assertIn(words, said.stderr)
            said = subprocess.run([*command, "--cached"], env=environment, capture_output=True, text=True)
            self.assertEqual(said.returncode, 0, said.stderr)


if __name__ == "__main__":
    unittest.main()
