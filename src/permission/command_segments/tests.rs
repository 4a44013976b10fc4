//! A rule list and a line go in, the rules' answer comes out: what a shell would run is what is judged.

use super::super::RuleSet;
use super::super::rule::{Rule, RuleLayer, RuleOrigin};
use super::super::standalone_evaluation::{self, StandaloneTarget};
use super::*;

fn check(lines: &[&str], target: &str, expected: &str) {
    let rule = |line: &&str| {
        let (permission, rest) = line.split_once(' ').unwrap();
        let (pattern, action) = rest.rsplit_once(' ').unwrap();
        let origin = RuleOrigin {
            layer: RuleLayer::Own,
            place: "x".to_owned(),
        };
        Rule::new(permission, pattern, action.parse().unwrap(), origin)
    };
    let rules = RuleSet::from_list(lines.iter().map(rule).collect());
    let targets: [StandaloneTarget<'_>; 1] = [(target, None)];
    let answer = standalone_evaluation::decide_standalone(&rules, &[], "bash", &targets);
    assert_eq!(
        answer.action.name(),
        expected,
        "{target:?}: {answer:?} {:?}",
        split_command_line(target)
    );
}

const NO_RM: [&str; 2] = ["bash * allow", "bash rm * deny"];
const LS: [&str; 3] = ["bash ls * allow", "bash echo * allow", "bash cd * allow"];

#[test]
fn no_spelling_hides_a_command_that_is_denied() {
    for line in [
        "rm x",
        "ls && rm x",
        "ls || rm x",
        "ls; rm x",
        "ls | rm x",
        "ls & rm x",
        "ls\nrm x",
        "(rm x)",
        "{ rm x; }",
        "if true; then rm x; fi",
        "for f in a b; do rm $f; done",
        "while true; do rm x; done",
        "f() { rm x; }; f",
        "echo $(rm x)",
        "echo `rm x`",
        "echo \"$(rm x)\"",
        "cat <(rm x)",
        "bash -c 'rm x'",
        "sh -lc \"ls; rm x\"",
        "eval 'rm x'",
        "sudo rm x",
        "sudo -u root rm x",
        "env A=b rm x",
        "A=b rm x",
        "nohup rm x &",
        "timeout 5 rm x",
        "nice -n 5 rm x",
        "time rm x",
        "command rm x",
        "exec rm x",
        "xargs rm < list",
        "ls | xargs rm",
        "ls | xargs -n1 rm",
        "find . -name x -exec rm {} \\;",
        "ssh host rm x",
        "'rm' x",
        "r\"m\" x",
        "\\rm x",
        "/bin/rm x",
        "rm",
        "! rm x",
        "X=rm; $X x",
        "bash <<< 'rm x'",
        "bash <<X\nrm x\nX",
        "rm x # why",
    ] {
        check(&NO_RM, line, "deny");
    }
}

#[test]
fn words_that_only_mention_a_command_are_no_command() {
    for line in [
        "echo 'rm x'",
        "grep -n \"rm x\" README.md",
        "git commit -m 'rm x; rm y'",
        "ls # rm x",
        "cat > /dev/null <<X\nrm x\nX",
        "ls rm",
        "rmdir x",
    ] {
        check(&NO_RM, line, "allow");
    }
}

#[test]
fn an_allow_is_for_what_stands_there() {
    for line in [
        "ls",
        "ls -la src",
        "ls && echo done",
        "cd src && ls",
        "ls 2>&1",
        "ls > /dev/null 2>&1",
        "ls -la 2>/dev/null | ls",
        "timeout 5 ls",
        "bash -lc 'ls -la'",
        "bash -c \"ls && echo hi\"",
        "ls # note",
        "ls \"a b\"",
        "ls $HOME",
        "ls *.rs",
        "(ls; echo)",
        "if ls; then echo a; else echo b; fi",
        "  ls  ",
    ] {
        check(&LS, line, "allow");
    }
    for line in [
        "lsof",
        "ls && make",
        "ls $(make)",
        "sudo ls",
        "A=b ls",
        "LD_PRELOAD=x ls",
        "./ls",
        "/bin/ls",
        "ls | xargs ls",
        "echo hi > out.txt",
        "$LS -la",
        "eval \"$X\"",
        "ls 'open",
        "echo a | sh",
        "ssh host ls",
        "find . -exec ls {} \\;",
    ] {
        check(&LS, line, "ask");
    }
}

#[test]
fn what_lies_in_a_substitution_does_not_go_by_the_text_around_it() {
    let rules = ["bash git log * allow", "bash echo * allow"];
    check(&rules, "git log $(git push)", "ask");
    check(&rules, "git log $(echo main)", "allow");
    check(&rules, "echo \"$(git push)\"", "ask");
    check(&rules, "bash -c 'git log; git push'", "ask");
    check(&rules, "git log <(git push)", "ask");
}

#[test]
fn what_a_redirect_writes_is_an_edit() {
    let rules = [
        "bash echo * allow",
        "edit out/* allow",
        "edit secrets/* deny",
    ];
    check(&rules, "echo hi > out/x", "allow");
    check(&rules, "echo hi >> out/../src/x", "ask");
    check(&rules, "echo hi > secrets/x", "deny");
    check(&rules, "echo hi > $X", "ask");
    check(&rules, "echo hi > /dev/null", "allow");
    check(&rules, "> secrets/x", "deny");
    check(&["edit * allow"], "> x", "ask");
    check(
        &["bash ls * allow", "edit x allow"],
        "{ ls; ls -a; } > x",
        "allow",
    );
}
