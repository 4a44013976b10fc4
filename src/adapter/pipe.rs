//! The adapter of any command that reads a prompt from standard input and answers on standard output.
//!
//! It runs one process per turn, and everything that the process writes is the answer. There are no sessions, calls or
//! tools.

use crate::adapter::cli_capabilities::CliProbe;
use crate::adapter::{
    Adapter, AdapterCommand, AdapterEvent, AdapterOutput, AdapterTraits, AgentSandbox, CallReports,
    CliExit, CliProcessLifetime, CliTurnOutcome, LaunchSpec, SandboxDescription, SandboxProvider,
    SessionSpec, ToolSupport, TurnFailure, TurnFailureKind, TurnSpec,
};
use crate::permission::profile_registry::FileReadMethod;

static TRAITS: AdapterTraits = AdapterTraits {
    cli_name: "pipe",
    model_vendor: None,
    tools: ToolSupport::NoTools,
    removed_tools: &[],
    file_reads: FileReadMethod::ReadTools,
    call_reports: CallReports::NoCalls,
    sandbox: AgentSandbox::NoSandbox(SandboxDescription {
        by_kernel: "none: the needs of this program are unknown",
        by_protocol: "nothing; only its answer is read, its calls are not visible",
        summary: "none; its calls are not visible, only its answer is read",
    }),
    bundled_bubblewrap: None,
    hook_denial: None,
    probe: CliProbe::Exists,
    reported_variables: &[],
    rule_files: &[],
    parse_tool_output: |_, _| None,
    command_output: |output| output,
};

/// How many bytes of a failed command's output are shown at most.
const MAX_OUTPUT_BYTES: usize = 2000;

/// One command that is run once per turn.
#[derive(Debug, Default)]
pub struct PipeAdapter {
    program: String,
    /// A notice to show to the user before the first answer.
    pending_notice: Option<String>,
    turn: Option<PipeOpenTurn>,
}

#[derive(Debug)]
struct PipeOpenTurn {
    item: String,
    answer: String,
    stop: PipeStopState,
}

/// Whether a turn is being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PipeStopState {
    NotStopping,
    Interrupted,
}

impl Adapter for PipeAdapter {
    fn traits(&self) -> &'static AdapterTraits {
        &TRAITS
    }

    fn prepare_launch(&mut self, session: &SessionSpec, _turn: &TurnSpec) -> LaunchSpec {
        let cli = &session.cli;
        self.turn = None;
        self.program.clone_from(&cli.program);
        self.pending_notice = cli.model.as_ref().map(|model| {
            format!(
                "the model {model} is not passed to {}; add it to the adapter's args",
                cli.program
            )
        });
        LaunchSpec {
            program: cli.program.clone(),
            args: cli.args.clone(),
            env: cli.env.clone(),
            env_remove: Vec::new(),
            cwd: session.cwd.clone(),
            lifetime: CliProcessLifetime::Turn,
            sandbox: SandboxProvider::NoSandbox,
        }
    }

    fn can_serve(&self, _turn: &TurnSpec) -> bool {
        false
    }

    fn on_command(&mut self, order: AdapterCommand) -> Vec<AdapterOutput> {
        match order {
            AdapterCommand::StartTurn(turn) => self.on_turn(turn),
            AdapterCommand::Interrupt => self.on_interrupt(),
            // The command has already read all of its input.
            AdapterCommand::Steer(text) => {
                vec![AdapterOutput::Event(AdapterEvent::InputUndelivered {
                    text,
                })]
            }
            AdapterCommand::DecideApproval(..)
            | AdapterCommand::AskUserFirst(_)
            | AdapterCommand::AnswerQuestions(..)
            | AdapterCommand::HandleHookCall(..) => Vec::new(),
        }
    }

    fn on_stdout_line(&mut self, line: &str) -> Vec<AdapterOutput> {
        let Some(turn) = &mut self.turn else {
            return Vec::new();
        };
        let text = format!("{line}\n");
        turn.answer.push_str(&text);
        vec![AdapterOutput::Event(AdapterEvent::TextDelta {
            item: turn.item.clone(),
            text,
        })]
    }

    fn on_exit(&mut self, exit: &CliExit) -> Vec<AdapterOutput> {
        let Some(turn) = self.turn.take() else {
            return Vec::new();
        };
        let mut out = Vec::new();
        let end = match (turn.stop, exit.code) {
            (PipeStopState::NotStopping, Some(0)) => {
                out.extend(text_event(&turn));
                CliTurnOutcome::Completed {
                    final_text: turn.answer,
                }
            }
            (PipeStopState::Interrupted, _) => {
                out.extend(withdrawn_event(&turn));
                CliTurnOutcome::Interrupted
            }
            (PipeStopState::NotStopping, _) => {
                out.extend(withdrawn_event(&turn));
                CliTurnOutcome::Failed(self.exit_failure(exit, &turn.answer))
            }
        };
        out.push(AdapterOutput::Event(AdapterEvent::TurnEnded(end)));
        out
    }
}

impl PipeAdapter {
    fn on_turn(&mut self, turn: TurnSpec) -> Vec<AdapterOutput> {
        if self.turn.is_some() {
            let text = "a turn is already running; the new one was not sent".to_owned();
            return vec![AdapterOutput::Event(AdapterEvent::Notice { text })];
        }
        self.turn = Some(PipeOpenTurn {
            item: format!("{}:answer", turn.turn),
            answer: String::new(),
            stop: PipeStopState::NotStopping,
        });
        let mut prompt = turn.prompt;
        if !prompt.ends_with('\n') {
            prompt.push('\n');
        }
        let remark = self.pending_notice.take();
        let remark = remark.map(|text| AdapterOutput::Event(AdapterEvent::Notice { text }));
        // The protocol has no handshake, so the turn starts at once.
        let sent = [
            AdapterOutput::Event(AdapterEvent::Ready { version: None }),
            AdapterOutput::Send(prompt),
            AdapterOutput::CloseInput,
            AdapterOutput::Event(AdapterEvent::TurnStarted),
        ];
        remark.into_iter().chain(sent).collect()
    }

    /// Records the interrupt. A command has no protocol for it: the engine stops the process, and the exit ends the
    /// turn.
    fn on_interrupt(&mut self) -> Vec<AdapterOutput> {
        if let Some(turn) = &mut self.turn {
            turn.stop = PipeStopState::Interrupted;
        }
        Vec::new()
    }

    fn exit_failure(&self, exit: &CliExit, answer: &str) -> TurnFailure {
        let ended = match (exit.code, exit.signal) {
            (Some(code), _) => format!("{} ended with exit code {code}", self.program),
            (None, Some(signal)) => format!("{} was killed by signal {signal}", self.program),
            (None, None) => format!("{} ended", self.program),
        };
        let stderr = exit.stderr_tail.trim();
        let said = if stderr.is_empty() {
            answer.trim()
        } else {
            stderr
        };
        let tail = &said[said.ceil_char_boundary(said.len().saturating_sub(MAX_OUTPUT_BYTES))..];
        let message = match tail {
            "" => ended,
            tail => format!("{ended}: {tail}"),
        };
        TurnFailure::new(TurnFailureKind::Protocol, message)
    }
}

fn text_event(turn: &PipeOpenTurn) -> Option<AdapterOutput> {
    (!turn.answer.is_empty()).then(|| {
        AdapterOutput::Event(AdapterEvent::Text {
            item: turn.item.clone(),
            text: turn.answer.clone(),
        })
    })
}

fn withdrawn_event(turn: &PipeOpenTurn) -> Option<AdapterOutput> {
    (!turn.answer.is_empty()).then(|| {
        AdapterOutput::Event(AdapterEvent::BlockWithdrawn {
            item: turn.item.clone(),
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::adapter::TurnAccess;
    use crate::domain::ids::TurnId;

    fn session(model: Option<&str>) -> SessionSpec {
        let mut session = SessionSpec::example("llm");
        session.cli.args = vec!["chat".to_owned()];
        session.cli.model = model.map(str::to_owned);
        session
    }

    fn turn() -> TurnSpec {
        TurnSpec {
            turn: TurnId::new("trn_1"),
            prompt: "What now?".to_owned(),
            access: TurnAccess::ReadOnly,
            hidden_permissions: Vec::new(),
        }
    }

    fn exit(code: Option<i32>, stderr: &str) -> CliExit {
        CliExit {
            code,
            signal: code.is_none().then_some(9),
            stderr_tail: stderr.to_owned(),
        }
    }

    fn play(orders: &[AdapterCommand], lines: &[&str], exit: &CliExit) -> Vec<AdapterOutput> {
        let mut pipe = PipeAdapter::default();
        pipe.prepare_launch(&session(None), &turn());
        let mut out = pipe.on_command(AdapterCommand::StartTurn(turn()));
        out.extend(lines.iter().flat_map(|line| pipe.on_stdout_line(line)));
        out.extend(
            orders
                .iter()
                .flat_map(|order| pipe.on_command(order.clone())),
        );
        out.extend(pipe.on_exit(exit));
        out.extend(pipe.on_exit(exit));
        out
    }

    fn check(orders: &[AdapterCommand], lines: &[&str], exit: &CliExit) -> String {
        let line = |output: &AdapterOutput| match output {
            AdapterOutput::AnswerHook(number, text) => format!("answer hook {number}: {text}"),
            AdapterOutput::Event(event) => serde_json::to_string(event).unwrap(),
            other => format!("{other:?}"),
        };
        let out = play(orders, lines, exit);
        out.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_command_that_answers_completes_the_turn_with_all_it_wrote() {
        insta::assert_snapshot!(check(&[], &["# Plan", "", "1. [ ] go"], &exit(Some(0), "")), @r##"
        {"event":"ready","version":null}
        Send("What now?\n")
        CloseInput
        {"event":"turn_started"}
        {"event":"text_delta","item":"trn_1:answer","text":"# Plan\n"}
        {"event":"text_delta","item":"trn_1:answer","text":"\n"}
        {"event":"text_delta","item":"trn_1:answer","text":"1. [ ] go\n"}
        {"event":"text","item":"trn_1:answer","text":"# Plan\n\n1. [ ] go\n"}
        {"event":"turn_ended","status":"completed","final_text":"# Plan\n\n1. [ ] go\n"}
        "##);
    }

    #[test]
    fn a_command_that_fails_fails_the_turn_with_its_last_words() {
        insta::assert_snapshot!(check(&[], &["half"], &exit(Some(3), "no key\n")), @r#"
        {"event":"ready","version":null}
        Send("What now?\n")
        CloseInput
        {"event":"turn_started"}
        {"event":"text_delta","item":"trn_1:answer","text":"half\n"}
        {"event":"withdrawn","item":"trn_1:answer"}
        {"event":"turn_ended","status":"failed","kind":"protocol","message":"llm ended with exit code 3: no key"}
        "#);
        insta::assert_snapshot!(check(&[], &[], &exit(None, "")), @r#"
        {"event":"ready","version":null}
        Send("What now?\n")
        CloseInput
        {"event":"turn_started"}
        {"event":"turn_ended","status":"failed","kind":"protocol","message":"llm was killed by signal 9"}
        "#);
    }

    #[test]
    fn an_interrupted_command_ends_the_turn_by_its_exit() {
        insta::assert_snapshot!(check(&[AdapterCommand::Interrupt], &["half"], &exit(Some(0), "")), @r#"
        {"event":"ready","version":null}
        Send("What now?\n")
        CloseInput
        {"event":"turn_started"}
        {"event":"text_delta","item":"trn_1:answer","text":"half\n"}
        {"event":"withdrawn","item":"trn_1:answer"}
        {"event":"turn_ended","status":"interrupted"}
        "#);
    }

    #[test]
    fn a_model_that_the_command_is_not_told_is_said_so() {
        let mut pipe = PipeAdapter::default();
        let launch = pipe.prepare_launch(&session(Some("big")), &turn());
        assert_eq!(
            (launch.args.as_slice(), launch.lifetime),
            (&["chat".to_owned()][..], CliProcessLifetime::Turn)
        );
        assert!(!pipe.can_serve(&turn()));
        let out = pipe.on_command(AdapterCommand::StartTurn(turn()));
        let text = "the model big is not passed to llm; add it to the adapter's args".to_owned();
        assert_eq!(out[0], AdapterOutput::Event(AdapterEvent::Notice { text }));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_pieces_are_the_answer(lines in prop::collection::vec("\\PC{0,20}", 0..20)) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let out = play(&[], &lines, &exit(Some(0), ""));
            let pieces: String = out.iter().filter_map(|output| match output {
                AdapterOutput::Event(AdapterEvent::TextDelta { text, .. }) => Some(text.as_str()),
                _ => None,
            }).collect();
            let end = AdapterOutput::Event(AdapterEvent::TurnEnded(CliTurnOutcome::Completed { final_text: pieces }));
            prop_assert_eq!(out.iter().filter(|output| **output == end).count(), 1);
        }
    }
}
