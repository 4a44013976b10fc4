//! Checks what the documents mention: names, links, versions and commands must exist.
//!
//! It does not check wording, only what a machine can prove wrong.

use std::collections::BTreeSet;
use std::path::Path;

use agent_collab::adapter::adapter_entry;
use agent_collab::adapter::cli_capabilities::CliProbe;
use agent_collab::domain::adapter_kind::AdapterKind;
use assert_cmd::Command;
use regex::Regex;
use strum::IntoEnumIterator;

use crate::{files_below, none, read, root};

/// Folders whose Markdown is not ours, or is data.
const NOT_OURS: [&str; 6] = [
    "target",
    "node_modules",
    ".git",
    "fixtures",
    "history",
    "prompts",
];

fn help(arguments: &[&str]) -> String {
    let output = Command::cargo_bin("agent-collab")
        .unwrap()
        .args(arguments)
        .arg("--help")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The sub-commands that the program lists.
fn sub_commands() -> Vec<String> {
    listed_commands(&help(&[]))
}

/// The names below `Commands:` in a help text.
fn listed_commands(help: &str) -> Vec<String> {
    let list = help.split_once("Commands:\n").map_or("", |(_, list)| list);
    let list = list.split("\n\n").next().unwrap_or_default();
    let name = Regex::new(r"(?m)^  ([a-z][a-z-]*)").unwrap();
    name.captures_iter(list)
        .map(|captures| captures[1].to_owned())
        .filter(|name| name != "help")
        .collect()
}

/// The long flags that a sub-command lists.
fn flags(arguments: &[&str]) -> BTreeSet<String> {
    let flag = Regex::new(r"(?m)^\s+(?:-\w, )?(--[a-z][a-z-]*)").unwrap();
    flag.captures_iter(&help(arguments))
        .map(|captures| captures[1].to_owned())
        .collect()
}

/// Every path of sub-commands that the program lists, such as `permissions explain`.
fn command_paths() -> Vec<Vec<String>> {
    let mut paths = vec![Vec::new()];
    let mut open = paths.clone();
    while let Some(path) = open.pop() {
        let arguments: Vec<&str> = path.iter().map(String::as_str).collect();
        for name in listed_commands(&help(&arguments)) {
            let below: Vec<String> = path.iter().cloned().chain([name]).collect();
            open.push(below.clone());
            paths.push(below);
        }
    }
    paths
}

#[test]
fn the_manual_pages_and_completions_have_every_flag_of_the_help() {
    let folder = tempfile::tempdir().unwrap();
    Command::cargo_bin("agent-collab")
        .unwrap()
        .args(["man", "--dir"])
        .arg(folder.path())
        .assert()
        .success();
    let file = |name: &str| {
        std::fs::read_to_string(folder.path().join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let completions = ["agent-collab.bash", "_agent-collab", "agent-collab.fish"].map(file);
    let paths = command_paths();
    assert!(paths.len() > 30, "{paths:?}");
    let mut complaints = Vec::new();
    for path in &paths {
        let arguments: Vec<&str> = path.iter().map(String::as_str).collect();
        let page = format!(
            "{}.1",
            [&["agent-collab"], arguments.as_slice()].concat().join("-")
        );
        // In a page a hyphen is `\-`.
        let text = file(&page).replace("\\-", "-");
        for flag in flags(&arguments) {
            if !text.contains(&flag) {
                complaints.push(format!("{page} does not tell of {flag}"));
            }
            // fish writes a flag without its hyphens.
            let name = flag.trim_start_matches('-');
            let lacks = completions
                .iter()
                .any(|completion| !completion.contains(name));
            if lacks {
                complaints.push(format!("a completion does not know {flag} of {page}"));
            }
        }
    }
    none(&complaints, "both come from the definition in src/cli.rs");
}

#[test]
fn the_readme_names_one_command_for_the_main_job_and_one_for_the_tests() {
    let readme = read("README.md");
    let lines: BTreeSet<&str> = readme.lines().collect();
    for command in ["cargo run --release -- demo", "tests/run"] {
        assert!(lines.contains(command), "README.md has no line `{command}`");
    }
    assert!(root().join("tests/run").is_file());
}

/// README.md and all pages of `docs/`.
fn manual() -> String {
    let pages = files_below("docs", &[]);
    let pages = pages
        .iter()
        .filter(|page| page.extension().is_some_and(|extension| extension == "md"));
    let pages = pages.map(|page| read(&page.to_string_lossy()));
    pages.fold(read("README.md"), |manual, page| manual + "\n" + &page)
}

#[test]
fn the_manual_describes_every_sub_command_and_every_flag_of_a_run() {
    let manual = manual();
    let commands = sub_commands();
    let missing = commands
        .iter()
        .filter(|name| !manual.contains(&format!("agent-collab {name}")));
    let mut complaints: Vec<String> = missing
        .map(|name| format!("neither README.md nor docs/ describes `agent-collab {name}`"))
        .collect();
    assert!(
        commands.iter().any(|name| name == "run"),
        "--help lists no `run`: {commands:?}"
    );
    let flags = flags(&["run"]);
    let undescribed = flags
        .iter()
        .filter(|flag| *flag != "--help" && !manual.contains(flag.as_str()));
    complaints
        .extend(undescribed.map(|flag| {
            format!("neither README.md nor docs/ describes `agent-collab run {flag}`")
        }));
    none(
        &complaints,
        "describe it in docs/, flags in docs/headless.md",
    );
}

#[test]
fn the_readme_links_to_every_page_of_the_documents_and_fits_on_150_lines() {
    let readme = read("README.md");
    let n_lines = readme.lines().count();
    assert!(
        n_lines <= 150,
        "README.md has {n_lines} lines; details belong into docs/"
    );
    let complaints: Vec<String> = files_below("docs", &[])
        .iter()
        .map(|page| page.display().to_string())
        .filter(|page| !readme.contains(&format!("]({page})")))
        .map(|page| format!("README.md has no link to {page}"))
        .collect();
    none(&complaints, "add it to the table of pages");
}

#[test]
fn the_readme_names_the_versions_that_the_program_asks_for() {
    let readme = read("README.md");
    for kind in AdapterKind::iter() {
        if let CliProbe::Version(probe) = &adapter_entry(kind).traits.probe {
            let command = probe.install;
            assert!(readme.contains(command), "README.md lacks `{command}`");
        }
    }
    let manifest: toml::Table = toml::from_str(&read("Cargo.toml")).unwrap();
    let rust = manifest["package"]["rust-version"].as_str().unwrap();
    assert!(
        readme.contains(&format!("Rust {rust}")),
        "README.md does not name Rust {rust}, Cargo.toml's rust-version"
    );
}

#[test]
fn every_local_link_leads_somewhere() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut complaints = Vec::new();
    for file in files_below("", &NOT_OURS) {
        if file.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let folder = file.parent().unwrap_or(Path::new(""));
        for (n, line) in read(&file.to_string_lossy()).lines().enumerate() {
            for captures in link.captures_iter(line) {
                let target = captures[1].split('#').next().unwrap_or_default();
                let is_local =
                    !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:");
                if is_local && !root().join(folder).join(target).exists() {
                    complaints.push(format!(
                        "{}:{}: {target} does not exist",
                        file.display(),
                        n + 1
                    ));
                }
            }
        }
    }
    none(&complaints, "fix the link or write what it promises");
}

#[test]
fn every_picture_that_the_readme_shows_is_there_for_a_dark_and_for_a_light_page() {
    let readme = read("README.md");
    let image = Regex::new(r#"src="assets/screens/dark/([a-z0-9-]+\.png)""#).unwrap();
    let pictures: Vec<&str> = image
        .captures_iter(&readme)
        .filter_map(|captures| Some(captures.get(1)?.as_str()))
        .collect();
    assert!(pictures.len() > 8, "README.md shows {pictures:?}");
    let is_missing = |picture: &&&str| {
        let light = format!("assets/screens/light/{picture}");
        let is_named = readme.contains(&format!(
            "(prefers-color-scheme: light)\" srcset=\"{light}\""
        ));
        let is_there = |path: &str| root().join(path).exists();
        !is_named || !is_there(&light) || !is_there(&format!("assets/screens/dark/{picture}"))
    };
    let missing: Vec<String> = pictures
        .iter()
        .filter(is_missing)
        .map(|picture| format!("README.md: {picture} is not there for both"))
        .collect();
    none(
        &missing,
        "assets/screens/make takes pictures for both grounds",
    );
}

#[test]
fn every_path_in_the_map_exists() {
    let path = Regex::new(r"`((?:src|tests|prompts|docs|assets|\.ci)/[\w./-]*)`").unwrap();
    let mut complaints = Vec::new();
    for file in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        for (n, line) in read(file).lines().enumerate() {
            let gone = path
                .captures_iter(line)
                .filter(|captures| !root().join(&captures[1]).exists());
            complaints.extend(
                gone.map(|captures| format!("{file}:{}: {} does not exist", n + 1, &captures[1])),
            );
        }
    }
    none(&complaints, "a path in backticks is a promise");
}

#[test]
fn the_architecture_fits_on_two_hundred_and_twenty_lines() {
    let n_lines = read("ARCHITECTURE.md").lines().count();
    assert!(
        n_lines <= 220,
        "ARCHITECTURE.md has {n_lines} lines; say it shorter, or in the code"
    );
}

#[test]
fn there_is_a_prompt_for_each_kind_of_turn_and_one_for_a_lost_session() {
    let names: Vec<String> = files_below("prompts", &[])
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let wanted = [
        "01_refine_goal",
        "02_write_plan",
        "03_review",
        "04_respond",
        "05_execute",
        "06_recover_context",
        "07_discuss",
        "08_judge",
        "09_review_again",
    ];
    assert_eq!(names, wanted.map(|name| format!("prompts/{name}.md")));
}

#[test]
fn the_usual_documents_are_there() {
    let is_missing = |name: &&&str| !root().join(name).is_file();
    let names = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
    ];
    let missing: Vec<String> = names
        .iter()
        .filter(is_missing)
        .map(|name| (*name).to_owned())
        .collect();
    none(
        &missing,
        "every one of them is promised by README.md or Cargo.toml",
    );
    assert!(read("CHANGELOG.md").contains("## Unreleased"));
}

#[test]
fn the_run_files_of_this_repository_are_ignored_and_its_settings_are_not() {
    let is_ignored = |path: &str| {
        let status = std::process::Command::new("git")
            .current_dir(root())
            .args(["check-ignore", "-q", path])
            .status();
        status.unwrap().success()
    };
    if !root().join(".git").exists() {
        return;
    }
    for path in [
        "state.json",
        "plan.md",
        "sessions/x/raw.jsonl",
        "history/x/plan.md",
    ] {
        assert!(
            is_ignored(&format!(".agent-collab/{path}")),
            "{path} is not ignored"
        );
    }
    for path in [".gitignore", "config.toml", "prompts/03_review.md"] {
        assert!(
            !is_ignored(&format!(".agent-collab/{path}")),
            "{path} is ignored"
        );
    }
}
