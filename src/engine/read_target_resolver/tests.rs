//! Tests decisions about calls in a repository on the disk, with the files that they read.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::*;
use crate::permission::{
    Mode, PhaseAccess, ProfileDefinition, Rule, RuleLayer, RuleOrigin, SandboxReach, decide_call,
};

struct ReadTestRepo {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

/// Creates a repository with secrets, and a link to a home folder outside of it.
fn place() -> ReadTestRepo {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let root = base.join("repo");
    let files = [
        ("home/.ssh/id_rsa", "key"),
        ("repo/.env", "SECRET=1"),
        ("repo/src/a.rs", "fn a() {}"),
        ("repo/src/web/.env.local", "SECRET=2"),
        ("repo/docs/b.md", "text"),
    ];
    for (name, text) in files {
        let path = base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    symlink(base.join("home"), root.join("linkhome")).unwrap();
    symlink(root.join(".env"), root.join("docs/config")).unwrap();
    fs::create_dir(root.join(".git")).unwrap();
    let mut index = b"DIRC\0\0\0\x02".to_vec();
    index.extend(b".env\0docs/b.md\0");
    fs::write(root.join(".git/index"), index).unwrap();
    ReadTestRepo {
        _folder: folder,
        root,
    }
}

fn decided(place: &ReadTestRepo, line: &str, access: PhaseAccess) -> String {
    let call = AgentToolCall::Command {
        line: line.to_owned(),
        cwd: place.root.clone(),
        reach: SandboxReach::Contained,
    };
    let context = with_read_paths(&call, DecisionContext::new(access, place.root.clone()));
    let decision = decide_call(&call, &context);
    format!("{} {}", decision.action.name(), decision.reason.reason)
}

fn check(access: PhaseAccess, lines: &[&str], expected: &str) {
    let place = place();
    let wrong: Vec<String> = lines
        .iter()
        .map(|line| format!("{line}: {}", decided(&place, line, access)))
        .filter(|told| !told.contains(expected))
        .collect();
    assert!(wrong.is_empty(), "not {expected}:\n{}", wrong.join("\n"));
}

#[test]
fn before_execute_a_link_that_leads_out_is_not_followed() {
    let lines = [
        "cat linkhome/.ssh/id_rsa",
        "ls linkhome",
        "ls linkhome/",
        "grep -r key linkhome",
        "grep -R key .",
        "rg -L key",
        "find -L . -name id_rsa",
        "cat */.ssh/*",
        "cd linkhome && ls",
        "head -c 9 < linkhome/.ssh/id_rsa",
        "cat docs/b.md linkhome/.ssh/id_rsa",
        "for f in linkhome/.ssh/*; do cat \"$f\"; done",
        "git diff --no-index linkhome/.ssh/id_rsa src/a.rs",
    ];
    check(PhaseAccess::BeforeExecute, &lines, ": deny `");
    check(
        PhaseAccess::BeforeExecute,
        &lines,
        "leads out of the repository",
    );
}

#[test]
fn a_command_that_opens_what_rules_hold_back_asks_as_a_read_does() {
    let lines = [
        "cat .env",
        "cat .env.gone",
        "cat .e*",
        "grep -h SECRET .env",
        "head -1 < .env",
        "sed -n 1p .env",
        "awk '{print}' .env",
        "git show HEAD:.env",
        "git show :.env",
        "git cat-file -p HEAD:.env",
        "git log -p -- .env",
        "git diff HEAD -- .env",
        "git blame .env",
        "cat docs/config",
        "cat src/web/.env.local",
        "cat src/*/.env*",
        "for f in .e*; do cat \"$f\"; done",
        "bash -c 'cat .env'",
        "cat src/a.rs; cat .env",
        "xxd .env",
        "diff .env docs/b.md",
    ];
    for access in [PhaseAccess::BeforeExecute, PhaseAccess::Execute] {
        check(access, &lines, ": ask a rule asks for read");
    }
    let lines = [
        "base64 .env",
        "cat ./src/../.env",
        "cat .[e]nv",
        "cd src && cat ../.env",
        "python3 -c \"print(open('.env').read())\"",
        "cp .env x",
        "node -e 'require(\"fs\").readFileSync(\".env\")'",
        "cat .env > x",
        "tar cf x.tar .e*",
    ];
    check(PhaseAccess::Execute, &lines, ": ask a rule asks for read");
}

#[test]
fn a_search_that_would_meet_what_rules_hold_back_is_refused_with_words_that_would_do() {
    let lines = [
        "grep -rn SECRET .",
        "grep -r SECRET",
        "grep -rn SECRET src",
        "rg --hidden SECRET",
        "rg -uu SECRET",
        "rg -g '.env' SECRET",
        "git grep SECRET",
        "git diff",
        "git log -p",
        "git show HEAD",
        "find . -type f -exec cat {} +",
        "find . -name '.env' | xargs cat",
        "diff -r docs src",
    ];
    for access in [PhaseAccess::BeforeExecute, PhaseAccess::Execute] {
        check(
            access,
            &lines,
            "which rules on `read` hold back; leave it out with",
        );
    }
}

#[test]
fn reading_of_every_day_is_not_asked_about() {
    let lines = [
        "cat src/a.rs",
        "ls",
        "ls -la .env",
        "ls -R",
        "find . -name .env",
        "stat .env",
        "test -f .env",
        "readlink linkhome",
        "grep -rn fn docs",
        "grep -n '.env' src/a.rs",
        "grep -rn --include='*.rs' fn .",
        "grep -rn --exclude='.env*' fn .",
        "rg fn",
        "rg -n '.env' docs",
        "rg --hidden -g '!.env*' fn",
        "rg --files",
        "git status",
        "git log --oneline",
        "git log",
        "git show --stat HEAD",
        "git show HEAD:docs/b.md",
        "git diff -- docs/b.md",
        "git diff -- . ':!.env'",
        "git diff --stat",
        "find src -name '*.rs' -exec cat {} +",
        "find . -name '*.rs' | xargs grep fn",
        "for f in src/*.rs; do wc -l \"$f\"; done",
        "cat src/*.rs",
        "cat .gitignore",
    ];
    check(PhaseAccess::BeforeExecute, &lines, ": allow");
}

#[test]
fn a_tool_that_searches_is_decided_like_a_search() {
    let place = place();
    let told = |scope: SearchScope, mode: Mode| {
        let call = AgentToolCall::Read {
            paths: vec![place.root.clone()],
            search: Some(scope),
        };
        let context = DecisionContext {
            paths: vec![resolve_path(&place.root, &place.root)],
            mode,
            ..DecisionContext::new(PhaseAccess::BeforeExecute, place.root.clone())
        };
        decide_call(&call, &with_read_paths(&call, context)).action
    };
    let all = SearchScope::everything(SearchProgram::GrepTool);
    let with = |includes: &[&str], excludes: &[&str]| SearchScope {
        includes: includes.iter().map(|glob| (*glob).to_owned()).collect(),
        excludes: excludes.iter().map(|glob| (*glob).to_owned()).collect(),
        ..all.clone()
    };
    assert_eq!(told(all.clone(), Mode::Default), PermissionAction::Deny);
    assert_eq!(
        told(with(&[".env"], &[]), Mode::Default),
        PermissionAction::Deny
    );
    assert_eq!(
        told(with(&["*.{rs,md}"], &[]), Mode::Default),
        PermissionAction::Allow
    );
    assert_eq!(
        told(with(&[], &[".env*"]), Mode::Default),
        PermissionAction::Allow
    );
    assert_eq!(told(all.clone(), Mode::Yolo), PermissionAction::Allow);
    // Files that `.gitignore` excludes are not searched, until another line includes them again.
    let ignoring = SearchScope {
        ignores: true,
        ..all
    };
    fs::write(place.root.join(".gitignore"), ".env\n.env.*\n").unwrap();
    assert_eq!(
        told(ignoring.clone(), Mode::Default),
        PermissionAction::Allow
    );
    fs::write(place.root.join(".ignore"), "!.env\n").unwrap();
    assert_eq!(told(ignoring, Mode::Default), PermissionAction::Deny);
}

#[test]
fn files_that_rules_deny_are_found_for_a_sandbox_and_those_that_ask_are_left() {
    let place = place();
    let origin = RuleOrigin {
        layer: RuleLayer::Global,
        place: "config.toml:1".to_owned(),
    };
    let rules = |pattern: &str, action| {
        let profile = ProfileDefinition::built_in("build").unwrap();
        let rule = Rule::new("read", pattern, action, origin.clone());
        RuleSet::from_layers(&profile, &[rule], &[])
    };
    let denied = |rules: RuleSet| find_denied_files(&place.root, &rules);
    assert_eq!(
        denied(rules("docs/*", PermissionAction::Ask)),
        Vec::<PathBuf>::new()
    );
    let expected = [place.root.join("src/web/.env.local")];
    assert_eq!(denied(rules("*.loca[l]", PermissionAction::Deny)), expected);
}
