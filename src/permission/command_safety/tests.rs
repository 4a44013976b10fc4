//! Cases by class, each a line `class<TAB>command` (`⏎` is a line break), and the same commands inside other programs.

use super::*;

mod bypass_attempts;

const CASES: &[(&str, &str)] = &[
    ("carried", include_str!("cases/carried.txt")),
    ("chmod", include_str!("cases/chmod.txt")),
    ("compound", include_str!("cases/compound.txt")),
    ("device-write", include_str!("cases/device-write.txt")),
    ("disk-system", include_str!("cases/disk-system.txt")),
    ("everyday", include_str!("cases/everyday.txt")),
    ("git-destroy", include_str!("cases/git-destroy.txt")),
    ("git-push", include_str!("cases/git-push.txt")),
    ("git-safe", include_str!("cases/git-safe.txt")),
    ("given", include_str!("cases/given.txt")),
    ("heredoc", include_str!("cases/heredoc.txt")),
    ("infra", include_str!("cases/infra.txt")),
    ("interpreter", include_str!("cases/interpreter.txt")),
    ("nested-shell", include_str!("cases/nested-shell.txt")),
    ("odd", include_str!("cases/odd.txt")),
    ("publish", include_str!("cases/publish.txt")),
    (
        "publish-spellings",
        include_str!("cases/publish-spellings.txt"),
    ),
    ("push-spellings", include_str!("cases/push-spellings.txt")),
    ("remote-code", include_str!("cases/remote-code.txt")),
    ("rm-flags", include_str!("cases/rm-flags.txt")),
    ("rm-path", include_str!("cases/rm-path.txt")),
    ("rm-quoting", include_str!("cases/rm-quoting.txt")),
    ("rm-single", include_str!("cases/rm-single.txt")),
    ("rm-spellings", include_str!("cases/rm-spellings.txt")),
    ("rm-variables", include_str!("cases/rm-variables.txt")),
    ("rm-wrappers", include_str!("cases/rm-wrappers.txt")),
    ("rm-xargs-find", include_str!("cases/rm-xargs-find.txt")),
    ("robustness", include_str!("cases/robustness.txt")),
    ("runners", include_str!("cases/runners.txt")),
    ("sudo", include_str!("cases/sudo.txt")),
    ("text-lookalike", include_str!("cases/text-lookalike.txt")),
    ("word-boundary", include_str!("cases/word-boundary.txt")),
];

fn cases(text: &'static str) -> impl Iterator<Item = (&'static str, String)> {
    text.lines().filter_map(|line| {
        let (class, command) = line.split_once('\t')?;
        Some((class, command.replace('⏎', "\n")))
    })
}

#[test]
fn every_case_has_its_class() {
    let settings = CommandSafetySettings::default();
    let mut misses = Vec::new();
    for (name, text) in CASES {
        for (class, command) in cases(text) {
            let verdict = classify_script(&command, &settings);
            if verdict.class.as_str() != class {
                misses.push(format!(
                    "{name}: {class} and not {}: {command:?} ({})",
                    verdict.class.as_str(),
                    verdict.rule
                ));
            }
        }
    }
    assert!(
        misses.is_empty(),
        "{} misses\n{}",
        misses.len(),
        misses.join("\n")
    );
}

/// Quotes a text with single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Templates that run their content; `{}` is the command, `{q}` the command in quotes.
const RUNNING: &[&str] = &[
    "( {} )",
    "{ {}\n}",
    "if true; then {}\nfi",
    "for i in 1; do {}\ndone",
    "while true; do {}\ndone",
    "case x in x) {}\n;; esac",
    "true && {}",
    "false || {}",
    "ls; {}",
    "ls\n{}",
    "f() { {}\n}; f",
    "echo $({}\n)",
    "x=\"$({}\n)\"",
    "cat <({}\n)",
    "! {}",
    "time {}",
    "bash -c {q}",
    "bash -lc {q}",
    "sh -c {q}",
    "/bin/bash -euo pipefail -c {q}",
    "zsh -c {q}",
    "eval {q}",
    "ssh host {q}",
    "timeout 5 bash -c {q}",
    "env A=1 sh -c {q}",
    "nohup sh -c {q} &",
    "sh <<'EOT'\n{}\nEOT",
    "bash <<< {q}",
    "echo {q} | sh",
    "printf '%s\\n' {q} | bash",
    "X={q}; eval \"$X\"",
    "X={q}; bash -c \"$X\"",
    "docker exec web sh -c {q}",
    "find . -exec sh -c {q} \\;",
    "cat > run.sh <<'EOT'\n{}\nEOT\nsh run.sh",
    "trap {q} EXIT",
];

/// Templates that only mention their content.
const SPEAKING: &[&str] = &[
    "echo {q}",
    "echo {q} >> notes.txt",
    "printf '%s\\n' {q}",
    "grep -rn {q} src",
    "rg -n -F -- {q}",
    "git commit -m {q}",
    "git commit -am fix -m {q}",
    "git log --grep={q}",
    "git tag -a v1 -m {q}",
    "gh issue create --title x --body {q}",
    "jq -n --arg c {q} '{c: $c}'",
    "cat > notes.md <<'EOT'\n{}\nEOT",
    "cat <<'EOT' | grep x\n{}\nEOT",
    "tee notes.md <<'EOT'\n{}\nEOT",
    "X={q}",
    "X={q}; echo \"$X\"",
    "if [ \"$1\" = {q} ]; then echo yes; fi",
    "[[ $1 == {q} ]] && echo yes",
    "curl -d {q} http://localhost",
    "python3 check.py --command {q}",
    "cargo test -- {q}",
    "for c in {q}; do echo \"$c\"; done",
    "test \"$x\" = {q}",
    "logger {q}",
    "awk -v c={q} '{print c}' f",
    "bash -c 'echo \"$1\"' _ {q}",
    "ls {q}",
    "read -r x <<< {q}",
];

fn filled(template: &str, command: &str) -> String {
    template
        .replace("{}", command)
        .replace("{q}", &quoted(command))
}

/// Returns the one-line cases of some files that can be put inside another text.
fn lines_of(names: &[&str], class: &str) -> Vec<String> {
    let of = CASES
        .iter()
        .filter(|(name, _)| names.contains(name))
        .flat_map(|(_, text)| cases(text));
    of.filter(|(found, command)| {
        *found == class
            && !command.contains(['\n', '#', '!'])
            && !command.contains("IFS=")
            && !command.ends_with('&')
    })
    .map(|(_, command)| command)
    .collect()
}

fn check_all(templates: &[&str], commands: &[String], allowed: &[Class]) {
    let settings = CommandSafetySettings::default();
    let mut misses = Vec::new();
    let mut n = 0;
    // With many cases, each one meets a fifth of the templates, and each template a fifth of the cases.
    let every = if commands.len() > 300 { 5 } else { 1 };
    for (turn, template) in templates.iter().enumerate() {
        // `find` replaces every `{}` by names.
        let fits = |command: &&String| !(template.starts_with("find") && command.contains("{}"));
        let commands = commands.iter().skip(turn % every).step_by(every);
        for command in commands.filter(fits) {
            let text = filled(template, command);
            let verdict = classify_script(&text, &settings);
            n += 1;
            if !allowed.contains(&verdict.class) {
                misses.push(format!(
                    "{} and not expected ({}): {text:?}",
                    verdict.class.as_str(),
                    verdict.rule
                ));
            }
        }
    }
    assert!(
        misses.is_empty(),
        "{} misses of {n}\n{}",
        misses.len(),
        misses.join("\n")
    );
}

const DANGERS: &[&str] = &[
    "rm-flags",
    "rm-path",
    "rm-quoting",
    "rm-spellings",
    "rm-variables",
    "rm-wrappers",
    "rm-xargs-find",
    "chmod",
    "device-write",
    "git-destroy",
    "sudo",
    "disk-system",
    "infra",
];

#[test]
fn a_dangerous_command_is_dangerous_wherever_it_is_run() {
    check_all(
        RUNNING,
        &lines_of(DANGERS, "dangerous"),
        &[Class::Dangerous],
    );
}

#[test]
fn a_command_that_is_only_spoken_of_is_safe() {
    check_all(SPEAKING, &lines_of(DANGERS, "dangerous"), &[Class::Safe]);
    check_all(
        SPEAKING,
        &lines_of(
            &["git-push", "publish", "push-spellings", "publish-spellings"],
            "confirm",
        ),
        &[Class::Safe],
    );
}

#[test]
fn a_safe_command_stays_safe_wherever_it_is_run() {
    let everyday = [
        "everyday",
        "git-safe",
        "chmod",
        "infra",
        "text-lookalike",
        "word-boundary",
    ];
    check_all(RUNNING, &lines_of(&everyday, "safe"), &[Class::Safe]);
}

#[test]
fn a_push_or_publish_is_asked_about_wherever_it_is_run() {
    check_all(
        RUNNING,
        &lines_of(
            &["git-push", "publish", "push-spellings", "publish-spellings"],
            "confirm",
        ),
        &[Class::Confirm],
    );
}

#[test]
fn every_builtin_rule_holds_back_its_example_and_not_its_harmless_neighbour() {
    let mut settings = CommandSafetySettings {
        blocked_patterns: Vec::new(),
        confirm_patterns: Vec::new(),
        ..CommandSafetySettings::default()
    };
    let mut misses = Vec::new();
    for rule in all_builtin_rules() {
        settings.builtin_levels = BTreeMap::new();
        for (command, expected) in [
            (&rule.example, (rule.name.as_str(), rule.class)),
            (&rule.harmless, ("", Class::Safe)),
        ] {
            let found = classify_script(command, &settings);
            if (found.rule.as_str(), found.class) != expected {
                misses.push(format!("{}: {command:?} gives {found:?}", rule.name));
            }
        }
        settings.builtin_levels = BTreeMap::from([(rule.name.clone(), BuiltinRuleLevel::Off)]);
        let is_held_back = classify_script(&rule.example, &settings).rule == rule.name;
        if is_held_back == rule.can_be_disabled() {
            misses.push(format!("{}: off makes no difference", rule.name));
        }
    }
    assert_eq!(misses, Vec::<String>::new());
}

#[test]
fn a_row_of_the_table_is_whole() {
    let mut names = std::collections::BTreeSet::new();
    for rule in all_builtin_rules() {
        let is_new = names.insert(&rule.name);
        let is_parsed = |line: &String| command_pattern::CommandPattern::parse(line).is_some();
        assert!(
            is_new && !rule.reason.is_empty() && rule.patterns.iter().all(is_parsed),
            "{}",
            rule.name
        );
    }
}
