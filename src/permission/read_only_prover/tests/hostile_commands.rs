//! Properties that hold for every text: nothing that writes is proven, however it is wrapped, and no write redirect is.

use proptest::prelude::*;

use super::*;

/// Commands that write, or run something unknown.
const WRITERS: &[&str] = &[
    "touch x",
    "rm x",
    "mkdir d",
    "cp a b",
    "mv a b",
    "ln -s a b",
    "tee x",
    "chmod +x a",
    "truncate -s0 a",
    "install a b",
    "dd of=x",
    "split a",
    "patch -p1",
    "sed -i s/a/b/ f",
    "sed -n 'w x' f",
    "sed '1e ls' f",
    "awk '{print > \"x\"}' f",
    "awk '{system($0)}' f",
    "sort -o x a",
    "sort a -o x",
    "uniq a b",
    "tree -o x",
    "find . -delete",
    "find . -fprint x",
    "find . -exec touch {} \\;",
    "xargs touch",
    "git commit -m x",
    "git push",
    "git checkout x",
    "git branch x",
    "git stash",
    "git config user.name x",
    "git diff --output=x",
    "tar xf a.tar",
    "unzip a.zip",
    "gzip a",
    "curl -o x u",
    "npm i",
    "cargo build",
    "make",
    "python3 -c 'print(1)'",
    "bash x.sh",
    "./x",
    "cat ../secret",
    "cat /etc/passwd",
    "ls > x",
    "echo a >> x",
    "echo a >| x",
    "cat <> x",
    "cd .. && ls",
    "read PATH",
    "kill 1",
    "printf -v x a",
];

/// Templates around such a command; `{}` is the command, `{q}` the command in quotes.
const AROUND: &[&str] = &[
    "ls; {}",
    "{}\nls",
    "ls && {}",
    "ls || {}",
    "ls | {}",
    "{} | cat",
    "( {}\n)",
    "{ {}\n}",
    "! {}",
    "time {}",
    "{} 2>/dev/null",
    "{} &",
    "coproc {}",
    "if true; then {}\nfi",
    "if {}\nthen ls; fi",
    "while {}\ndo ls; done",
    "while read -r l; do {}\ndone < a",
    "until false; do {}\ndone",
    "for i in a b; do {}\ndone",
    "for i in $({}\n); do ls; done",
    "case a in a) {}\n;; esac",
    "case $({}\n) in a) ls;; esac",
    "echo $({}\n)",
    "echo \"a $({}\n) b\"",
    "x=$({}\n)",
    "[[ -n $({}\n) ]]",
    "[[ -f x ]] && {}",
    "[ \"$({}\n)\" = a ]",
    "test -f x || {}",
    "cat <({}\n)",
    "diff <(ls) <({}\n)",
    "comm <({}\n) <(sort a)",
    "ls > >({}\n)",
    "cat <<EOT\n$({}\n)\nEOT",
    "cat <<< \"$({}\n)\"",
    "echo $(( $({}\n) + 1 ))",
    "(( $({}\n) > 1 ))",
    "echo ${x:-$({}\n)}",
    "f() { {}\n}\nf",
    "trap {q} EXIT",
    "bash -c {q}",
    "sh -ec {q}",
    "eval {q}",
    "X={q}; eval \"$X\"",
    "echo {q} | sh",
    "bash <<< {q}",
    "bash <(echo {q})",
    "source <(echo {q})",
    "find . -exec sh -c {q} \\;",
];

const WRITES: &[&str] = &["> out", ">> out", ">| out", "&> out", "2> out", "<> out"];

fn put_into(template: &str, text: &str) -> String {
    let quoted = format!("'{}'", text.replace('\'', "'\\''"));
    if template.contains("{q}") {
        template.replace("{q}", &quoted)
    } else {
        template.replacen("{}", text, 1)
    }
}

/// Returns proven lines that can be put inside another text.
fn proven_lines() -> Vec<String> {
    let is_plain = |line: &String| !line.contains(['\n', '#', '&']) && !line.ends_with('\\');
    lines(ACCEPTED).filter(is_plain).collect()
}

proptest! {
    #[test]
    fn nothing_that_writes_is_proven_however_it_is_wrapped(
        writer in prop::sample::select(WRITERS),
        around in prop::collection::vec(prop::sample::select(AROUND), 0..4),
    ) {
        let text = around
            .iter()
            .fold(writer.to_owned(), |text, template| put_into(template, &text));
        prop_assert!(judge(&text).is_err(), "{text:?}");
    }

    #[test]
    fn a_redirect_that_writes_takes_the_proof(
        line in prop::sample::select(proven_lines()),
        write in prop::sample::select(WRITES),
    ) {
        for text in [
            format!("{line} {write}"),
            format!("{{ {line}\n}} {write}"),
            format!("( {line}\n) {write}"),
            format!("if true; then {line}\nfi {write}"),
        ] {
            prop_assert!(judge(&text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn proven_lines_stay_proven_together(
        first in prop::sample::select(proven_lines()),
        second in prop::sample::select(proven_lines()),
        joined in prop::sample::select(&["; ", "\n"][..]),
    ) {
        // After a `cd` the paths of the second line would lead elsewhere.
        prop_assume!(!first.contains("cd ") && !second.contains("cd "));
        let text = format!("{first}{joined}{second}");
        prop_assert!(judge(&text).is_ok(), "{text:?}: {:?}", judge(&text));
    }

    #[test]
    fn no_text_stops_it(text in "\\PC{0,200}") {
        judge(&text).ok();
    }
}
