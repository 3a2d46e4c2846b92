//! Output files: complete or unchanged, with the same mode, links and devices, however the program ends.

use crate::shell::{enter, run};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("files").join(name);
    // Left over from the previous run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The commands that write files.
fn writers(path: &Path) -> [String; 4] {
    let path = path.display();
    [
        format!("ndjit eval 'arange(3)' -o {path}.csv"),
        format!("ndjit eval 'arange(3)' -o {path}.npy"),
        format!("ndjit promote --svg {path}.svg"),
        format!("ndjit explain 'x + 1' x:f32 --html {path}.html"),
    ]
}

#[test]
fn what_is_replaced_keeps_its_mode_and_its_links() {
    enter();
    let folder = folder("replaced");
    for (n, extension) in ["csv", "npy", "svg", "html"].into_iter().enumerate() {
        let path = |name: &str| folder.join(format!("{name}.{extension}"));
        let write = |name: &str| run(&writers(&folder.join(name))[n]);
        // A new file has the default mode.
        File::create(folder.join("any")).unwrap();
        assert_eq!(write("new").code, 0, "{extension}");
        assert_eq!(mode(&path("new")), mode(&folder.join("any")), "{extension}");
        for bits in [0o600, 0o640, 0o666, 0o755] {
            fs::set_permissions(path("new"), fs::Permissions::from_mode(bits)).unwrap();
            assert_eq!(write("new").code, 0, "{extension}");
            assert_eq!(mode(&path("new")), bits, "{extension}");
        }
        let whole = fs::read(path("new")).unwrap();
        // A link to a file, through another folder and another link; and a link to a missing file.
        fs::create_dir_all(folder.join("far")).unwrap();
        fs::write(folder.join("far").join("there"), "before").unwrap();
        symlink("far/there", folder.join("between")).unwrap();
        symlink("between", path("link")).unwrap();
        symlink("far/absent", path("dangling")).unwrap();
        for (name, target) in [("link", "far/there"), ("dangling", "far/absent")] {
            let done = write(name);
            assert_eq!(done.code, 0, "{extension}: {}", done.text);
            assert!(path(name).is_symlink(), "{extension} {name}");
            assert_eq!(fs::read(folder.join(target)).unwrap(), whole, "{extension} {name}");
        }
        // Broken links, and a folder.
        symlink(path("circle"), path("circle")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        for name in ["circle", "folder"] {
            let done = write(name);
            assert!(done.code != 0 && done.text.contains("error[io]"), "{extension} {name}: {}", done.text);
        }
        let left: Vec<String> = names(&folder).into_iter().chain(names(&folder.join("far"))).collect();
        assert!(!left.iter().any(|name| name.contains("partial")), "{left:?}");
        fs::remove_file(folder.join("between")).unwrap();
        fs::remove_dir_all(folder.join("far")).unwrap();
    }
}

#[test]
fn devices_and_pipes_are_written_to() {
    enter();
    let folder = folder("pipes");
    symlink("/dev/null", folder.join("null.csv")).unwrap();
    symlink("/dev/full", folder.join("full.csv")).unwrap();
    let pipe = folder.join("pipe.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let write = |name: &str| run(&format!("ndjit eval 'arange(3)' -o {}", folder.join(name).display()));
    assert_eq!(write("null.csv").code, 0);
    let full = write("full.csv");
    assert!(full.code == 1 && full.text.contains("error[io]"), "{}", full.text);
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        File::open(pipe).unwrap().read_to_string(&mut text).unwrap();
        text
    });
    assert_eq!(write("pipe.csv").code, 0);
    assert_eq!(reader.join().unwrap(), "0\n1\n2\n");
    symlink("/dev/stdout", folder.join("stdout.csv")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ndjit"));
    let done = command.args(["eval", "arange(3)", "-o", "stdout.csv"]).current_dir(&folder).output().unwrap();
    assert_eq!((done.status.code(), String::from_utf8_lossy(&done.stdout).as_ref()), (Some(0), "0\n1\n2\n"));
    assert_eq!(names(&folder), ["full.csv", "null.csv", "pipe.csv", "stdout.csv"]);
}

/// Starts a command that writes `out.npy` for a long time, and returns once the file exists. The input is sparse.
fn writing(folder: &Path, before: &str) -> Child {
    let input = folder.join("x.npy");
    let fields = "{'descr': '<f8', 'fortran_order': False, 'shape': (16777216, 1024), }";
    let mut file = File::create(&input).unwrap();
    file.write_all(b"\x93NUMPY\x01\x00\x76\x00").unwrap();
    file.write_all(format!("{fields:<117}\n").as_bytes()).unwrap();
    file.set_len(128 + (16_777_216 * 1024 * 8)).unwrap();
    fs::write(folder.join("out.npy"), "before").unwrap();
    let script = format!("{before} exec $fresh \"$0\" eval 'sum(x, axis=1)' x=x.npy -o out.npy");
    let child = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_ndjit")])
        .current_dir(folder)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !names(folder).iter().any(|name| name.ends_with(".partial")) {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing is written");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn signals_leave_nothing_behind() {
    let folder = folder("signals");
    // Tests may run with signals ignored: in the background, or by `nohup`.
    let fresh = "fresh='env --default-signal'; $fresh true 2>/dev/null || fresh=; ulimit -c 0;";
    for (name, number) in [("HUP", 1), ("INT", 2), ("QUIT", 3), ("TERM", 15), ("USR1", 10), ("ALRM", 14), ("XCPU", 24)]
    {
        let mut child = writing(&folder, fresh);
        signal(&child, name);
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(number), "{name}: {status}");
        assert_eq!(names(&folder), ["out.npy", "x.npy"], "{name}");
        assert_eq!(fs::read(folder.join("out.npy")).unwrap(), b"before", "{name}");
    }
    // Started as by `nohup`.
    let mut child = writing(&folder, "trap '' HUP;");
    signal(&child, "HUP");
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none(), "a signal that is ignored ends nothing");
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert_eq!(names(&folder), ["out.npy", "x.npy"]);
    // The file size limit is an error.
    let limited = Command::new("sh")
        .args(["-c", "ulimit -f 1; exec \"$0\" eval 'arange(100000)' -o out.npy", env!("CARGO_BIN_EXE_ndjit")])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert_eq!(limited.status.code(), Some(1), "{limited:?}");
    assert!(String::from_utf8_lossy(&limited.stderr).contains("error[io]: write_npy"), "{limited:?}");
    assert_eq!(names(&folder), ["out.npy", "x.npy"]);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_input_that_changes_meanwhile_is_an_error() {
    let folder = folder("changed");
    let mut child = writing(&folder, "");
    let input = File::options().write(true).open(folder.join("x.npy")).unwrap();
    input.set_len(4096).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(names(&folder), ["out.npy", "x.npy"]);
    assert_eq!(fs::read(folder.join("out.npy")).unwrap(), b"before");
}
