//! Judges changes of file modes and owners: who is given which rights by `chmod` and similar programs.
//!
//! The modes that the files have now are not known.

use super::Class;
use super::builtin_rules::RuleName;
use super::command_invocation::CommandInvocation;
use super::command_scene::CommandScene;
use super::path_class::{PathClass, classify_path};

const EVERYBODY: RuleName = RuleName::new("permissions.everybody");
const WORLD_WRITABLE: RuleName = RuleName::new("permissions.world-writable");
const CRITICAL: RuleName = RuleName::new("permissions.critical");
const OUTSIDE: RuleName = RuleName::new("permissions.outside");
const SET_ID: RuleName = RuleName::new("permissions.set-id");
const OPENED: RuleName = RuleName::new("permissions.keys");

/// Folders with keys, and files in them that any user may read.
const KEY_FOLDERS: &[&str] = &["~/.ssh", "~/.gnupg", "~/.aws", "~/.kube"];
const PUBLIC_KEY_FILES: &[&str] = &["config", "known_hosts", "authorized_keys"];

/// Judges programs that set modes and owners.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    match command.program.as_str() {
        "chmod" | "lchmod" => check_chmod(command, scene),
        "chown" | "chgrp" => check_owner_change(command, scene),
        "install" | "mkdir" => {
            for mode in command.arguments.option_values(&["-m", "--mode"]) {
                if class_of_mode(mode) == Class::Dangerous {
                    scene.record_rule(WORLD_WRITABLE, span);
                }
            }
        }
        _ => {}
    }
}

fn check_chmod(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    // `-x` and `-w,o+r` are modes that look like options.
    let modes = command.argument_words().iter().filter(|word| {
        let text = word.text.as_str();
        parse_mode_bits(text).is_some() || !word.is_fully_known
    });
    let Some(mode) = modes.into_iter().next() else {
        return;
    };
    if !mode.is_fully_known {
        return scene.record_rule(super::command_scene::UNKNOWN_WORDS, span);
    }
    match class_of_mode(&mode.text) {
        Class::Dangerous => scene.record_rule(EVERYBODY, span),
        Class::Confirm => scene.record_rule(WORLD_WRITABLE, span),
        Class::Safe => {}
    }
    if sets_user_id(&mode.text) {
        scene.record_rule(SET_ID, span);
    }
    check_paths(command, scene, 1);
    // A mode that keeps rights for the owner only is fine; rights for others are checked.
    let is_open = parse_mode_bits(&mode.text).is_some_and(|bits| bits & 0o077 != 0 || bits == 0)
        && !mode.text.contains('-');
    if is_open {
        check_key_access(command, scene);
    }
}

fn check_owner_change(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    check_paths(command, scene, 1);
    // `chown -R $USER ~/.ssh` returns the files to their owner.
    if command
        .arguments
        .operands
        .first()
        .is_some_and(|owner| owner.word.is_fully_known)
    {
        check_key_access(command, scene);
    }
}

fn check_key_access(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let is_recursive = command.arguments.has_option(&["-R", "--recursive"]);
    let is_key = |path: &str| {
        let path = scene.resolve_path(path);
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_public = name.ends_with(".pub") || PUBLIC_KEY_FILES.contains(&name);
        let mut folders = KEY_FOLDERS
            .iter()
            .filter_map(|folder| path.strip_prefix(folder));
        folders.any(|rest| match rest {
            "" => {
                is_recursive
                    || !command.is_one_of(&["chmod"])
                    || command.argument_texts().contains(&"000")
            }
            rest => rest.starts_with('/') && !is_public,
        })
    };
    if command.arguments.operand_texts().any(is_key) {
        scene.record_rule(OPENED, &command.simple.span);
    }
}

fn check_paths(command: &CommandInvocation<'_>, scene: &CommandScene<'_>, from: usize) {
    let span = &command.simple.span;
    let is_recursive = command.arguments.has_option(&["-R", "--recursive"]);
    for path in command.arguments.operand_texts().skip(from) {
        let is_plain = matches!(path, "." | "./" | "*");
        match classify_path(path, scene.cwd.as_deref(), scene.settings) {
            PathClass::WholeTree if is_recursive && !is_plain => scene.record_rule(CRITICAL, span),
            PathClass::WholeTree if !is_plain && path.starts_with('/') => {
                scene.record_rule(OUTSIDE, span)
            }
            // ssh itself requires tight rights on the user's keys.
            PathClass::Protected if !path.starts_with('~') => scene.record_rule(OUTSIDE, span),
            _ => {}
        }
    }
}

fn class_of_mode(mode: &str) -> Class {
    match parse_mode_bits(mode) {
        Some(bits) if bits & 0o007 == 0o007 => Class::Dangerous,
        Some(bits) if bits & 0o002 != 0 => Class::Confirm,
        Some(_) | None => Class::Safe,
    }
}

fn sets_user_id(mode: &str) -> bool {
    let octal = mode.len() >= 4 && mode.chars().all(|c| c.is_digit(8));
    let special = mode.trim_start_matches('0');
    (octal && special.len() == 4 && special.starts_with(['4', '6', '7']))
        || mode
            .split(',')
            .any(|clause| clause.contains("+s") && (clause.starts_with(['u', '+', 'a'])))
}

/// Returns the rights that a mode surely gives, as bits; `None` when the text is not a mode. A mode without "who"
/// follows the umask and counts for the owner alone, unless it gives every right.
pub fn parse_mode_bits(mode: &str) -> Option<u32> {
    let octal = mode.trim_start_matches(['=', '+']);
    if !octal.is_empty() && octal.chars().all(|c| c.is_digit(8)) {
        return u32::from_str_radix(octal, 8).ok().map(|bits| bits & 0o777);
    }
    let mut bits = 0;
    for clause in mode.split(',') {
        bits = apply_mode_clause(bits, clause)?;
    }
    Some(bits)
}

fn apply_mode_clause(mut bits: u32, clause: &str) -> Option<u32> {
    let operator = clause.find(['+', '-', '='])?;
    let (who, mut rest) = clause.split_at(operator);
    if !who.chars().all(|c| matches!(c, 'u' | 'g' | 'o' | 'a')) {
        return None;
    }
    while let Some(operator) = rest.chars().next() {
        let behind = rest.get(1..)?;
        let end = behind.find(['+', '-', '=']).unwrap_or(behind.len());
        let (letters, next) = behind.split_at(end);
        let rights = permission_bits(letters, bits)?;
        let mask = who_mask(who);
        match operator {
            '+' => bits |= rights & mask,
            '=' => bits = (bits & !mask) | (rights & mask),
            _ => bits &= !(rights & mask),
        }
        rest = next;
    }
    Some(bits)
}

fn permission_bits(letters: &str, bits: u32) -> Option<u32> {
    let mut rights = 0;
    for letter in letters.chars() {
        rights |= match letter {
            'r' => 0o444,
            'w' => 0o222,
            'x' | 'X' => 0o111,
            's' | 't' => 0,
            'u' => (bits >> 6 & 7) * 0o111,
            'g' => (bits >> 3 & 7) * 0o111,
            'o' => (bits & 7) * 0o111,
            _ => return None,
        };
    }
    Some(rights)
}

fn who_mask(who: &str) -> u32 {
    if who.is_empty() {
        // The rights that the usual umask 022 leaves.
        return 0o755;
    }
    who.chars().fold(0, |mask, who| {
        mask | match who {
            'u' => 0o700,
            'g' => 0o070,
            'o' => 0o007,
            _ => 0o777,
        }
    })
}
