//! Tests `agent-collab verify`: in the run's repository, in a clone of it, and after something was changed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::repository::{commit_all, git};
use crate::script::{Agent, say, write};
use crate::world::{PROGRAM, World, wait_until};

const PLAN: &str = "# Task: Products\n\n## Goal\nA product.\n\n## Steps\n1. [ ] Multiply\n   Files: src/**, test/**\n   Test first: test/product.test.js\n";
const SUM: &str = "export const sum = (a, b) => a + b;\n";
const PRODUCT: &str = "export const product = (a, b) => a * b;\n";
const PRODUCT_TEST: &str = "import test from 'node:test';\nimport assert from 'node:assert';\nimport * as sums from '../src/sum.js';\n\ntest('multiplies', () => {\n  assert.equal(sums.product(2, 3), 6);\n});\n";

const RUN_FLAGS: [&str; 4] = ["-s", "test.max_fix_turns=0", "--mode", "yolo"];

/// A repository with a run of one step, which is proven by a new test. Its old test needs the file that is returned,
/// which lies outside of the repository.
fn proven_run() -> (World, PathBuf) {
    let (world, needed) = unproven_project();
    world.run(&RUN_FLAGS).ends(0);
    (world, needed)
}

/// The same before the run.
fn unproven_project() -> (World, PathBuf) {
    let mut world = World::new();
    world.proves_steps = true;
    world.config = "[test]\ndefault_command = \"npm test\"\n".to_owned();
    let needed = world.written_by_tests("needed");
    fs::write(&needed, "").expect("a file");
    let sum_test = format!(
        "import test from 'node:test';\nimport assert from 'node:assert';\nimport fs from 'node:fs';\nimport {{ sum }} from '../src/sum.js';\n\n\
         test('adds', () => {{\n  assert.ok(fs.existsSync({needed:?}));\n  assert.equal(sum(1, 2), 3);\n}});\n"
    );
    let package =
        "{\"name\":\"sums\",\"type\":\"module\",\"scripts\":{\"test\":\"node --test\"}}\n";
    for (path, text) in [
        ("package.json", package),
        ("src/sum.js", SUM),
        ("test/sum.test.js", &sum_test),
    ] {
        world.put(path, text);
    }
    commit_all(&world.root, "project");
    let actions = vec![
        write("src/sum.js", &format!("{SUM}{PRODUCT}")),
        write("test/product.test.js", PRODUCT_TEST),
        say("The step is complete."),
    ];
    let agent = Agent::new().plan(PLAN).step(1, actions);
    world.cast(&agent, &Agent::approving());
    (world, needed)
}

/// Runs `verify` in a folder; returns its exit code and what it printed on standard output.
pub fn verify_in(world: &World, folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = world.command(&[&["verify"], arguments].concat());
    let output = command.current_dir(folder).output().expect("the program");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), text)
}

/// Clones the repository, only with objects that a commit holds.
fn clone(world: &World, name: &str) -> PathBuf {
    let clone = world.folder.join(name);
    let (from, to) = (
        world.root.display().to_string(),
        clone.display().to_string(),
    );
    git(
        &world.folder,
        &["clone", "--quiet", "--no-local", &from, &to],
    );
    clone
}

/// Gives a clone the receipts and the run's state, too.
fn clone_with_receipts(world: &World, name: &str) -> PathBuf {
    let clone = clone(world, name);
    let copied = Command::new("cp")
        .arg("-a")
        .arg(world.root.join(".agent-collab"))
        .arg(clone.join(".agent-collab"))
        .status();
    assert!(copied.is_ok_and(|status| status.success()), "cp");
    clone
}

/// The receipts of a clone's run, in order.
pub fn receipts(clone: &Path) -> Vec<PathBuf> {
    let below = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("folder").flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let runs = below(&clone.join(".agent-collab/receipts"));
    let mut files = below(&runs[0]);
    files.retain(|path| path.is_file());
    files
}

/// Changes the last byte of a file that is not its end of line.
pub fn change_byte(path: &Path) {
    let mut bytes = fs::read(path).expect("bytes");
    let at = bytes.iter().rposition(u8::is_ascii_alphanumeric);
    let byte = &mut bytes[at.expect("a word")];
    *byte = if *byte == b'0' { b'1' } else { b'0' };
    fs::write(path, bytes).expect("file");
}

/// Gives the last commit of a clone another message.
fn amend(clone: &Path, message: &str) {
    git(clone, &["config", "user.name", "Test"]);
    git(clone, &["config", "user.email", "test@example.invalid"]);
    git(
        clone,
        &["commit", "--quiet", "--amend", "--message", message],
    );
}

#[test]
fn a_proof_command_proves_a_step_where_only_exit_codes_are_known() {
    let mut world = World::new();
    world.proves_steps = true;
    world.config = "[test]\ndefault_command = \"sh ci/all.sh\"\n".to_owned();
    world.put("sum.sh", "echo $(($1 + $2))\n");
    world.put("ci/check_sum.sh", "[ \"$(sh sum.sh 2 3)\" = 5 ]\n");
    let all = "for check in ci/check_*.sh; do\n  sh \"$check\" || exit 1\ndone\n";
    world.put("ci/all.sh", all);
    commit_all(&world.root, "project");
    let plan = "# Task: Products\n\n## Steps\n1. [ ] Multiply\n   Files: product.sh, ci/check_product.sh\n   Proof: sh ci/check_product.sh\n";
    let actions = vec![
        write("product.sh", "echo $(($1 * $2))\n"),
        write("ci/check_product.sh", "[ \"$(sh product.sh 2 3)\" = 6 ]\n"),
        say("The step is complete."),
    ];
    let agent = Agent::new().plan(plan).step(1, actions);
    world.cast(&agent, &Agent::approving());
    let ran = world.run(&["-s", "test.max_fix_turns=0", "--mode", "yolo"]);
    ran.ends(0).says("1 of 1 proven");
    let clone = clone_with_receipts(&world, "clone");
    let (code, text) = verify_in(&world, &clone, &["--rerun"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("run again: 6 of 6 checks, 6 with the same"),
        "{text}"
    );
}

#[test]
fn the_checks_of_a_proven_run_are_the_same_when_they_run_again() {
    let (world, _needed) = proven_run();
    world.program(&["verify"]).ends(0).says("step 1  proven");
    let again = world.program(&["verify", "--rerun"]);
    again
        .ends(0)
        .says("run again: 4 of 4 checks, 4 with the same result")
        .complains("step 1 red `npm test`: the same");
    // In a clone red and kept are in no commit: they are built again.
    let clone = clone_with_receipts(&world, "clone");
    for arguments in [
        &["--rerun", "--json"][..],
        &["HEAD~..", "--rerun", "--json"],
    ] {
        let (code, text) = verify_in(&world, &clone, arguments);
        assert_eq!(code, Some(0), "{arguments:?}");
        let report: Value = serde_json::from_str(&text).expect("JSON");
        let reruns = report["runs"][0]["reruns"].as_array().expect("reruns");
        let told: Vec<String> = reruns
            .iter()
            .map(|rerun| format!("{} {}", rerun["cell"], rerun["result"]))
            .collect();
        let expected =
            ["baseline", "red", "green", "kept"].map(|cell| format!("\"{cell}\" \"same\""));
        assert_eq!(told, expected);
    }
    let left = fs::read_dir(world.folder.join("home/.cache/agent-collab/worktrees"));
    for folder in left.expect("the cache").flatten() {
        let names = fs::read_dir(folder.path()).into_iter().flatten().flatten();
        let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        let is_copy = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("verify-");
        assert!(!names.iter().any(is_copy), "{names:?}");
    }
}

#[test]
fn a_check_with_another_result_is_a_break() {
    let (world, needed) = proven_run();
    fs::remove_file(needed).expect("file");
    world.program(&["verify"]).ends(0);
    world
        .program(&["verify", "--rerun"])
        .ends(7)
        .says("run again, the green check of step 1 is another")
        .says("test/sum.test.js: adds passed then, and failed now");
}

#[test]
fn what_was_changed_afterwards_is_named() {
    let (world, _needed) = proven_run();
    let check = |name: &str, change: &dyn Fn(&Path), expected: &str| {
        let clone = clone_with_receipts(&world, name);
        change(&clone);
        let (code, text) = verify_in(&world, &clone, &[]);
        assert_eq!(code, Some(7), "{name}");
        assert!(
            text.contains(expected),
            "{name}: no `{expected}` in\n{text}"
        );
        // What a broken chain names is not run.
        let (code, text) = verify_in(&world, &clone, &["--rerun"]);
        assert_eq!(code, Some(7), "{name}");
        assert!(!text.contains("run again: 4 of 4"), "{name}: {text}");
    };
    check(
        "receipt",
        &|clone| change_byte(&receipts(clone)[2]),
        "receipt 3",
    );
    check(
        "output",
        &|clone| {
            let folder = receipts(clone)[0].with_file_name("outputs");
            let output = fs::read_dir(folder).expect("outputs").flatten().next();
            change_byte(&output.expect("an output").path());
        },
        " was changed",
    );
    check(
        "commit",
        &|clone| {
            git(clone, &["config", "user.name", "Test"]);
            git(clone, &["config", "user.email", "test@example.invalid"]);
            fs::write(clone.join("src/sum.js"), SUM).expect("file");
            git(
                clone,
                &["commit", "--quiet", "--all", "--amend", "--message", "x"],
            );
        },
        "it was amended or rewritten",
    );
    for name in ["Step", "Receipt", "Plan"] {
        let trailer = format!("Agent-Collab-{name}: ");
        let amended = &|clone: &Path| {
            let message = git(clone, &["log", "-1", "--format=%B"]);
            let at = message.find(&trailer).expect("the trailer") + trailer.len();
            let flipped = if message[at..].starts_with('0') {
                "9"
            } else {
                "0"
            };
            let message = [&message[..at], flipped, &message[at + 1..]].concat();
            amend(clone, &message);
        };
        let named = match name {
            "Receipt" => "names the receipt ".to_owned(),
            _ => format!(" says `{trailer}"),
        };
        check(name, amended, &named);
        let clone = world.folder.join(name);
        let (code, text) = verify_in(&world, &clone, &["HEAD~..HEAD"]);
        assert_eq!(code, Some(7), "{name}: {text}");
        assert!(text.contains(&named), "{name}: no `{named}` in\n{text}");
    }
    check(
        "last",
        &|clone| {
            let last = receipts(clone).pop().expect("a receipt");
            fs::remove_file(last).expect("file");
        },
        "the log names another head of the chain",
    );
}

#[test]
fn the_job_for_ci_verifies_a_clone_by_its_notes() {
    let (world, _needed) = proven_run();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ci");
    let script = examples.join("verify.sh");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/verify-in-ci.md");
    let page = fs::read_to_string(page).expect("the page");
    let lines = fs::read_to_string(&script).expect("the script");
    for line in lines.lines().filter(|line| line.starts_with("git fetch")) {
        assert!(page.contains(line), "{line}");
    }
    let programs = world.folder.join("programs");
    fs::create_dir(&programs).expect("folder");
    symlink(PROGRAM, programs.join("agent-collab")).expect("a link");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", programs.display());
    let clone = clone(&world, "ci");
    let job = || {
        let mut command = world.shell(&format!("sh {}", script.display()));
        let output = command.current_dir(&clone).env("PATH", &path).output();
        let output = output.expect("sh");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text + &errors)
    };
    let (code, text) = verify_in(&world, &clone, &["origin/main..HEAD"]);
    assert_eq!(code, Some(1), "{text}");
    let (code, text) = job();
    assert_eq!(code, Some(0), "{text}");
    for words in [
        "step 1  proven",
        "output not here, only its hashes",
        "run again: 4 of 4 checks, 4 with the same result",
    ] {
        assert!(text.contains(words), "no `{words}` in\n{text}");
    }
    // A note of one commit that somebody changes.
    let note = world.git(&["notes", "--ref=agent-collab", "show", "HEAD"]);
    let changed = note.replacen("loopback", "lookback", 1);
    assert_ne!(changed, note);
    let file = world.folder.join("note");
    fs::write(&file, changed).expect("file");
    let file = file.display().to_string();
    let notes = [
        "notes",
        "--ref=agent-collab",
        "add",
        "--force",
        "--file",
        &file,
    ];
    world.git(&notes);
    let (code, text) = job();
    assert_eq!(code, Some(7), "{text}");
    assert!(text.contains("the hash that it names"), "{text}");
    // Where the receipts are, they and the note differ.
    world
        .program(&["verify"])
        .ends(7)
        .says("the notes have another receipt with this number");
}

#[test]
fn a_kill_between_the_checks_of_a_step_leaves_a_whole_chain() {
    let (world, _needed) = unproven_project();
    let running = world.start_run(&RUN_FLAGS);
    // Wherever it is from then on, what follows is the same.
    wait_until("the second check has a receipt", || {
        let runs = fs::read_dir(world.root.join(".agent-collab/receipts"));
        let mut runs = runs.into_iter().flatten().flatten();
        runs.any(|run| run.path().join("0003.json").is_file())
    });
    running.signal("KILL");
    running.wait();
    let resume = ["resume", "--auto", "--yes-execute", "--on-step", "done"];
    world
        .program(&[&resume[..], &RUN_FLAGS[..2]].concat())
        .ends(0);
    world.program(&["verify"]).ends(0).says("step 1  proven");
    fs::remove_dir_all(world.root.join(".agent-collab/receipts")).expect("the receipts");
    let (code, text) = verify_in(&world, &world.root, &["main..HEAD"]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn without_receipts_there_is_nothing_to_read() {
    let world = World::new();
    for arguments in [&[][..], &["HEAD..HEAD"]] {
        let (code, text) = verify_in(&world, &world.root, arguments);
        assert_eq!((code, text.as_str()), (Some(1), ""), "{arguments:?}");
    }
}
