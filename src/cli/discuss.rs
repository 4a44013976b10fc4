//! `agent-collab discuss`: lets several agents discuss one question and prints the result.
//!
//! Uses the running instance, so that its limits and its screen apply; else runs on its own.

use std::io::{self, Read, Write};

use clap::{Args, ValueEnum};

use crate::app::discussion_command::{self, DiscussCommand};
use crate::app::startup::{StartError, StartOptions};
use crate::app::write_watchdog::WatchedWriter;
use crate::domain::discussion::{DiscussionMode, DiscussionStatus, GroupDiscussion, SpeakingOrder};
use crate::domain::ids::DiscussionId;
use crate::engine::discussion_runner::{
    CONTEXT_TOO_LONG, MAX_CONTEXT_CHARS, discussion_to_json, discussion_to_markdown,
};
use crate::mcp::tools::group_discuss::GroupDiscussToolArguments;
use crate::text::{clean_json_line, clean_text};

use super::ConfigFlagArguments;
use super::run::OnAskFlag;
use super::uncontained_flag::UncontainedArguments;

/// Arguments of `agent-collab discuss`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Each participant works in its own session, reads the repository and changes nothing. In the first round \
                  all answer alone, later each sees what the others said. The discussion stops when all agree, when no one \
                  changes position any more, after the last round, at the deadline, or on Ctrl+C. The result lists participants \
                  that failed or took too long; two are enough.\n\n\
                  Modes:\n  \
                  debate         advocate against critic, then the moderator reads the last round and decides\n  \
                  collaborative  everyone answers in every round, until they agree\n  \
                  jury           everyone answers alone, then votes\n\n\
                  Progress goes to standard error, the result to standard output.\n\n\
                  Exit codes: 0 finished, with or without a decision (without one, `decision` is null in --json), 1 failed or \
                  could not start, 2 usage error, 130 interrupted.\n\n\
                  Examples:\n  \
                  agent-collab discuss \"SQLite or Postgres for this project?\"\n  \
                  agent-collab discuss --mode jury --participant a=explore@codex --participant b=explore@claude \"…\"\n  \
                  agent-collab discuss --file docs/design.md --rounds 2 --json \"Is the cache worth it?\" | jq .decision\n  \
                  agent-collab discuss --budget --preset tech-review"
)]
pub struct DiscussArguments {
    /// The question to decide, with its options
    #[arg(value_name = "TOPIC", required_unless_present_any = ["budget", "id"])]
    pub topic: Vec<String>,
    /// How the discussion works [default: discuss.mode of the configuration]
    #[arg(long, value_name = "MODE")]
    pub mode: Option<DiscussModeFlag>,
    /// Whether participants answer at once or in turn, from the second round on
    #[arg(long, value_name = "ORDER")]
    pub order: Option<DiscussOrderFlag>,
    /// The agents that take part, such as advocate,critic,moderator
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub agents: Vec<String>,
    /// One participant, such as ops=general@claude (name and adapter are optional)
    #[arg(long, value_name = "[NAME=]AGENT[@ADAPTER]")]
    pub participant: Vec<String>,
    /// Maximum number of rounds, 1 to 10
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10))]
    pub rounds: Option<u32>,
    /// Context for every participant; - reads it from standard input
    #[arg(long, value_name = "TEXT")]
    pub context: Option<String>,
    /// A file of the repository for every participant; up to ten, 256 KiB each
    #[arg(long = "file", value_name = "PATH")]
    pub files: Vec<String>,
    /// Use a preset of the configuration, [discuss.preset.NAME]
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Keep the participants' sessions
    #[arg(long)]
    pub keep_sessions: bool,
    /// Print only the conclusion and the votes, not the messages
    #[arg(long)]
    pub short: bool,
    /// Continue a discussion that was stopped, interrupted or failed, by its id
    #[arg(long, value_name = "DISCUSSION_ID", conflicts_with_all = ["topic", "budget", "agents", "participant", "files", "preset", "context", "mode", "order", "rounds"])]
    pub id: Option<String>,
    /// Show what the participants would be sent, without starting anything
    #[arg(long)]
    pub budget: bool,
    /// How to answer an agent's permission request if no instance is running here
    #[arg(long, value_name = "WHAT", default_value = "deny")]
    pub on_ask: OnAskFlag,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// What lifts the asking about commands that nothing holds.
    #[command(flatten)]
    pub holding: UncontainedArguments,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// The words of `--mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiscussModeFlag {
    /// Advocate against critic, then the moderator decides
    Debate,
    /// Everyone answers in every round, until they agree
    Collaborative,
    /// Everyone answers alone, then votes
    Jury,
}

/// The words of `--order`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiscussOrderFlag {
    /// All at once
    Simultaneous,
    /// One after another
    Sequential,
}

/// Runs the command.
///
/// # Errors
/// The discussion did not start, or its end is unknown.
pub async fn run(args: DiscussArguments) -> Result<u8, StartError> {
    let wishes = StartOptions {
        ask_policy: args.on_ask.into(),
        uncontained: args.holding.uncontained_commands(),
        ..StartOptions::without_turns(super::current_dir()?, args.choices.to_config_flags()?)
    };
    let arguments = to_tool_arguments(&args)?;
    if args.budget {
        let derived = discussion_command::preview_budget(&wishes, arguments).await?;
        let text = if args.json {
            clean_json_line(&derived.0.to_string())
        } else {
            derived.describe()
        };
        return Ok(print_text(&text, 0));
    }
    let given = DiscussCommand {
        arguments,
        id: args.id.as_deref().map(DiscussionId::new),
    };
    let (discussion, signal) =
        discussion_command::run_discussion(&wishes, given, &mut super::print_progress).await?;
    let text = if args.json {
        clean_json_line(&discussion_to_json(&discussion).to_string())
    } else {
        format_discussion(&discussion)
    };
    Ok(match (discussion.status, signal) {
        (DiscussionStatus::Completed, _) => print_text(&text, 0),
        (
            DiscussionStatus::Running | DiscussionStatus::Failed | DiscussionStatus::Cancelled,
            Some(_),
        ) => print_text(&text, 130),
        (
            DiscussionStatus::Running | DiscussionStatus::Failed | DiscussionStatus::Cancelled,
            None,
        ) => print_text(&text, 1),
    })
}

fn print_text(text: &str, code: u8) -> u8 {
    crate::cli::exit_code_after_print(
        writeln!(WatchedWriter(io::stdout()), "{}", text.trim_end()),
        code,
    )
}

fn format_discussion(discussion: &GroupDiscussion) -> String {
    let mut text = clean_text(&discussion_to_markdown(discussion));
    if discussion.can_resume() {
        text.push_str(&format!(
            "\n`agent-collab discuss --id {}` continues after the last finished round.\n",
            discussion.id()
        ));
    }
    text
}

fn to_tool_arguments(args: &DiscussArguments) -> Result<GroupDiscussToolArguments, StartError> {
    let context = match args.context.as_deref() {
        Some("-") => Some(read_context_from_stdin()?),
        context => context.map(str::to_owned),
    };
    Ok(GroupDiscussToolArguments {
        topic: args.topic.join(" "),
        mode: args.mode.map(|mode| match mode {
            DiscussModeFlag::Debate => DiscussionMode::Debate,
            DiscussModeFlag::Collaborative => DiscussionMode::Collaborative,
            DiscussModeFlag::Jury => DiscussionMode::Jury,
        }),
        order: args.order.map(|order| match order {
            DiscussOrderFlag::Simultaneous => SpeakingOrder::Simultaneous,
            DiscussOrderFlag::Sequential => SpeakingOrder::Sequential,
        }),
        agents: merge_participants(&args.agents, &args.participant),
        participants: Vec::new(),
        rounds: args.rounds,
        context,
        files: args.files.clone(),
        preset: args.preset.clone(),
        keep_sessions: args.keep_sessions.then_some(true),
        verbose: args.short.then_some(false),
        background: false,
        diagnose: false,
    })
}

/// Merges both lists; a participant replaces an agent of the same name.
fn merge_participants(agents: &[String], participants: &[String]) -> Vec<String> {
    let name = |text: &str| {
        let end = text.find(['=', '@']).unwrap_or(text.len());
        text[..end].trim().to_owned()
    };
    let replaced: Vec<String> = participants.iter().map(|text| name(text)).collect();
    let stays = |agent: &&String| !replaced.contains(&name(agent));
    agents
        .iter()
        .filter(stays)
        .chain(participants)
        .cloned()
        .collect()
}

fn read_context_from_stdin() -> Result<String, StartError> {
    // A character has at most four bytes.
    let most = MAX_CONTEXT_CHARS as u64 * 4;
    let mut text = Vec::new();
    match io::stdin().take(most + 1).read_to_end(&mut text) {
        Ok(n) if n as u64 > most => Err(StartError::new(CONTEXT_TOO_LONG, "--file PATH gives one")),
        Ok(_) => String::from_utf8(text)
            .map_err(|_| StartError::new("the context on standard input is not UTF-8", "")),
        Err(error) => Err(StartError::new(
            format!("the context cannot be read from standard input: {error}"),
            "",
        )),
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantNames;

    use super::*;

    #[test]
    fn the_flags_offer_every_mode_and_order() {
        fn words<T: ValueEnum>() -> Vec<String> {
            let values = T::value_variants().iter();
            let values = values.filter_map(ValueEnum::to_possible_value);
            values.map(|value| value.get_name().to_owned()).collect()
        }
        assert_eq!(words::<DiscussModeFlag>(), DiscussionMode::VARIANTS);
        assert_eq!(words::<DiscussOrderFlag>(), SpeakingOrder::VARIANTS);
    }

    #[test]
    fn a_participant_of_an_agents_name_stands_in_its_place() {
        let texts = |all: &[&str]| -> Vec<String> { all.iter().map(|t| (*t).to_owned()).collect() };
        let found = merge_participants(
            &texts(&["advocate", "critic"]),
            &texts(&["critic=general@claude", "advocate"]),
        );
        assert_eq!(found, texts(&["critic=general@claude", "advocate"]));
        let found = merge_participants(&texts(&["advocate"]), &texts(&["ops=general"]));
        assert_eq!(found, texts(&["advocate", "ops=general"]));
    }
}
