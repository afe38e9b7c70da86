//! Files that appear whole, and what can be known of files before long work.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, anyhow};

use crate::Classify;

/// Writes a temporary file to the disk and renames it: a reader sees either the old contents or the new ones, and never
/// half of it, after a loss of power too. A device or a pipe is written to as it is, and a link stays one. An open file
/// of a process, such as /dev/stdout, is appended to.
///
/// # Errors
/// The place cannot be written.
pub fn write_whole(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let Some(target) = renamed_place(file)? else {
        // Others may write there and have written: a shell's `>> file`, and what the program prints itself. A folder
        // refuses to be opened.
        return OpenOptions::new().append(true).open(file)?.write_all(bytes);
    };
    let aside = target.with_added_extension("partial");
    let written = write_through(&aside, bytes).and_then(|()| fs::rename(&aside, &target));
    if written.is_err() {
        // There may be none; the first error is the one to tell.
        drop(fs::remove_file(&aside));
    }
    written
}

/// The place to which a file is renamed once it is whole, from another name in the same folder. None for a device, a
/// pipe and an open file of a process: a rename would put a file over them, so they are written to. A link stays one.
///
/// # Errors
/// There is no folder for the file.
pub fn renamed_place(file: &Path) -> io::Result<Option<PathBuf>> {
    match fs::metadata(file) {
        Ok(found) if !found.is_file() || is_descriptor(file) => Ok(None),
        Ok(_) => fs::canonicalize(file).map(Some),
        Err(_) => {
            let place = place(file);
            let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let folder = fs::canonicalize(folder)?;
            Ok(place.file_name().map(|name| folder.join(name)))
        }
    }
}

/// Makes sure, before long work whose result a file is to hold, that the file can be written. It stays as it is.
///
/// # Errors
/// A folder, a file that is mounted by itself, or one whose folder is not there or cannot be written: the operator's to
/// mend.
pub fn check_output(file: &Path) -> anyhow::Result<()> {
    writable(file).with_context(|| format!("cannot write {}", file.display())).misconfigured()
}

/// Makes sure that no output is an input or another output: [`write_whole`] would replace it.
///
/// # Errors
/// One is, by whatever name: the operator's to mend.
pub fn check_distinct(
    outputs: impl IntoIterator<Item: AsRef<Path>>,
    inputs: impl IntoIterator<Item: AsRef<Path>>,
) -> anyhow::Result<()> {
    let mut taken = BTreeMap::new();
    for input in inputs {
        let input = input.as_ref();
        if let Ok(Some(place)) = renamed_place(input) {
            taken.insert(place, format!("the input {}", input.display()));
        }
    }
    for output in outputs {
        let output = output.as_ref();
        let Ok(Some(place)) = renamed_place(output) else { continue };
        if let Some(other) = taken.insert(place, format!("the output {}", output.display())) {
            return Err(anyhow!("cannot write {}: it is {other}; name another file", output.display())).misconfigured();
        }
    }
    Ok(())
}

/// Makes sure that there is a file, before anything that would have to be undone without it. It is not opened: a pipe
/// could not be read again.
///
/// # Errors
/// There is no such file, or it is a folder: the operator's to mend.
pub fn check_input(file: &Path) -> anyhow::Result<()> {
    let found = fs::metadata(file).and_then(|found| match found.is_dir() {
        true => Err(io::ErrorKind::IsADirectory.into()),
        false => Ok(()),
    });
    found.with_context(|| format!("cannot read {}", file.display())).misconfigured()
}

fn writable(file: &Path) -> io::Result<()> {
    let target = match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => renamed_place(file)?.ok_or(error)?,
        Ok(found) if found.is_file() || found.is_dir() => {
            OpenOptions::new().write(true).open(file)?;
            let Some(target) = renamed_place(file)? else { return Ok(()) };
            target
        }
        // Who reads a pipe would take the end of this for that of the result.
        found => return found.map(drop),
    };
    // Where the system does not tell, the rename does later.
    if is_mount_point(&target, &fs::read_to_string("/proc/self/mountinfo").unwrap_or_default()) {
        return Err(io::Error::other("a file that is mounted by itself cannot be replaced; mount its folder"));
    }
    // Another name, since readers may wait for this one.
    let aside = target.with_added_extension(format!("{}.partial", process::id()));
    File::create(&aside)?;
    fs::remove_file(aside)
}

/// Whether something is mounted at this place, as `docker run -v FILE:FILE` does, by the mounts of
/// proc_pid_mountinfo(5).
fn is_mount_point(place: &Path, mounts: &str) -> bool {
    let escaped = |c: char| match c {
        ' ' | '\t' | '\n' | '\\' => format!("\\{:03o}", u32::from(c)),
        _ => c.to_string(),
    };
    let place: Option<String> = place.to_str().map(|place| place.chars().map(escaped).collect());
    place.is_some_and(|place| mounts.lines().any(|mount| mount.split(' ').nth(4) == Some(place.as_str())))
}

/// The place of a file that does not exist yet: links may lead there.
fn place(file: &Path) -> PathBuf {
    let mut place = file.to_owned();
    // As many as Linux follows.
    for _ in 0..40 {
        match fs::read_link(&place) {
            Ok(target) => place = place.with_file_name(target),
            Err(_) => break,
        }
    }
    place
}

/// Whether this is an open file of a process: /proc/self/fd/1, or a link to it as /dev/stdout is.
fn is_descriptor(file: &Path) -> bool {
    let is_in_proc = |path: &Path| {
        let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
        folder.is_some_and(|folder| folder.starts_with("/proc"))
    };
    is_in_proc(file) || fs::read_link(file).is_ok_and(|target| is_in_proc(&file.with_file_name(target)))
}

/// A new name may reach the disk before the contents do, so these are waited for.
fn write_through(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(file)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    /// As with `tengen … --out /dev/stdout >> file`.
    #[test]
    fn open_file_of_the_process_is_appended_to() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("file");
        let mut open = File::create(&file).unwrap();
        open.write_all(b"before ").unwrap();
        let descriptor = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        let link = folder.path().join("stdout");
        symlink(&descriptor, &link).unwrap();
        write_whole(&descriptor, b"one ").unwrap();
        write_whole(&link, b"two").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"before one two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is beside them");
    }

    #[test]
    fn bytes_are_synced() {
        // This device takes all bytes, and refuses to be synced.
        let error = write_through(Path::new("/dev/null"), b"new").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
    }

    #[test]
    fn file_behind_a_link_is_replaced_and_the_link_stays() {
        let folder = TempDir::new().unwrap();
        let [target, link] = ["inside/target", "link"].map(|name| folder.path().join(name));
        fs::create_dir(folder.path().join("inside")).unwrap();
        symlink("inside/target", &link).unwrap();
        // At first the link leads to no file.
        for bytes in [&b"old"[..], b"new"] {
            check_output(&link).unwrap();
            write_whole(&link, bytes).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read(&target).unwrap(), bytes);
        }
        let count = |path: &Path| fs::read_dir(path).unwrap().count();
        assert_eq!((count(folder.path()), count(&folder.path().join("inside"))), (2, 1), "nothing is beside them");
    }

    #[test]
    fn file_that_can_be_written_but_not_replaced_is_refused() {
        let folder = TempDir::new().unwrap();
        // Linux has names of up to 255 bytes, so that there is no room for one beside it.
        let file = folder.path().join("x".repeat(250));
        fs::write(&file, "old").unwrap();
        assert!(check_output(&file).is_err() && write_whole(&file, b"new").is_err());
        assert_eq!(fs::read(&file).unwrap(), b"old");
        // An open file of a process is not replaced.
        let open = File::options().write(true).open(&file).unwrap();
        check_output(Path::new(&format!("/proc/self/fd/{}", open.as_raw_fd()))).unwrap();
    }

    #[test]
    fn files_that_are_mounted_are_known() {
        let mounts =
            "36 35 98:0 / /out rw - ext4 /dev/vda rw\n37 35 98:0 /b /out/a\\040book.sgf rw - ext4 /dev/vda rw\n";
        let is_mounted = |place: &str| is_mount_point(Path::new(place), mounts);
        assert!(is_mounted("/out/a book.sgf") && !is_mounted("/out/other.sgf") && !is_mounted("/b"));
    }

    #[test]
    fn outputs_that_are_one_file_by_any_name_are_refused() {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("inside")).unwrap();
        let [input, round, link, new, dangling] =
            ["input", "inside/../input", "link", "new", "dangling"].map(|name| folder.path().join(name));
        fs::write(&input, "input").unwrap();
        symlink("input", &link).unwrap();
        symlink("inside/../new", &dangling).unwrap();
        for output in [&input, &round, &link] {
            let error = check_distinct([output], [&input]).unwrap_err().to_string();
            let (output, input) = (output.display(), input.display());
            assert_eq!(error, format!("cannot write {output}: it is the input {input}; name another file"));
        }
        // Neither file exists.
        let error = check_distinct([&new, &dangling], [&input]).unwrap_err().to_string();
        let (dangling, written) = (dangling.display(), new.display());
        assert_eq!(error, format!("cannot write {dangling}: it is the output {written}; name another file"));
        check_distinct([&new], [&link, &folder.path().join("absent/input")]).unwrap();
        // What is written there replaces nothing.
        let null = Path::new("/dev/null");
        check_distinct([null, null], [null]).unwrap();
    }
}
