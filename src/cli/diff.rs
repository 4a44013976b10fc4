//! `agent-collab diff`: prints the changes of the run in this repository, or of one step.
//!
//! Takes no lock and changes nothing, so it works while the run continues.

use std::io::{self, IsTerminal, Write};

use clap::Args;

use crate::app::run_diff::{RunDiff, diff_run_in_directory};
use crate::app::startup::StartError;
use crate::domain::diff_scope::DiffScope;
use crate::engine::run_changes::RunChanges;
use crate::text::unified_diff::{DiffLineKind, FileDiff, UnifiedDiff};
use crate::text::{clean_text, describe_line_counts, pluralize};

use super::ConfigFlagArguments;
use super::cli_context::CliContext;

/// Arguments of `agent-collab diff`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Without --step, shows everything that changed since before the first step, up to now. \
                        Control characters are made visible and secrets redacted: read the output, do not pass it to `git apply`."
)]
pub struct DiffArguments {
    /// Show only what this step changed
    #[arg(long, value_name = "N")]
    pub step: Option<u32>,
    /// Show what changed in the latest version of the plan
    #[arg(long, conflicts_with = "step")]
    pub plan: bool,
    /// Show only file names, with the number of added and removed lines
    #[arg(long)]
    pub stat: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// Whether to print colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColorOutput {
    On,
    Off,
}

/// Runs the command.
///
/// # Errors
/// The run's state cannot be read, it has no such step, or git fails.
pub async fn run(args: DiffArguments) -> Result<u8, StartError> {
    let scope = match (args.step, args.plan) {
        (_, true) => DiffScope::Plan,
        (Some(n), false) => DiffScope::Step(n),
        (None, false) => DiffScope::All,
    };
    let here = CliContext::load(&args.choices).await?;
    let layout = here.layout.clone();
    let looked = diff_run_in_directory(&here.into(), &layout, scope).await?;
    if let (DiffScope::Step(_), Ok(RunChanges::Unchanged(why))) = (scope, &looked.changes)
        && !looked.scopes.contains(&scope)
    {
        let hint = "`agent-collab status` lists the steps; omit --step to see all changes";
        return Err(StartError {
            code: 2,
            ..StartError::new(why, hint)
        });
    }
    let out = io::stdout();
    let colours = if out.is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        ColorOutput::On
    } else {
        ColorOutput::Off
    };
    print_changes(looked, args.stat, colours, &mut out.lock())
}

fn print_changes(
    looked: RunDiff,
    stat: bool,
    colours: ColorOutput,
    out: &mut dyn Write,
) -> Result<u8, StartError> {
    if let Some(problem) = &looked.problem {
        let _closed = writeln!(io::stderr(), "note: {}", clean_text(problem));
    }
    let changes = looked.changes.map_err(|error| {
        StartError::new(error, "snapshots of the run are under refs/agent-collab/")
    })?;
    let written = match changes {
        RunChanges::Unchanged(why) => {
            // Standard output is for the diff, and there is none.
            writeln!(io::stderr(), "{why}")
        }
        RunChanges::Diff(patch) if stat => print_stat(&patch, out),
        RunChanges::Diff(patch) => print_patch(&patch, colours, out),
    };
    // A pager closed early is not an error.
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(StartError::new(format!("cannot print: {error}"), ""))
        }
        Ok(()) | Err(_) => Ok(0),
    }
}

fn print_stat(patch: &UnifiedDiff, out: &mut dyn Write) -> io::Result<()> {
    let counts: Vec<String> = patch.files.iter().map(FileDiff::summary).collect();
    let widest = counts.iter().map(|each| each.chars().count()).max();
    let widest = widest.unwrap_or(0);
    for (counts, file) in counts.iter().zip(&patch.files) {
        writeln!(out, "{counts:<widest$}  {}", file.title())?;
    }
    let (added, removed) = patch.totals();
    let files = pluralize(patch.files.len(), "file");
    let counts = [files, describe_line_counts(added, removed)];
    let counts: Vec<String> = counts.into_iter().filter(|part| !part.is_empty()).collect();
    writeln!(out, "{}", counts.join(", "))
}

fn print_patch(patch: &UnifiedDiff, colours: ColorOutput, out: &mut dyn Write) -> io::Result<()> {
    for line in &patch.lines {
        match (colours, ansi_color_code(line.kind)) {
            (ColorOutput::On, Some(code)) => writeln!(out, "\x1b[{code}m{}\x1b[m", line.text)?,
            (ColorOutput::On, None) | (ColorOutput::Off, _) => writeln!(out, "{}", line.text)?,
        }
    }
    Ok(())
}

/// Returns the ANSI colour of a line: the terminal's own colours, as on the screen.
fn ansi_color_code(kind: DiffLineKind) -> Option<&'static str> {
    match kind {
        DiffLineKind::File => Some("1"),
        DiffLineKind::Hunk => Some("36"),
        DiffLineKind::Added => Some("32"),
        DiffLineKind::Removed => Some("31"),
        DiffLineKind::Note => Some("2"),
        DiffLineKind::Context => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+new\n+求和\n";

    fn printed(stat: bool, colours: ColorOutput) -> String {
        let looked = RunDiff {
            scopes: Vec::new(),
            changes: Ok(RunChanges::Diff(UnifiedDiff::parse(TEXT))),
            problem: None,
        };
        let mut out = Vec::new();
        assert_eq!(print_changes(looked, stat, colours, &mut out).unwrap(), 0);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_pipe_gets_the_diff_as_it_is_and_a_terminal_its_colours() {
        assert_eq!(printed(false, ColorOutput::Off), TEXT);
        let coloured = printed(false, ColorOutput::On);
        assert!(coloured.contains("\x1b[31m-old\x1b[m\n\x1b[32m+new\x1b[m\n"));
    }

    #[test]
    fn the_short_form_counts_lines_by_file() {
        assert_eq!(printed(true, ColorOutput::Off), "+2 −1  x\n1 file, +2 −1\n");
    }
}
