//! Properties that hold for every text: no panic, bounded work, no way to hide a command, no way to lower a class.

use proptest::prelude::*;

use super::*;

/// Commands that no wrapping makes milder.
const NAKED: &[&str] = &[
    "rm -rf build",
    "rm -r --force ~/x",
    "rm /etc/passwd",
    "chmod 777 x",
    "chmod -R a+rwx .",
    "dd if=x of=/dev/sda",
    "git push",
    "git push --force origin main",
    "git reset --hard HEAD~1",
    "git clean -fdx",
    "npm publish",
    "cargo publish",
    "docker push me/app",
    "terraform destroy",
    "kubectl delete namespace x",
    "dropdb shop",
    "reboot",
    "mkfs.ext4 /dev/sdb1",
    "crontab -r",
    "kill -9 -1",
    "iptables -F",
    "shred -u x",
];

/// Prefixes for a command; `{}` is the command, with spaces around it.
const BEFORE: &[&str] = &[
    "sudo {}",
    "sudo -u bob -- {}",
    "env {}",
    "env -i A=1 {}",
    "nohup {}",
    "nice -n 5 {}",
    "timeout 5s {}",
    "time {}",
    "stdbuf -oL {}",
    "setsid {}",
    "command {}",
    "exec {}",
    "xargs {} < list",
    "busybox {}",
    "doas {}",
    "watch {}",
    "ionice -c3 {}",
    "ssh host {}",
    "docker exec -it web {}",
    "find . -exec {} \\;",
];

/// Templates that run a whole text, in addition to those that all cases use.
const AROUND: &[&str] = &[
    "for f in *; do\n{}\ndone",
    "until false; do\n{}\ndone",
    "select x in a; do\n{}\ndone",
    "[ -d x ] && {}",
    "cd /srv &&\n{}",
    "ls | (\n{}\n)",
    "(\n{}\n) 2>/dev/null",
    "{ ls; {}\n} > log",
    "function g {\n{}\n}\ng",
    "alias g={q}\ng",
    "echo \"done $(\n{}\n)\"",
    "x=`{b}`",
    "cat <<EOT\n$(\n{}\n)\nEOT",
    "bash -c {qq}",
    "coproc {\n{}\n}",
    "X={q}\nbash -c \"${X}\"",
    "a=({q})\neval \"${a[0]}\"",
    "eval \"$(echo {q})\"",
    "source <(echo {q})",
    "xargs -0 sh -c {q}",
    "su -c {q} bob",
];

/// Quotes a text with double quotes.
fn double_quoted(text: &str) -> String {
    let escaped = text.chars().flat_map(|c| {
        matches!(c, '"' | '\\' | '$' | '`')
            .then_some('\\')
            .into_iter()
            .chain([c])
    });
    format!("\"{}\"", escaped.collect::<String>())
}

fn put_into(template: &str, text: &str) -> String {
    // The inserted text may contain such placeholders itself.
    let (place, filling) = match template {
        _ if template.contains("{}") => ("{}", text.to_owned()),
        _ if template.contains("{b}") => ("{b}", text.replace('\\', "\\\\").replace('`', "\\`")),
        _ if template.contains("{qq}") => (
            "{qq}",
            double_quoted(&format!("eval {}", double_quoted(text))),
        ),
        _ => ("{q}", quoted(text)),
    };
    template.replace(place, &filling)
}

/// Spells a word in another way that means the same to a shell.
fn respelled(word: &str, way: usize) -> String {
    let at = word.char_indices().nth(1).map_or(word.len(), |(at, _)| at);
    let (left, right) = word.split_at(at);
    let is_plain = !word.contains(['~', '*', '$', '=']);
    match way {
        1 if is_plain => format!("'{word}'"),
        2 if is_plain => format!("\"{word}\""),
        3 => format!("{left}''{right}"),
        4 => format!("{left}\"\"{right}"),
        5 if is_plain && !left.starts_with(char::is_numeric) => format!("\\{word}"),
        6 => format!("{left}\\\n{right}"),
        7 if is_plain => format!("$'{word}'"),
        8 if is_plain => format!("${{nothing:-{word}}}"),
        9 if is_plain => format!("$(printf %s '{word}')"),
        10 if is_plain => format!("$(echo {word})"),
        _ => word.to_owned(),
    }
}

fn any_naked() -> impl Strategy<Value = &'static str> {
    prop::sample::select(NAKED)
}

/// A command with each word spelled in its own way.
fn any_spelling() -> impl Strategy<Value = (&'static str, String)> {
    (any_naked(), prop::collection::vec(0..11_usize, 6)).prop_map(|(naked, ways)| {
        let words = naked.split(' ').zip(ways.into_iter().chain([0; 4]));
        let words: Vec<String> = words.map(|(word, way)| respelled(word, way)).collect();
        (naked, words.join(" "))
    })
}

/// Bytes as an agent may send them, mostly those that are special to a shell.
fn any_bytes() -> impl Strategy<Value = String> {
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(&b" \n\t'\"`$(){}[]<>|&;\\#!*?~=-/rmsudo0127"[..])
    ];
    prop::collection::vec(byte, 0..200)
        .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Pieces of shell syntax and of what the classifier looks for.
fn any_pieces() -> impl Strategy<Value = String> {
    let pieces = "rm -rf / ~ x $x ${x:- $( $(( (( )) ) ( ` \" ' $' \\ { } {a,b} [[ ]] if then fi for in do done while case esac ;; \
        f() x= > >> <<A A <<< <( 2>&1 | || & && ; # ! sudo env bash -c eval xargs find -exec {} \\; + echo python3 -e perl awk sed git push \
        curl sh base64 -d psql 'DROP chmod 777 /dev/sda docker kubectl delete * é \u{fffc} \u{0} ssh node os.system( shutil.rmtree( dd of=";
    let all: Vec<&str> = pieces.split_whitespace().chain(["\n"]).collect();
    let piece = prop::sample::select(all);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.join(" "))
}

#[test]
fn a_text_with_a_nul_is_never_safe() {
    let class = |text: &str| judged(text).class;
    assert_eq!(class("ls\0"), Class::Confirm);
    assert_eq!(class("\0\0rm -rf x"), Class::Dangerous);
    assert_eq!(class("rm\0-rf x"), Class::Dangerous);
    assert_eq!(class("r\0m -rf x"), Class::Dangerous);
}

fn judged(text: &str) -> CommandClassification {
    let settings = CommandSafetySettings::default();
    let verdict = classify_script(text, &settings);
    assert!(
        text.get(verdict.span.clone()).is_some(),
        "{verdict:?} {text:?}"
    );
    assert_eq!(
        verdict.class == Class::Safe,
        verdict.rule.is_empty(),
        "{verdict:?} {text:?}"
    );
    verdict
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_text_is_judged(text in any::<String>(), bytes in any_bytes(), pieces in any_pieces()) {
        for text in [&text, &bytes, &pieces, &pieces.replace(' ', "")] {
            judged(text);
        }
    }

    #[test]
    fn every_argv_is_judged(argv in prop::collection::vec(any_pieces().prop_map(|text| text.chars().take(24).collect::<String>()), 0..6)) {
        let verdict = classify_argv(&argv, &CommandSafetySettings::default());
        prop_assert!(argv.join(" ").get(verdict.span).is_some());
    }

    #[test]
    fn reading_takes_no_more_steps_than_it_may(text in any_pieces(), times in 1..60_usize) {
        let text = text.repeat(times);
        let settings = CommandSafetySettings::default();
        let reading = shell::analyze_script(&text, &settings.limits);
        // The last step may be a large one.
        let most = 2 * settings.limits.steps_for_script(text.len()) + 16 * text.len();
        prop_assert!(reading.steps <= most, "{} steps, {most} at most", reading.steps);
    }

    #[test]
    fn no_spelling_and_no_wrapping_makes_a_command_milder(
        (naked, spelled) in any_spelling(),
        before in prop::collection::vec(prop::sample::select(BEFORE), 0..3),
        around in prop::collection::vec(prop::sample::select(AROUND).boxed().prop_union(prop::sample::select(RUNNING).boxed()), 0..3),
    ) {
        let mut text = spelled;
        for template in before {
            text = put_into(template, &text);
        }
        for template in around {
            text = put_into(template, &text);
        }
        let found = judged(&text);
        let least = judged(naked);
        prop_assert!(found.class >= least.class, "{text:?} is {:?} ({}), {naked:?} is {:?} ({})", found.class, found.rule, least.class, least.rule);
    }

    #[test]
    fn what_only_speaks_of_a_command_is_safe(
        (_, spelled) in any_spelling(),
        templates in prop::collection::vec(prop::sample::select(SPEAKING), 1..4),
        link in prop::sample::select(&["\n", "\n\n", " # "][..]),
        comment in any_naked(),
    ) {
        let spoken = templates.iter().map(|template| put_into(template, &spelled));
        let text = format!("{}{}", spoken.collect::<Vec<_>>().join("\n"), link);
        let text = format!("{text}# {comment}");
        let found = judged(&text);
        prop_assert_eq!(found.class, Class::Safe, "{:?}: {:?}", text, found);
    }

    #[test]
    fn what_stands_behind_lowers_no_class(text in any_pieces(), behind in prop::sample::select(&["; true", "\ntrue", "\nls -la\n", "; echo done"][..])) {
        let (alone, longer) = (judged(&text), judged(&format!("{text}{behind}")));
        // An incomplete text may be completed by the text after it: `f()`.
        let doubts = shell::analyze_script(&text, &CommandSafetySettings::default().limits).doubts;
        if doubts.iter().any(|doubt| matches!(doubt, shell::AnalysisDoubt::Unparsable { .. })) {
            return Ok(());
        }
        prop_assert!(longer.class >= alone.class, "{text:?} is {:?} ({}), with {behind:?} {:?} ({})", alone.class, alone.rule, longer.class, longer.rule);
    }

    #[test]
    fn what_stands_before_lowers_no_class(naked in any_naked(), before in prop::sample::select(&["true; ", "ls -la\n", "cd src && ", "echo a | cat; ", "x=1\n"][..])) {
        let text = format!("{before}{naked}");
        prop_assert!(judged(&text).class >= judged(naked).class, "{}", text);
    }
}
