//! `agent-collab permissions check`: the class of one command, in words, or of many, as JSON lines.
//!
//! Refuses to run anything: a command is read as text.

use std::io::{self, Write};

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::batch;
use crate::app::start::{Refusal, find_root, load_config};
use crate::cli::ChoiceArgs;
use crate::config::permissions::{Allowing, Permissions};
use crate::config::problem::visible;
use crate::engine::git::GitSettings;
use crate::permission::guard::{Class, Settings, Verdict, classify, classify_argv};

const EXAMPLES: &str = "\
Classes:
  safe       nothing holds the command back but your rules
  confirm    asked about in every mode; you may allow it for the rest of the run
  dangerous  asked about in every mode, each time, with No preselected
Where nobody is there to ask, confirm and dangerous are declined.

One command:
  agent-collab permissions check 'bash -c \"rm -fr build\"'

Many, one JSON object a line in, one a line out, in the same order:
  {\"id\":1,\"cmd\":\"git push\"}             by the safety lists: {\"id\":1,\"class\":…,\"rule\":…,\"reason\":…}
  {\"id\":2,\"argv\":[\"bash\",\"-lc\",\"ls\"]}   the same for a command that is started without a shell
  {\"id\":3,\"rules\":[[\"edit\",\"*\",\"deny\"],[\"edit\",\"docs/*\",\"allow\"]],\"tool\":\"edit\",\"target\":\"docs/a.md\"}
                                        by these rules alone: {\"id\":3,\"decision\":…,\"rule\":…,\"reason\":…}
  `target` may be a list; `approvals` may hold {\"tool\",\"target\",\"scope\":\"exact\"|\"pattern\"}.
  A line that is none of these is answered with {\"id\",\"error\"}; the exit code is then 1.";

/// Arguments of `agent-collab permissions check`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    /// Reads JSON lines from standard input
    #[arg(long, conflicts_with = "command")]
    pub batch: bool,
    /// The command: one argument as a shell reads it, or a program and its arguments
    #[arg(
        value_name = "COMMAND",
        required_unless_present = "batch",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub command: Vec<String>,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ChoiceArgs,
}

/// Runs the command: 0, or 1 when a line of a batch could not be answered.
///
/// # Errors
/// The configuration has problems, or standard input cannot be read.
pub async fn run(args: CheckArgs) -> Result<u8, Refusal> {
    let settings = GitSettings::new("none", CancellationToken::new());
    let cwd = crate::cli::cwd()?;
    let (root, _) = find_root(&cwd, settings).await?;
    let (places, loaded) = load_config(&root, &args.choices.choices()?)?;
    // A command is judged as if an agent ran it here.
    let safety = Settings {
        root: Some(root),
        cwd: Some(cwd),
        home: Some(places.home),
        ..Permissions::of(&loaded.config, Allowing::Everybody).safety
    };
    let written = match args.batch {
        true => {
            let stdin = io::stdin().lock();
            batch::answer(stdin, io::stdout().lock(), &safety)
        }
        false => write!(io::stdout(), "{}", in_words(&args.command, &safety)).map(|()| 0),
    };
    match written {
        Ok(code) => Ok(code),
        // Nobody reads on, as with `| head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(1),
        Err(error) => Err(Refusal::error(
            format!("cannot read or write: {error}"),
            "see `agent-collab permissions check --help`",
        )),
    }
}

fn in_words(command: &[String], safety: &Settings) -> String {
    let (text, verdict) = match command {
        [line] => (line.clone(), classify(line, safety)),
        words => (words.join(" "), classify_argv(words, safety)),
    };
    let Verdict {
        class,
        rule,
        reason,
        span,
    } = &verdict;
    let (name, meaning) = match class {
        Class::Safe => ("safe", "your rules and the mode decide"),
        Class::Confirm => (
            "confirm",
            "asked about in every mode; may be allowed for the rest of the run; declined when nobody is there",
        ),
        Class::Dangerous => (
            "dangerous",
            "asked about in every mode, each time, with No preselected; declined when nobody is there",
        ),
    };
    let mut out = format!("{name}: {meaning}\n\n");
    out.push_str(&marked(&text, span.clone()));
    if *class != Class::Safe {
        out.push_str(&format!(
            "\nwhy   {}\nrule  {}\n",
            visible(reason),
            visible(rule)
        ));
    }
    out
}

/// Writes each line of a text, and below it what of it a span covers.
fn marked(text: &str, span: std::ops::Range<usize>) -> String {
    let mut out = String::new();
    let mut at = 0;
    for line in text.split('\n') {
        let (mut shown, mut marks) = (String::new(), String::new());
        for (offset, c) in line.char_indices() {
            let piece = visible(&c.to_string());
            let is_marked = span.contains(&(at + offset));
            let width = piece.chars().count();
            marks.push_str(&if is_marked { "^" } else { " " }.repeat(width));
            shown.push_str(&piece);
        }
        out.push_str(&format!("  {shown}\n"));
        if !marks.trim().is_empty() {
            out.push_str(&format!("  {}\n", marks.trim_end()));
        }
        at += line.len() + 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &[&str], expected: &str) {
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        let told = in_words(&command, &Settings::default());
        let lines: Vec<&str> = told.lines().skip(2).take(2).collect();
        let class = told.split(':').next().unwrap_or_default();
        assert_eq!(format!("{class}\n{}", lines.join("\n")), expected);
    }

    #[test]
    fn what_holds_a_command_back_is_marked() {
        check(
            &["ls && sudo make"],
            "dangerous\n  ls && sudo make\n        ^^^^^^^^^",
        );
        check(&["ls -la"], "safe\n  ls -la");
        check(&["git push"], "confirm\n  git push\n  ^^^^^^^^");
    }

    #[test]
    fn what_a_terminal_would_act_on_is_written_out() {
        assert_eq!(marked("a\u{1b}b", 2..3), "  a\\u{1b}b\n         ^\n");
        assert_eq!(marked("a\nbc", 2..4), "  a\n  bc\n  ^^\n");
    }
}
