//! Agents write in their own work trees: their changes arrive in the user's tree as one patch, and nothing
//! else of the user's can be written from there.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::bounded::Finished;
use crate::model_server::script::{Reply, Request, Tool, Vendor};
use crate::report::Notes;
use crate::world::{USUAL, World};

/// Tries the user's tree by every way, then does what it was asked for.
fn acts(request: &Request, root: &Path) -> Reply {
    if !request
        .body
        .to_string()
        .contains("[agent-collab task general#1]")
    {
        return Reply::text("I do not understand what to do.");
    }
    let root = root.display();
    let shell = |command: &str| Tool::Shell(command.to_owned());
    // Neither names the user's tree: only the kernel can know.
    let found = "root=$(git worktree list --porcelain | head -n 1 | cut -c 10-)";
    let calls = [
        Tool::Write {
            path: format!("{root}/evil-tool.txt"),
            content: "evil\n".to_owned(),
        },
        shell(&format!("echo evil > {root}/evil-shell.txt")),
        shell(&format!(
            "git -C {root} commit --allow-empty --message evil"
        )),
        shell(&format!(
            "{found}; echo evil > $root/evil-found.txt; echo evil > $root/.git/hooks/pre-commit"
        )),
        shell(&format!(
            "{found}; git -C $root branch evil; git -C $root config user.name evil"
        )),
        shell(&format!(
            "{found}; ln -s $root way; echo evil > way/evil-link.txt; rm -f way"
        )),
        shell("git commit --allow-empty --message evil; git branch evil"),
        shell("echo 'gitdir: /nowhere' > .git"),
        Tool::Read("code.js".to_owned()),
        Tool::Edit {
            path: "code.js".to_owned(),
            old: "exports.double = (a) => a;".to_owned(),
            new: "exports.double = (a) => 2 * a;".to_owned(),
        },
        Tool::Write {
            path: "made.txt".to_owned(),
            content: "made\n".to_owned(),
        },
    ];
    match calls.get(request.n_outputs()) {
        Some(call) => Reply::call(call.clone()),
        None => Reply::text(crate::brain::done("It doubles now.")),
    }
}

fn play(notes: &mut Notes, vendor: Vendor) {
    let known: Arc<OnceLock<PathBuf>> = Arc::default();
    let root = Arc::clone(&known);
    let name = format!("writing-{}", vendor.cli());
    let world = World::create(&name, USUAL, move |request| {
        acts(
            request,
            root.get().map_or(Path::new("/nowhere"), PathBuf::as_path),
        )
    });
    known
        .set(world.repository.root().to_owned())
        .expect("the first time");
    world.configure(&format!(
        "[agents.general]\nadapter = \"{}\"\n",
        vendor.cli()
    ));
    let before = world.repository.git(&["show-ref"]);
    let task = ["task", "--agent", "general", "--json", "make it double"];
    let finished = world.program(&task);
    assert_eq!(
        finished.code(),
        0,
        "{}\n{}",
        finished.stdout,
        finished.stderr
    );
    assert_applied(&world, &finished);
    assert_nothing_evil(&world, &before);
    notes.prove(
        "edits and makes files in a work tree of its own; they come back as a patch, nothing else of the user's is written",
        vendor,
        "yes",
    );
}

fn assert_applied(world: &World, finished: &Finished) {
    let result: Value = serde_json::from_str(&finished.stdout).expect("a result");
    assert_eq!(
        result["patch"]["state"], "applied",
        "{result:#}\n{}",
        finished.stderr
    );
    let paths = result["patch"]["files"].as_array().expect("files").iter();
    let paths: Vec<_> = paths
        .map(|file| file["path"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(paths, ["code.js", "made.txt"]);
    assert!(world.repository.read("code.js").contains("(a) => 2 * a"));
    assert_eq!(world.repository.read("made.txt"), "made\n");
}

/// Of all that was tried nothing is there.
fn assert_nothing_evil(world: &World, before: &str) {
    let evil = |text: &str| text.contains("evil");
    let status = world
        .repository
        .git(&["status", "--porcelain", "--untracked-files=all"]);
    assert!(!evil(&status), "{status}");
    assert!(!evil(&world.repository.git(&[
        "log",
        "--all",
        "--format=%s"
    ])));
    assert!(!evil(
        &world.repository.git(&["config", "--local", "--list"])
    ));
    assert!(
        !world
            .repository
            .root()
            .join(".git/hooks/pre-commit")
            .exists()
    );
    let users = |refs: &str| -> Vec<String> {
        let refs = refs
            .lines()
            .filter(|line| !line.contains("refs/agent-collab/"));
        refs.map(str::to_owned).collect()
    };
    let after = world.repository.git(&["show-ref"]);
    assert_eq!(users(&after), users(before));
    assert!(!world.repository.root().join(".git/worktrees").exists());
}

/// codex writes.
pub fn codex(notes: &mut Notes) {
    play(notes, Vendor::Openai);
}

/// claude writes.
pub fn claude(notes: &mut Notes) {
    play(notes, Vendor::Anthropic);
}
