//! `agent-collab permissions check`: prints the class of one command, or of many as JSON lines.
//!
//! Runs nothing: a command is only parsed as text.

use std::io::{self, IsTerminal, Write};
use std::ops::Range;

use clap::Args;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::batch_check;
use crate::app::startup::StartError;
use crate::cli::ConfigFlagArguments;
use crate::cli::cli_context::CliContext;
use crate::config::diagnostic::escape_control_chars;
use crate::config::effective_permissions::{AllowAuthority, EffectivePermissions};
use crate::permission::command_safety::{
    Class, CommandClassification, CommandSafetySettings, classify_argv, classify_script,
};

const EXAMPLES: &str = "\
Classes:
  safe       only your rules and the mode decide
  confirm    asks you in every mode; you can allow it for the rest of the run
  dangerous  asks you in every mode, each time, with No preselected
If no one can answer, confirm and dangerous are denied.

One command:
  agent-collab permissions check 'bash -c \"rm -fr build\"'

Many commands, one JSON object per line in and out, in the same order:
  {\"id\":1,\"cmd\":\"git push\"}             by the safety lists: {\"id\":1,\"class\":…,\"rule\":…,\"reason\":…}
  {\"id\":2,\"argv\":[\"bash\",\"-lc\",\"ls\"]}   the same for a command that is started without a shell
  {\"id\":3,\"rules\":[[\"edit\",\"*\",\"deny\"],[\"edit\",\"docs/*\",\"allow\"]],\"tool\":\"edit\",\"target\":\"docs/a.md\"}
                                        by these rules alone: {\"id\":3,\"decision\":…,\"rule\":…,\"reason\":…}
  `target` may be a list; `approvals` may hold {\"tool\",\"target\",\"scope\":\"exact\"|\"pattern\"}.
  Any other line is answered with {\"id\",\"error\"}, and the exit code is 1.";

/// Arguments of `agent-collab permissions check`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct PermissionsCheckArguments {
    /// Read JSON lines from standard input
    #[arg(long, conflicts_with = "command")]
    pub batch: bool,
    /// The command: one shell command line, or a program and its arguments
    #[arg(
        value_name = "COMMAND",
        required_unless_present = "batch",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub command: Vec<String>,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// Runs the command: returns 0, or 1 if a line of a batch could not be answered.
///
/// # Errors
/// The configuration has problems, or standard input cannot be read.
pub async fn run(args: PermissionsCheckArguments) -> Result<u8, StartError> {
    let cwd = crate::cli::current_dir()?;
    let CliContext {
        root,
        places,
        loaded,
        ..
    } = CliContext::load(&args.choices).await?;
    // Judge the command as if an agent ran it here.
    let safety = CommandSafetySettings {
        root: Some(root),
        cwd: Some(cwd),
        home: Some(places.home),
        ..EffectivePermissions::from_config(&loaded.config, AllowAuthority::Everybody).safety
    };
    let written = if args.batch {
        let stdin = io::stdin().lock();
        batch_check::answer_cases(stdin, io::stdout().lock(), &safety)
    } else {
        write!(
            io::stdout(),
            "{}",
            describe_command(&args.command, &safety, terminal_columns())
        )
        .map(|()| 0)
    };
    match written {
        Ok(code) => Ok(code),
        // The reader closed the output, as with `| head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(1),
        Err(error) => Err(StartError::new(
            format!("cannot read or write: {error}"),
            "see `agent-collab permissions check --help`",
        )),
    }
}

fn describe_command(command: &[String], safety: &CommandSafetySettings, columns: usize) -> String {
    let (text, verdict) = match command {
        [line] => (line.clone(), classify_script(line, safety)),
        words => (words.join(" "), classify_argv(words, safety)),
    };
    let CommandClassification {
        class,
        rule,
        reason,
        span,
    } = &verdict;
    let meaning = match class {
        Class::Safe => "your rules and the mode decide",
        Class::Confirm => {
            "asks you in every mode, you can allow it for the rest of the run;\n\
             denied if no one can answer"
        }
        Class::Dangerous => {
            "asks you in every mode, each time, with No preselected;\n\
             denied if no one can answer"
        }
    };
    let mut out = format!("{}: {meaning}\n\n", class.as_str());
    out.push_str(&underline_span(&text, span, columns));
    if *class != Class::Safe {
        out.push_str(&format!(
            "\nwhy   {}\nrule  {}\n",
            escape_control_chars(reason),
            escape_control_chars(rule)
        ));
    }
    out
}

/// Columns of indentation.
const INDENT: usize = 2;

/// Texts up to this many rows are shown whole; of longer ones, this many rows around each mark.
const MAX_UNABRIDGED_ROWS: usize = 40;
const CONTEXT_ROWS: usize = 3;

/// A row of the shown command, and the marks below it.
struct MarkedCommandRow {
    shown: String,
    marks: String,
}

/// Prints the lines of a text with the span underlined, wrapped to a width. Of a long text only the rows around the
/// marks are printed.
fn underline_span(text: &str, span: &Range<usize>, columns: usize) -> String {
    let rows = wrap_into_rows(text, span, columns.saturating_sub(INDENT).max(1));
    let is_near = |at: usize| {
        let from = at.saturating_sub(CONTEXT_ROWS);
        let near = rows.iter().skip(from).take(at - from + CONTEXT_ROWS + 1);
        rows.len() <= MAX_UNABRIDGED_ROWS || near.into_iter().any(|row| !row.marks.is_empty())
    };
    let has_marks = rows.iter().any(|row| !row.marks.is_empty());
    let shown = |at: usize| {
        if has_marks {
            is_near(at)
        } else {
            at < MAX_UNABRIDGED_ROWS
        }
    };
    let mut out = String::new();
    let (mut n_left_out, mut n_shown) = (0_usize, 0_usize);
    let gap = |n: usize| match n {
        0 => String::new(),
        n => format!(
            "{:INDENT$}… {n} more row{}\n",
            "",
            if n == 1 { "" } else { "s" }
        ),
    };
    for (at, row) in rows.iter().enumerate() {
        if !shown(at) || n_shown >= MAX_ROWS {
            n_left_out += 1;
            continue;
        }
        out.push_str(&gap(std::mem::take(&mut n_left_out)));
        n_shown += 1;
        out.push_str(format!("{:INDENT$}{}", "", row.shown).trim_end());
        out.push('\n');
        if !row.marks.is_empty() {
            out.push_str(&format!("{:INDENT$}{}\n", "", row.marks));
        }
    }
    out.push_str(&gap(n_left_out));
    out
}

/// Maximum number of rows to print.
const MAX_ROWS: usize = 200;

fn wrap_into_rows(text: &str, span: &Range<usize>, room: usize) -> Vec<MarkedCommandRow> {
    let mut rows = Vec::new();
    let mut at = 0;
    for line in text.split('\n') {
        let (mut shown, mut marks, mut width) = (String::new(), String::new(), 0);
        for (offset, cluster) in line.grapheme_indices(true) {
            let piece = escape_control_chars(cluster);
            // Terminals show some clusters wider than their nominal width; the marks use the nominal one.
            let wide = piece.width();
            if width + wide > room && width > 0 {
                rows.push(MarkedCommandRow::new(&mut shown, &mut marks));
                width = 0;
            }
            let is_marked = span.contains(&(at + offset));
            marks.push_str(&if is_marked { "^" } else { " " }.repeat(wide));
            shown.push_str(&piece);
            width += wide;
        }
        rows.push(MarkedCommandRow::new(&mut shown, &mut marks));
        at += line.len() + 1;
    }
    rows
}

impl MarkedCommandRow {
    fn new(shown: &mut String, marks: &mut String) -> Self {
        Self {
            shown: std::mem::take(shown),
            marks: std::mem::take(marks).trim_end().to_owned(),
        }
    }
}

/// Returns the width of the terminal; without one, lines are not wrapped.
fn terminal_columns() -> usize {
    if io::stdout().is_terminal() {
        crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns))
    } else {
        usize::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &[&str], expected: &str) {
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        let told = describe_command(&command, &CommandSafetySettings::default(), 80);
        let behind = told.split_once("\n\n").map(|(_, behind)| behind);
        let lines: Vec<&str> = behind.unwrap_or_default().lines().take(2).collect();
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
        assert_eq!(
            underline_span("a\u{1b}b", &(2..3), 80),
            "  a\\u{1b}b\n         ^\n"
        );
        assert_eq!(underline_span("a\nbc", &(2..4), 80), "  a\n  bc\n  ^^\n");
    }

    #[test]
    fn marks_stand_below_wide_characters_too() {
        let text = "echo 日本語; sudo ls";
        let span = text.find("sudo").unwrap()..text.len();
        assert_eq!(
            underline_span(text, &span, 80),
            "  echo 日本語; sudo ls\n               ^^^^^^^\n"
        );
    }

    #[test]
    fn a_line_longer_than_the_terminal_is_broken_with_its_marks() {
        let text = "echo aaaa && sudo ls";
        let span = text.find("sudo").unwrap()..text.len();
        assert_eq!(
            underline_span(text, &span, 12),
            "  echo aaaa\n  && sudo ls\n     ^^^^^^^\n"
        );
    }

    #[test]
    fn of_a_long_text_the_rows_around_the_marks_are_shown() {
        let text = format!("{}sudo ls\n{}", "ls\n".repeat(100), "ls\n".repeat(100));
        let at = text.find("sudo").unwrap();
        let told = underline_span(&text, &(at..at + 7), 80);
        let expected = "  … 97 more rows\n  ls\n  ls\n  ls\n  sudo ls\n  ^^^^^^^\n  ls\n  ls\n  ls\n  … 98 more rows\n";
        assert_eq!(told, expected);
    }
}
