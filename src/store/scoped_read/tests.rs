//! Tests of what is read, what is not and why, with the kernel's help and without; and that no swap lets
//! anything else in.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

const INSIDE: &str = "inside";
const OUTSIDE: &str = "outside";

/// A project beside another folder whose name starts with its own.
struct ScopedReadFixture {
    folder: tempfile::TempDir,
    beneath: ScopedReader,
}

impl ScopedReadFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("proj");
        fs::create_dir_all(root.join("src/deep")).unwrap();
        fs::create_dir_all(folder.path().join("proj-evil")).unwrap();
        fs::write(root.join("a.txt"), INSIDE).unwrap();
        fs::write(root.join("src/b.txt"), INSIDE).unwrap();
        fs::write(folder.path().join("proj-evil/a.txt"), OUTSIDE).unwrap();
        fs::write(folder.path().join("secret"), OUTSIDE).unwrap();
        let beneath = ScopedReader::open(&root).unwrap();
        Self { folder, beneath }
    }

    fn root(&self) -> &Path {
        &self.beneath.path
    }

    fn link(&self, name: &str, to: impl AsRef<Path>) {
        symlink(to, self.root().join(name)).unwrap();
    }

    /// Reads with the kernel's help and by hand; the results must agree.
    fn read_outcome(&self, name: &str) -> &'static str {
        let told = |read: Result<Vec<u8>, ScopedReadError>| match read {
            Ok(bytes) if bytes == INSIDE.as_bytes() => "read",
            Ok(_) => "LEAKED",
            Err(error) => error.code(),
        };
        let by_help = told(self.beneath.read_file(name, 1_000));
        let relative = self.beneath.relative_path(name);
        let walked = relative.and_then(|name| self.beneath.open_by_walking(&name));
        let by_hand = walked
            .map_err(|errno| self.beneath.to_read_error(name, errno))
            .map(File::from);
        let by_hand = match by_hand {
            Err(error) => error.code(),
            Ok(mut file) if file.metadata().unwrap().is_file() => {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).unwrap();
                if by_help == "E_FILE_SANDBOX" && file.metadata().unwrap().nlink() > 1 {
                    by_help
                } else {
                    told(Ok(bytes))
                }
            }
            Ok(_) => "E_FILE_SANDBOX",
        };
        assert_eq!(by_help, by_hand, "{name:?}");
        by_help
    }
}

#[test]
fn files_inside_are_read_however_they_are_named() {
    let place = ScopedReadFixture::new();
    place.link("near", "a.txt");
    place.link("folder", "src");
    place.link("src/up", "../a.txt");
    place.link("whole", place.root().join("src/b.txt"));
    place.link("chain", "near");
    place.link("src/deep/roundabout", "../../folder/../a.txt");
    fs::write(place.root().join("%2e%2e"), INSIDE).unwrap();
    fs::write(place.root().join("..\\secret"), INSIDE).unwrap();
    fs::write(place.root().join("...."), INSIDE).unwrap();
    let whole = place.root().join("src/b.txt").display().to_string();
    for name in [
        "a.txt",
        "./a.txt",
        "src/b.txt",
        "src//b.txt",
        "src/../a.txt",
        "src/./deep/../b.txt",
        "near",
        "folder/b.txt",
        "src/up",
        "whole",
        "chain",
        "src/deep/roundabout",
        "%2e%2e",
        "..\\secret",
        "....",
        whole.as_str(),
    ] {
        assert_eq!(place.read_outcome(name), "read", "{name:?}");
    }
}

#[test]
fn whatever_leads_out_is_refused() {
    let place = ScopedReadFixture::new();
    let folder = place.folder.path().canonicalize().unwrap();
    place.link("out", folder.join("secret"));
    place.link("relative-out", "../secret");
    place.link("out-folder", &folder);
    place.link("src/evil", folder.join("proj-evil"));
    place.link("system", "/proc/self/cwd");
    place.link("passwd", "/etc/passwd");
    place.link("chain", "out");
    let evil = folder.join("proj-evil/a.txt").display().to_string();
    let up = format!("{}/../secret", place.root().display());
    for name in [
        "../secret",
        "src/../../secret",
        "/etc/passwd",
        "out",
        "relative-out",
        "out-folder/secret",
        "out-folder/../x",
        "out-folder/proj/a.txt",
        "src/evil/a.txt",
        "system/secret",
        "passwd",
        "chain",
        "../proj-evil/a.txt",
        "../proj/a.txt",
        evil.as_str(),
        up.as_str(),
        "/",
        "..",
    ] {
        assert_eq!(place.read_outcome(name), "E_FILE_SANDBOX", "{name:?}");
    }
}

#[test]
fn what_is_no_file_of_one_name_is_refused_at_once() {
    let place = ScopedReadFixture::new();
    nix::unistd::mkfifo(&place.root().join("pipe"), Mode::S_IRWXU).unwrap();
    // Nothing listens there, so the address may have any length.
    nix::sys::stat::mknod(
        &place.root().join("socket"),
        nix::sys::stat::SFlag::S_IFSOCK,
        Mode::S_IRWXU,
        0,
    )
    .unwrap();
    fs::hard_link(
        place.folder.path().join("secret"),
        place.root().join("hard"),
    )
    .unwrap();
    place.link("to-pipe", "pipe");
    place.link("circle", "circle");
    for name in [
        "pipe", "socket", "hard", "to-pipe", "circle", "src", "src/", ".", "./", "src/..",
    ] {
        assert_eq!(place.read_outcome(name), "E_FILE_SANDBOX", "{name:?}");
    }
    for name in [
        "",
        "gone",
        "a.txt/x",
        "a.txt\0",
        "a\0../secret",
        "%2e%2e/secret",
        "..\\secret",
        "....//secret",
        "a.txt/",
    ] {
        assert_eq!(place.read_outcome(name), "E_FILE_NOT_FOUND", "{name:?}");
    }
    assert_eq!(place.read_outcome(&"x".repeat(300)), "E_FILE_NOT_FOUND");
}

#[test]
fn what_is_no_text_is_refused_and_with_it_all() {
    let place = ScopedReadFixture::new();
    fs::write(place.root().join("zero"), "a\0b").unwrap();
    fs::write(place.root().join("latin"), b"caf\xe9").unwrap();
    let read = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        place.beneath.read_texts(&names, ReadLimits::default())
    };
    let texts = read(&["a.txt", "src/b.txt"]).unwrap();
    assert!(texts.iter().all(|text| text.text == INSIDE));
    for name in ["zero", "latin"] {
        assert_eq!(
            read(&["a.txt", name]).unwrap_err().code(),
            "E_FILE_NOT_TEXT"
        );
    }
}

#[test]
fn limits_count_what_is_exactly_at_them() {
    let place = ScopedReadFixture::new();
    fs::write(place.root().join("ten"), [b'x'; 10]).unwrap();
    fs::write(place.root().join("eleven"), [b'x'; 11]).unwrap();
    let sparse = File::create(place.root().join("sparse")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let limits = ReadLimits {
        max_files: 3,
        max_file_bytes: 10,
        max_total_bytes: 25,
    };
    let read = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        match place.beneath.read_all(&names, limits) {
            Ok(all) => format!("{} files", all.len()),
            Err(error) => format!("{} {error}", error.code()),
        }
    };
    assert_eq!(read(&["ten", "ten"]), "2 files");
    assert_eq!(read(&[]), "0 files");
    assert_eq!(
        read(&["eleven"]),
        "E_FILE_TOO_LARGE \"eleven\" has 11 bytes, but a file can have at most 10"
    );
    assert_eq!(
        read(&["ten", "ten", "ten"]),
        "E_FILE_TOTAL_TOO_LARGE with \"ten\" the named files have 30 bytes, but at most 25 can be read at once"
    );
    assert_eq!(
        read(&["ten"; 4]),
        "E_FILE_TOO_MANY 4 files were named, but at most 3 can be read at once"
    );
    assert!(
        read(&["ten", "sparse"]).starts_with("E_FILE_TOO_LARGE \"sparse\" has 1099511627776 bytes")
    );
    assert!(read(&["ten", "gone"]).starts_with("E_FILE_NOT_FOUND"));
}

/// Alternates a good and a bad entry at a path, until it is stopped.
fn swap(root: &Path, name: &str, put: [&(dyn Fn(&Path) + Sync); 2], stop: &AtomicBool) {
    for round in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let aside = root.join(format!("aside-{round}"));
        put[round % 2](&aside);
        let target = root.join(name);
        // A rename does not replace a directory, so it is moved away first.
        if fs::rename(&aside, &target).is_err() {
            let away = root.join(format!("away-{round}"));
            fs::rename(&target, &away).unwrap();
            fs::rename(&aside, &target).unwrap();
        }
    }
}

fn race(name: &str, read: &str, put: [&(dyn Fn(&Path) + Sync); 2], place: &ScopedReadFixture) {
    const ROUNDS: usize = 2_000;
    let stop = AtomicBool::new(false);
    let (mut n_read, mut n_leaked) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| swap(place.root(), name, put, &stop));
        // The other side may not have started yet when all rounds are over.
        for round in 0..500 * ROUNDS {
            if round >= ROUNDS && n_read > 0 {
                break;
            }
            let bytes = match round % 2 {
                0 => place.beneath.read_file(read, 1_000).ok(),
                _ => place
                    .beneath
                    .open_by_walking(Path::new(read))
                    .ok()
                    .map(|opened| {
                        let mut bytes = Vec::new();
                        let reading = File::from(opened).read_to_end(&mut bytes);
                        if reading.is_ok() { bytes } else { Vec::new() }
                    }),
            };
            n_read += usize::from(bytes.as_deref() == Some(INSIDE.as_bytes()));
            n_leaked += usize::from(bytes.is_some_and(|bytes| bytes == OUTSIDE.as_bytes()));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(n_leaked, 0, "{read}");
    assert!(n_read > 0, "{read}: what is inside is read now and then");
}

#[test]
fn a_file_swapped_for_a_link_leaks_nothing() {
    let place = ScopedReadFixture::new();
    let secret = place.folder.path().join("secret");
    let good = |aside: &Path| fs::write(aside, INSIDE).unwrap();
    let bad = |aside: &Path| symlink(&secret, aside).unwrap();
    race("swapped", "swapped", [&good, &bad], &place);
    let bad = |aside: &Path| symlink("../secret", aside).unwrap();
    race("again", "src/../again", [&good, &bad], &place);
}

#[test]
fn a_folder_swapped_for_a_link_leaks_nothing() {
    let place = ScopedReadFixture::new();
    let evil = place.folder.path().join("proj-evil");
    let good = |aside: &Path| {
        fs::create_dir(aside).unwrap();
        fs::write(aside.join("a.txt"), INSIDE).unwrap();
    };
    let bad = |aside: &Path| symlink(&evil, aside).unwrap();
    race("folder", "folder/a.txt", [&good, &bad], &place);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(128))]

    #[test]
    fn no_mix_of_names_links_and_ways_up_leads_out(
        links in proptest::collection::vec((0..LINKS.len(), 0..TARGETS.len()), 0..4),
        steps in proptest::collection::vec(0..STEPS.len(), 1..8),
        from in 0..3_usize,
    ) {
        let place = ScopedReadFixture::new();
        let folder = place.folder.path().canonicalize().unwrap();
        for (name, target) in links {
            let target = TARGETS[target].replace("FOLDER", &folder.display().to_string());
            // A name may occur twice.
            let _there = symlink(target, place.root().join(LINKS[name]));
        }
        let way = steps.iter().map(|step| STEPS[*step]).collect::<Vec<_>>().join("/");
        let name = match from {
            0 => way,
            1 => format!("{}/{way}", place.root().display()),
            _ => format!("{}/{way}", folder.display()),
        };
        // Only what is inside is read, whatever it is called; `read_outcome` reads in both ways.
        let told = place.read_outcome(&name);
        proptest::prop_assert!(told != "LEAKED", "{}", name);
    }
}

const LINKS: [&str; 3] = ["near", "src/far", "src/deep/up"];
/// Where links lead; FOLDER is the one that contains the project.
const TARGETS: [&str; 7] = [
    "..",
    "../..",
    "FOLDER",
    "FOLDER/secret",
    "FOLDER/proj-evil",
    "/",
    "a.txt",
];
/// Components of a path.
const STEPS: [&str; 12] = [
    "..",
    ".",
    "src",
    "deep",
    "a.txt",
    "b.txt",
    "near",
    "far",
    "up",
    "secret",
    "proj",
    "proj-evil",
];
