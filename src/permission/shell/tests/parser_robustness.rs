//! Texts made to break a parser, and properties that hold for every text.

use proptest::prelude::*;

use super::*;

/// Analyses a text and checks that all spans are inside it.
fn read_safely(text: &str) -> ShellAnalysis {
    let reading = analyze_script(text, &AnalysisLimits::default());
    let spans = reading.commands.iter().map(|command| &command.span);
    let doubts = reading.doubts.iter().map(|doubt| match doubt {
        AnalysisDoubt::Unparsable { span }
        | AnalysisDoubt::Limit { span, .. }
        | AnalysisDoubt::DynamicProgram { span }
        | AnalysisDoubt::DynamicScript { span }
        | AnalysisDoubt::ForkBomb { span } => span,
    });
    for span in spans.chain(doubts) {
        assert!(text.get(span.clone()).is_some(), "{span:?} of {text:?}");
    }
    reading
}

fn is_incomplete(reading: &ShellAnalysis) -> bool {
    reading.doubts.iter().any(|doubt| {
        matches!(
            doubt,
            AnalysisDoubt::Unparsable { .. } | AnalysisDoubt::Limit { .. }
        )
    })
}

fn check_limit(text: &str, limit: AnalysisLimitKind) {
    let reading = read_safely(text);
    let is_told = reading
        .doubts
        .iter()
        .any(|doubt| matches!(doubt, AnalysisDoubt::Limit { limit: told, .. } if *told == limit));
    assert!(is_told, "{limit:?} {:.40}: {:?}", text, reading.doubts);
}

#[test]
fn what_lies_too_deep_is_a_doubt() {
    for opening in [
        "(",
        "( ",
        "{ ",
        "$(",
        "\"$(",
        "<(",
        "if a; then ",
        "while a; do ",
        "case a in a) ",
        "f() { ",
        "${x:-",
        "echo $(($(",
        "a=(",
        "bash -c '",
    ] {
        let text = opening.repeat(20_000);
        let reading = read_safely(&text);
        assert!(
            !reading.doubts.is_empty() || reading.commands.len() == 1,
            "{opening}"
        );
    }
    check_limit(&"$(".repeat(50_000), AnalysisLimitKind::Depth);
    check_limit(&"( ".repeat(100_000), AnalysisLimitKind::Depth);
    check_limit(&"eval ".repeat(200), AnalysisLimitKind::Depth);
    check_limit(
        &format!("{}rm", "sudo ".repeat(200)),
        AnalysisLimitKind::Depth,
    );
}

#[test]
fn what_grows_too_much_is_a_doubt() {
    check_limit(
        &format!("echo {}", "{a,b}".repeat(40)),
        AnalysisLimitKind::Expansions,
    );
    check_limit(
        "for i in {1..9}{1..9}{1..9}; do :; done",
        AnalysisLimitKind::Expansions,
    );
    let doubling = format!("a=xx; {}echo $a", "a=$a$a; ".repeat(60));
    check_limit(&doubling, AnalysisLimitKind::Steps);
    let nested = format!(
        "{}rm $i{}",
        "for i in 1 2 3 4; do ".repeat(18),
        "; done".repeat(18)
    );
    check_limit(&nested, AnalysisLimitKind::Steps);
    let branches: String = (0..20)
        .map(|n| format!("if a; then v{n}=1; else v{n}=2; fi; "))
        .collect();
    let words: String = (0..20).map(|n| format!(" $v{n}")).collect();
    check_limit(
        &format!("{branches}rm{words}"),
        AnalysisLimitKind::Expansions,
    );
    check_limit(&"x".repeat((1 << 20) + 1), AnalysisLimitKind::Bytes);
}

#[test]
fn a_long_text_is_read_whatever_it_holds() {
    for piece in [
        ";",
        "\"",
        "'",
        "`",
        "\\",
        "$",
        "#",
        "\n",
        "&",
        "|",
        "[[ ",
        "@(",
        "a|",
        "a&&",
        "<<A ",
        ">b ",
        "${x",
        "{a,",
        "é",
        "\u{fffc}",
        "x=1;",
        "true; ",
        "cat <<A\n",
        "((a) b);",
        "a ",
    ] {
        read_safely(&piece.repeat((1 << 16) / piece.len()));
    }
}

#[test]
fn rough_words_are_given_where_something_is_left_out() {
    for text in [
        "ls; 'rm' -rf x; echo \"",
        "(((rm -rf x",
        "foo(bar; r\\m -rf x",
        "case; rm -rf x; esac (",
    ] {
        let reading = read_safely(text);
        let line = ["rm", "-rf", "x"].map(str::to_owned);
        let is_there = reading
            .rough_lines
            .iter()
            .any(|words| words.starts_with(&line));
        assert!(is_there, "{text}: {:?}", reading.rough_lines);
    }
    assert!(read_safely("ls; rm -rf x").rough_lines.is_empty());
}

/// Words of shell texts, separated by spaces.
const PIECES: &str = r#"a rm -rf x $x ${x ${x:- $( $(( (( )) ) ( ` " ' $' \ { } {a,b} , [[ ]] [ ]
    if then else fi for in do done while case esac ;; f() function x= x=( x+= < > >> <<A <<-'A' A
    <<< <( >( &> 2>&1 | || & && ; # ! time eval bash -c sudo xargs find . -exec {} \; + echo printf
    %s read set -- $@ "$@" trap alias é * ? ~ @( export coproc select"#;

/// Texts of such words, closed and unclosed.
fn shell_text() -> impl Strategy<Value = String> {
    let pieces: Vec<&str> = PIECES
        .split_whitespace()
        .chain(["\n", "\t", "\u{fffc}"])
        .collect();
    let pieces = prop::sample::select(pieces);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.join(" "))
}

/// The same without spaces between the pieces.
fn dense_text() -> impl Strategy<Value = String> {
    shell_text().prop_map(|text| text.replace(' ', ""))
}

proptest! {
    #[test]
    fn every_text_is_read(text in any::<String>()) {
        read_safely(&text);
    }

    #[test]
    fn every_shell_text_is_read(text in shell_text(), dense in dense_text()) {
        read_safely(&text);
        read_safely(&dense);
    }

    #[test]
    fn every_argv_is_read(argv in prop::collection::vec("[ -~é]{0,12}", 0..8)) {
        let reading = analyze_argv(&argv, &AnalysisLimits::default());
        let text = argv.join(" ");
        for command in &reading.commands {
            prop_assert!(text.get(command.span.clone()).is_some());
        }
    }

    #[test]
    fn a_command_behind_loses_none_before(text in shell_text()) {
        let alone = read_safely(&text);
        let may_go_on = text.trim_end().ends_with(['\\', '&', '|']) || text.contains(['#', '<']);
        if is_incomplete(&alone) || may_go_on {
            return Ok(());
        }
        let longer = read_safely(&format!("{text}\ntrue"));
        for command in &alone.commands {
            prop_assert!(longer.commands.iter().any(|found| found.words == command.words), "{:?}", command);
        }
    }

    #[test]
    fn quotes_change_no_word(word in "[a-z/.][a-z/.-]{0,9}", at in 0..10_usize) {
        let at = at.min(word.len());
        let (left, right) = word.split_at(at);
        let first = right.chars().next().unwrap_or('x');
        let spellings = [
            format!("'{word}'"),
            format!("\"{word}\""),
            format!("$'{word}'"),
            format!("{left}''{right}"),
            format!("{left}\"{right}\""),
            format!("{left}\\\n{right}"),
            format!("{left}$'\\x{:02x}'{}", first as u32, right.get(1..).unwrap_or_default()),
            format!("${{nothing:-{word}}}"),
            format!("$(echo {word})"),
            format!("$(printf %s '{word}')"),
            format!("`echo '{word}'`"),
        ];
        for spelling in spellings {
            if spelling.contains("\\x78") && right.is_empty() {
                continue;
            }
            let reading = read_safely(&format!("a {spelling} b"));
            let last = reading.commands.last().map(|command| command.words.clone());
            let words = last.unwrap_or_default();
            let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            prop_assert_eq!(texts, vec!["a", word.as_str(), "b"], "{}", spelling);
        }
    }

    #[test]
    fn a_wrapper_hides_no_command(depth in prop::collection::vec(0..8_usize, 1..4)) {
        let mut text = "rm -rf x".to_owned();
        for wrapper in depth {
            let quoted = text.replace('\'', "'\\''");
            text = match wrapper {
                0 => format!("sudo {text}"),
                1 => format!("bash -c '{quoted}'"),
                2 => format!("eval '{quoted}'"),
                3 => format!("echo \"$({text})\""),
                4 => format!("{{ {text}; }}"),
                5 => format!("echo '{quoted}' | sh"),
                6 => format!("f() {{ {text}; }}; f"),
                _ => format!("if a; then {text}; fi"),
            };
        }
        let reading = read_safely(&text);
        let is_found = reading.commands.iter().any(|command| {
            let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
            words == ["rm", "-rf", "x"]
        });
        // `sudo if …` and `sudo f() …` are not shell syntax.
        let is_odd = text.contains("sudo if") || text.contains("sudo f()") || text.contains("sudo {");
        prop_assert!(is_found || is_odd, "{text}: {:?}", render(&reading));
    }
}
