//! `agent-collab verify`: checks the receipts of a run, or of a range of commits, offline.
//!
//! Takes no lock and changes nothing. Runs the tests again only with `--rerun`, in clean copies.

use std::io::{self, IsTerminal, Write};

use clap::Args;
use serde_json::{Value, json};

use crate::app::receipt_verification::{
    ChainReport, CheckRerun, CheckReruns, VerificationReport, VerificationResult, verify_range,
    verify_run,
};
use crate::app::startup::{RunTreeReader, StartError};
use crate::domain::receipt_chain::{ChainBreak, ChainStep, WaiverPolicy};
use crate::engine::proof_cells::RerunResult;
use crate::store::receipt_files;
use crate::text::{clean_json_line, clean_text, clean_to_one_line, pluralize};

use super::ConfigFlagArguments;
use super::cli_context::CliContext;
use super::export::find_run;

/// Arguments of `agent-collab verify`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Exit codes: 0 whole, and every step proven, kept or waived in the plan; 6 whole, but a step is unproven or was waived \
                  later, commits were rewritten or belong to no run, or with --rerun a check could not be run again; 7 broken, each break named; 1 cannot read.\n\n\
                  Examples:\n  agent-collab verify              # the current run, or else the last finished one\n  \
                  agent-collab verify 2            # the second of `agent-collab history`\n  \
                  agent-collab verify main..HEAD   # the commits of a branch\n  \
                  agent-collab verify --rerun      # and run the tests of each step again"
)]
pub struct VerifyArguments {
    /// A finished run by its number, its name or part of it, or a range of commits [default: the last run]
    #[arg(value_name = "RUN|A..B")]
    pub wanted: Option<String>,
    /// Count no waiver: every waived step makes the exit code 6
    #[arg(long)]
    pub strict: bool,
    /// Run the checks of the steps again, in clean copies in the sandbox, and compare each test
    #[arg(long)]
    pub rerun: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// What a whole chain shows, and what it cannot show.
const PROTECTION: &str = "\
protects against: agents, and later edits of receipts, outputs, commits or their order
does not protect against: the owner of this machine, who can write new receipts
";

/// Runs the command.
///
/// # Errors
/// There are no such receipts or commits, or they cannot be read.
pub async fn run(args: VerifyArguments) -> Result<u8, StartError> {
    let here = CliContext::load(&args.choices).await?;
    let layout = here.layout.clone();
    let config = here.loaded.config.clone();
    let wanted = args.wanted.as_deref();
    let ground = RunTreeReader::from(here);
    let (mut report, git) = match wanted {
        Some(range) if range.contains("..") => match ground.repository.clone() {
            Some(git) => (verify_range(&layout, &git, range).await?, Some(git)),
            None => {
                let hint = "name a run, or start in a git repository";
                return Err(StartError::new("this is no git repository", hint));
            }
        },
        Some(_) | None => {
            // In a clone the receipts may be all that there is of the run.
            let is_here = wanted.is_none() && !receipt_files::list_runs(&layout)?.is_empty();
            let layout = if is_here {
                layout.clone()
            } else {
                find_run(layout.clone(), wanted).map_err(|error| match wanted {
                    // Nothing was named that could be wrong: there is nothing to read.
                    None => StartError { code: 1, ..error },
                    Some(_) => error,
                })?
            };
            let git = ground.open_repository(layout.workdir()).await?;
            (verify_run(&layout, git.as_ref()).await?, git)
        }
    };
    if args.rerun {
        let Some(repository) = git else {
            let problem = "there are no trees of the run here to run its checks on";
            return Err(StartError::new(problem, "start in the run's repository"));
        };
        let reruns = CheckReruns {
            repository,
            config: &config,
            places: &ground.places,
            layout: &layout,
        };
        let is_told = !args.json || io::stderr().is_terminal();
        let mut tell = |rerun: &CheckRerun| {
            if is_told {
                let line = clean_to_one_line(&describe_rerun(rerun));
                let _closed = writeln!(io::stderr(), "{line}");
            }
        };
        if let Some(signal) = reruns.run(&mut report, &mut tell).await? {
            let _closed = writeln!(io::stderr(), "interrupted by {signal}");
            return Ok(130);
        }
    }
    let waivers = if args.strict {
        WaiverPolicy::Never
    } else {
        WaiverPolicy::InPlan
    };
    let text = if args.json {
        let json = report_to_json(&report, waivers).to_string();
        format!("{}\n", clean_json_line(&json))
    } else {
        format_report(&report, waivers)
    };
    let printed = super::print_output(&text);
    Ok(match printed {
        0 => report.result(waivers).exit_code(),
        failed => failed,
    })
}

fn format_report(report: &VerificationReport, waivers: WaiverPolicy) -> String {
    let mut text = String::new();
    for chain in &report.chains {
        if report.chains.len() > 1 {
            text.push_str(&format!("run {}\n", clean_to_one_line(chain.run.as_str())));
        }
        text.push_str(&format_steps(chain));
        text.push_str(&format_chain(chain));
        text.push_str(&format_reruns(&chain.reruns));
    }
    text.push_str(&format_breaks(&report.breaks));
    for line in &report.unreadable {
        text.push_str(&format!("cannot read: {}\n", clean_to_one_line(line)));
    }
    if !report.rewritten.is_empty() {
        let n = pluralize(report.rewritten.len(), "commit");
        let whole = match report.result(waivers) {
            VerificationResult::Broken => "",
            VerificationResult::Verified
            | VerificationResult::Unverified
            | VerificationResult::Unreadable => "whole, ",
        };
        text.push_str(&format!(
            "{whole}rewritten: the commits end with the last tree of the chain, and {n} replace its own:\n"
        ));
        text.push_str(&format_commits(&report.rewritten));
    }
    if !report.outside.is_empty() {
        let n = pluralize(report.outside.len(), "commit");
        text.push_str(&format!(
            "before or after the run, not part of it and not verified: {n}:\n"
        ));
        text.push_str(&format_commits(&report.outside));
    }
    if let Some(hint) = &report.hint {
        text.push_str(&format!("hint: {}\n", clean_to_one_line(hint)));
    }
    text.push_str(&format_unverified(report, waivers));
    text.push_str(PROTECTION);
    clean_text(&text)
}

fn format_commits(commits: &[String]) -> String {
    let lines = commits.iter().map(|commit| clean_to_one_line(commit));
    lines.map(|line| format!("  {line}\n")).collect()
}

fn format_steps(chain: &ChainReport) -> String {
    let summary = |step: &ChainStep| clean_to_one_line(&step.summary);
    let widths = chain.steps.iter().map(|step| summary(step).chars().count());
    let width = widths.max().unwrap_or(0);
    let mut text = String::new();
    for step in &chain.steps {
        let commit = step.commit.as_deref().map(clean_to_one_line);
        let commit = commit.map_or("no commit".to_owned(), |id| id.chars().take(7).collect());
        text.push_str(&format!(
            "step {}  {:<8} {:<width$}   {commit}\n",
            step.step,
            step.status.label(),
            summary(step),
        ));
    }
    for number in &chain.steps_without_receipt {
        text.push_str(&format!("step {number}  no receipt\n"));
    }
    text
}

fn format_chain(chain: &ChainReport) -> String {
    if !chain.breaks.is_empty() {
        let n = pluralize(chain.breaks.len(), "break");
        return format!("chain broken: {n}\n{}", format_breaks(&chain.breaks));
    }
    let head = chain.head.as_ref().map_or("", |head| head.as_str());
    let n = pluralize(chain.n_receipts, "receipt");
    let short: String = head.chars().take(12).collect();
    let unlogged = match chain.n_unlogged {
        0 => String::new(),
        n => format!(
            "not in the log yet: {}; the run is at work or was interrupted\n",
            pluralize(n, "later receipt")
        ),
    };
    let source = if chain.is_from_notes {
        "read from git notes: output not here, only its hashes\n"
    } else {
        ""
    };
    format!("chain whole: {n}, head {short}…\n{source}{unlogged}")
}

/// Counts what was run again, and names what could not be.
fn format_reruns(reruns: &[CheckRerun]) -> String {
    if reruns.is_empty() {
        return String::new();
    }
    let is_unrun = |rerun: &&CheckRerun| matches!(rerun.result, RerunResult::NotRun(_));
    let n_same = reruns.iter().filter(|rerun| rerun.is_confirmed()).count();
    let n_run = reruns.len() - reruns.iter().filter(is_unrun).count();
    let n = pluralize(reruns.len(), "check");
    let mut text = format!("run again: {n_run} of {n}, {n_same} with the same result\n");
    for rerun in reruns.iter().filter(is_unrun) {
        let line = clean_to_one_line(&describe_rerun(rerun));
        text.push_str(&format!("  {line}\n"));
    }
    text
}

fn describe_rerun(rerun: &CheckRerun) -> String {
    let cell: &str = rerun.cell.into();
    let what = match &rerun.result {
        RerunResult::Same => "the same".to_owned(),
        RerunResult::Different(what) => format!("another result: {what}"),
        RerunResult::NotRun(why) => format!("not run again: {why}"),
    };
    format!("step {} {cell} `{}`: {what}", rerun.step, rerun.command)
}

fn format_breaks(breaks: &[ChainBreak]) -> String {
    let lines = breaks.iter().map(|found| {
        let line = clean_to_one_line(&found.to_string());
        format!("  broken: {line}\n")
    });
    lines.collect()
}

/// Names the steps because of which the exit code is 6.
fn format_unverified(report: &VerificationReport, waivers: WaiverPolicy) -> String {
    let result = report.result(waivers);
    let steps: Vec<String> = report
        .chains
        .iter()
        .flat_map(|chain| {
            let unverified = chain.steps.iter();
            let unverified = unverified.filter(|step| {
                !step.status.is_verified(waivers) || !is_confirmed(chain, step.step)
            });
            let numbers = unverified.map(|step| step.step);
            numbers.chain(chain.steps_without_receipt.iter().copied())
        })
        .map(|number| format!("step {number}"))
        .collect();
    match result {
        VerificationResult::Unverified if !steps.is_empty() => {
            format!("not verified: {}\n", steps.join(", "))
        }
        VerificationResult::Unverified
            if report.chains.iter().all(|chain| chain.steps.is_empty()) =>
        {
            "not verified: no step has a receipt\n".to_owned()
        }
        VerificationResult::Unverified
        | VerificationResult::Verified
        | VerificationResult::Broken
        | VerificationResult::Unreadable => String::new(),
    }
}

/// Returns whether all checks of a step that were to be run again ended as before.
fn is_confirmed(chain: &ChainReport, step: u32) -> bool {
    let mut reruns = chain.reruns.iter().filter(|rerun| rerun.step == step);
    reruns.all(CheckRerun::is_confirmed)
}

fn report_to_json(report: &VerificationReport, waivers: WaiverPolicy) -> Value {
    let result = report.result(waivers);
    let word = match result {
        VerificationResult::Verified => "verified",
        VerificationResult::Unverified => "not_verified",
        VerificationResult::Broken => "broken",
        VerificationResult::Unreadable => "unreadable",
    };
    let chains = report.chains.iter();
    json!({
        "result": word,
        "exit_code": result.exit_code(),
        "runs": chains.map(|chain| chain_to_json(chain, waivers)).collect::<Vec<Value>>(),
        "breaks": breaks_to_json(&report.breaks),
        "unreadable": report.unreadable,
        "rewritten": report.rewritten,
        "outside": report.outside,
        "hint": report.hint,
    })
}

fn chain_to_json(chain: &ChainReport, waivers: WaiverPolicy) -> Value {
    let steps = chain.steps.iter().map(|step| {
        json!({
            "step": step.step,
            "text": step.text,
            "status": step.status.label(),
            "verified": step.status.is_verified(waivers),
            "summary": step.summary,
            "commit": step.commit,
            "receipt": step.receipt,
        })
    });
    let mut json = json!({
        "run": chain.run,
        "receipts": chain.n_receipts,
        "head": chain.head,
        "steps": steps.collect::<Vec<Value>>(),
        "steps_without_receipt": chain.steps_without_receipt,
        "unlogged_receipts": chain.n_unlogged,
        "from_notes": chain.is_from_notes,
        "breaks": breaks_to_json(&chain.breaks),
    });
    if !chain.reruns.is_empty() {
        json["reruns"] = chain.reruns.iter().map(rerun_to_json).collect();
    }
    json
}

fn rerun_to_json(rerun: &CheckRerun) -> Value {
    let (result, what) = match &rerun.result {
        RerunResult::Same => ("same", None),
        RerunResult::Different(what) => ("different", Some(what)),
        RerunResult::NotRun(why) => ("not_run", Some(why)),
    };
    json!({
        "step": rerun.step,
        "cell": rerun.cell,
        "command": rerun.command,
        "receipt": rerun.receipt,
        "result": result,
        "what": what,
    })
}

fn breaks_to_json(breaks: &[ChainBreak]) -> Value {
    let all = breaks.iter();
    all.map(|found| json!({ "receipt": found.receipt, "what": found.to_string() }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{RunId, Sha256};
    use crate::domain::receipt_chain::{BreakCause, ChainStepStatus};
    use crate::domain::step_proof::ProofCell;

    fn step(number: u32, status: ChainStepStatus, summary: &str) -> ChainStep {
        ChainStep {
            step: number,
            receipt: number * 3,
            text: "Add `sum`".to_owned(),
            status,
            summary: summary.to_owned(),
            commit: Some("3f2a91c0aa".to_owned()),
            tree_after: "t".to_owned(),
        }
    }

    fn report(steps: Vec<ChainStep>, breaks: Vec<ChainBreak>) -> VerificationReport {
        VerificationReport {
            chains: vec![ChainReport {
                run: RunId::new("run_1"),
                n_receipts: 14,
                head: Some(Sha256::new("9c1e".repeat(16))),
                steps,
                steps_without_receipt: Vec::new(),
                n_unlogged: 0,
                is_from_notes: false,
                breaks,
                links: Vec::new(),
                reruns: Vec::new(),
            }],
            ..VerificationReport::default()
        }
    }

    fn check(report: &VerificationReport, waivers: WaiverPolicy, code: u8, expected: &str) {
        let text = format_report(report, waivers);
        assert_eq!(text, format!("{expected}{PROTECTION}"));
        assert_eq!(report.result(waivers).exit_code(), code);
        assert_eq!(report_to_json(report, waivers)["exit_code"], code);
    }

    #[test]
    fn each_step_has_a_line_and_the_chain_one() {
        let steps = vec![
            step(1, ChainStepStatus::Proven, "red → green · kept 13 · 4 s"),
            step(2, ChainStepStatus::WaivedInPlan, "documentation only"),
        ];
        let lines = "step 1  proven   red → green · kept 13 · 4 s   3f2a91c\n\
                     step 2  waived   documentation only            3f2a91c\n\
                     chain whole: 14 receipts, head 9c1e9c1e9c1e…\n";
        let report = report(steps, Vec::new());
        check(&report, WaiverPolicy::InPlan, 0, lines);
        let strict = format!("{lines}not verified: step 2\n");
        check(&report, WaiverPolicy::Never, 6, &strict);
    }

    #[test]
    fn each_break_is_named_and_outweighs_the_rest() {
        let breaks = vec![
            ChainBreak::of_receipt(4, BreakCause::WrongNumber(5)),
            ChainBreak::of_chain(BreakCause::NoReceipt {
                commit: "c1".to_owned(),
                subject: "by \u{1b}[31mhand".to_owned(),
            }),
        ];
        let mut report = report(vec![step(1, ChainStepStatus::Unproven, "")], breaks);
        report.unreadable.push("a file".to_owned());
        let expected = "step 1  unproven    3f2a91c\n\
                        chain broken: 2 breaks\n  \
                        broken: receipt 4: it has the number 5\n  \
                        broken: the commit c1 (\"by hand\") has no receipt\n\
                        cannot read: a file\n";
        check(&report, WaiverPolicy::InPlan, 7, expected);
    }

    #[test]
    fn a_chain_without_a_step_verifies_nothing() {
        let mut report = report(Vec::new(), Vec::new());
        let lines = "chain whole: 14 receipts, head 9c1e9c1e9c1e…\n";
        let none = format!("{lines}not verified: no step has a receipt\n");
        check(&report, WaiverPolicy::InPlan, 6, &none);
        report.chains[0].steps_without_receipt.push(2);
        let missing = format!("step 2  no receipt\n{lines}not verified: step 2\n");
        check(&report, WaiverPolicy::InPlan, 6, &missing);
    }

    #[test]
    fn checks_that_were_run_again_are_told() {
        let rerun = |receipt, cell, result| CheckRerun {
            step: 1,
            cell,
            command: "npm test".to_owned(),
            receipt,
            result,
        };
        let mut report = report(vec![step(1, ChainStepStatus::Proven, "x")], Vec::new());
        report.chains[0].reruns = vec![rerun(2, ProofCell::Green, RerunResult::Same)];
        let lines = "step 1  proven   x   3f2a91c\n\
                     chain whole: 14 receipts, head 9c1e9c1e9c1e…\n";
        let same = format!("{lines}run again: 1 of 1 check, 1 with the same result\n");
        check(&report, WaiverPolicy::InPlan, 0, &same);
        let why = RerunResult::NotRun("no sandbox".to_owned());
        report.chains[0].reruns.push(rerun(3, ProofCell::Red, why));
        let partly = format!(
            "{lines}run again: 1 of 2 checks, 1 with the same result\n  \
             step 1 red `npm test`: not run again: no sandbox\n\
             not verified: step 1\n"
        );
        check(&report, WaiverPolicy::InPlan, 6, &partly);
        let json = report_to_json(&report, WaiverPolicy::InPlan);
        let expected = json!({
            "step": 1, "cell": "red", "command": "npm test", "receipt": 3,
            "result": "not_run", "what": "no sandbox",
        });
        assert_eq!(json["runs"][0]["reruns"][1], expected);
    }

    #[test]
    fn receipts_that_the_log_does_not_name_yet_are_told() {
        let mut report = report(vec![step(1, ChainStepStatus::Kept, "x")], Vec::new());
        report.chains[0].n_unlogged = 2;
        let expected = "step 1  kept     x   3f2a91c\n\
                        chain whole: 14 receipts, head 9c1e9c1e9c1e…\n\
                        not in the log yet: 2 later receipts; the run is at work or was interrupted\n";
        check(&report, WaiverPolicy::InPlan, 6, expected);
    }

    #[test]
    fn what_is_not_as_it_was_is_told_with_what_to_try() {
        let mut report = report(vec![step(1, ChainStepStatus::Kept, "x")], Vec::new());
        report.chains[0].is_from_notes = true;
        let mut lines = "step 1  kept     x   3f2a91c\n\
                         chain whole: 14 receipts, head 9c1e9c1e9c1e…\n\
                         read from git notes: output not here, only its hashes\n"
            .to_owned();
        check(&report, WaiverPolicy::Never, 0, &lines);
        report.outside.push("c1 by \u{1b}[31mhand".to_owned());
        lines +=
            "before or after the run, not part of it and not verified: 1 commit:\n  c1 by hand\n";
        check(&report, WaiverPolicy::InPlan, 6, &lines);
        report.hint = Some("try this".to_owned());
        lines += "hint: try this\n";
        check(&report, WaiverPolicy::InPlan, 6, &lines);
    }
}
