//! Reads what the user asks of the run in front, in the background: its changes, an export, the output of a call. The
//! run may be the program's own or a viewed one; nothing is written to it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::app::discussion_command;
use crate::app::doctor_checks::diagnose_environment;
use crate::app::export::{export_file, markdown};
use crate::app::run_diff::{RunDiff, diff_run, diff_run_in_directory};
use crate::app::startup::{RunTreeReader, StartError, StartOptions};
use crate::domain::diff_scope::DiffScope;
use crate::domain::discussion::GroupDiscussion;
use crate::domain::export_format::ExportFormat;
use crate::domain::run::RunState;
use crate::engine::git::GitRepository;
use crate::engine::run_changes::RunChanges;
use crate::engine::tool_output;
use crate::mcp::tools::group_discuss::GroupDiscussToolArguments;
use crate::store::{WorkdirLayout, atomic_file};
use crate::tui::{DiffLookup, ExternalViewer, Screen, TruncatedToolCall};

use super::background_result::{BackgroundResult, CallText, FrontResult};
use super::background_work::BackgroundWork;

/// What the changes of a run are read with.
pub enum DiffSource {
    /// For a viewed run.
    View(Option<Box<RunState>>, RunTreeReader),
    /// For the open run.
    Engine(Option<GitRepository>, Box<RunState>),
    /// For the run in the locked directory.
    Directory(RunTreeReader),
}

pub fn show_result(result: FrontResult, screen: &mut Screen) {
    match result {
        FrontResult::Toast(text) => screen.set_toast(&text),
        FrontResult::TextReady(title, text) => match *text {
            Ok(text) => screen.show_text(title, &text),
            Err(refusal) => screen.set_toast(&toast_of_error(&refusal)),
        },
        FrontResult::DiffReady(scope, diff) => show_diff(scope, *diff, screen),
        FrontResult::Files(Ok(files)) => {
            let own = |file: &String| file.starts_with(".agent-collab/");
            let files = files.into_iter().filter(|file| !own(file)).collect();
            screen.on_repository_files(files);
        }
        FrontResult::Files(Err(error)) => {
            screen.on_repository_files(Vec::new());
            screen.on_notice(&error.to_string());
        }
    }
}

fn toast_of_error(refusal: &StartError) -> String {
    format!("{}; {}", refusal.problem, refusal.hint)
}

/// Loads changes of a run.
pub fn read_diff(
    source: DiffSource,
    layout: WorkdirLayout,
    scope: DiffScope,
    work: &mut BackgroundWork,
) {
    spawn(work, async move {
        let diff = match source {
            DiffSource::View(state, reader) => {
                let repository = reader.open_repository(layout.workdir()).await;
                match repository {
                    Ok(git) => Ok(diff_run(git.as_ref(), state.as_deref(), &layout, scope).await),
                    Err(refusal) => Err(refusal),
                }
            }
            DiffSource::Engine(git, state) => {
                Ok(diff_run(git.as_ref(), Some(&state), &layout, scope).await)
            }
            DiffSource::Directory(reader) => diff_run_in_directory(&reader, &layout, scope).await,
        };
        FrontResult::DiffReady(scope, Box::new(diff))
    });
}

fn show_diff(scope: DiffScope, diff: Result<RunDiff, StartError>, screen: &mut Screen) {
    let RunDiff {
        scopes, changes, ..
    } = match diff {
        Ok(diff) => diff,
        Err(refusal) => {
            let text = format!("{}\n{}", refusal.problem, refusal.hint);
            let failed = DiffLookup::Failed(text.trim_end().to_owned());
            return screen.on_diff(scope, vec![scope], failed);
        }
    };
    let diff = match changes {
        Ok(RunChanges::Diff(patch)) => DiffLookup::Changes(patch),
        Ok(RunChanges::Unchanged(why)) => DiffLookup::NoChanges(why),
        Err(error) => DiffLookup::Failed(error.to_string()),
    };
    screen.on_diff(scope, scopes, diff);
}

/// Writes the page of a run into the export folder, and says where it is.
pub fn export_run(
    layout: WorkdirLayout,
    reader: RunTreeReader,
    form: ExportFormat,
    work: &mut BackgroundWork,
) {
    spawn(work, async move {
        let written = export_file::write_to_exports(layout, &reader, form).await;
        let near = |path: PathBuf| match path.strip_prefix(&reader.root) {
            Ok(near) => near.to_path_buf(),
            Err(_) => path,
        };
        FrontResult::Toast(match written.map(near) {
            Ok(path) => format!("Written to {}", path.display()),
            Err(refusal) => toast_of_error(&refusal),
        })
    });
}

/// Exports a discussion; returns what the user is told. The file goes to the export directory: only the engine writes
/// in the run's own directory.
pub fn export_discussion(discussion: &GroupDiscussion, folder: &Path) -> String {
    let path = folder.join(format!("{}.md", discussion.id()));
    let text = markdown::render_discussion(discussion);
    if let Err(error) = fs::create_dir_all(folder) {
        return format!("Cannot create {}: {error}", folder.display());
    }
    // A symbolic link there is replaced, not followed: the user did not name this path.
    match atomic_file::replace_file(&path, text.as_bytes()) {
        Ok(()) => format!("Written to {}", path.display()),
        Err(error) => format!("{error}; {}", error.hint()),
    }
}

/// Reads the whole output of a tool call; if it is not on disk any more, the part that is known.
pub fn read_call(
    layout: WorkdirLayout,
    call: TruncatedToolCall,
    with: ExternalViewer,
    work: &mut BackgroundWork,
) {
    let closed = work.closed();
    work.spawn_blocking(move || {
        let read = tool_output::load_tool_output(&layout, &call.item, &call.output, &closed);
        let text = match &read {
            Ok(Some(whole)) => format!("{}\n{whole}", call.text),
            Ok(None) | Err(_) => partial_call_text(&call),
        };
        let problem = read.err().map(|error| error.to_string());
        BackgroundResult::CallRead(CallText {
            text,
            with,
            problem,
        })
    });
}

/// Returns the known part of a call, without its full output.
pub fn partial_call_text(call: &TruncatedToolCall) -> String {
    let note = "[incomplete: the rest is no longer on disk]";
    format!("{}\n{note}\n{}", call.text, call.output)
}

/// Lists the repository's files. Git lists them, so ignored files are left out. Opens none of them.
pub fn list_files(repository: GitRepository, work: &mut BackgroundWork) {
    spawn(work, async move {
        FrontResult::Files(repository.status().list_files().await)
    });
}

/// Describes what a discussion would be given.
pub fn preview_budget(wishes: StartOptions, preset: Option<String>, work: &mut BackgroundWork) {
    let arguments = GroupDiscussToolArguments {
        preset,
        ..GroupDiscussToolArguments::default()
    };
    spawn(work, async move {
        let derived = discussion_command::preview_budget(&wishes, arguments).await;
        let text = derived.map(|derived| derived.describe());
        FrontResult::TextReady("What a discussion would get", Box::new(text))
    });
}

/// Describes what a run needs and whether it is there.
pub fn diagnose(wishes: StartOptions, work: &mut BackgroundWork) {
    spawn(work, async move {
        let found = diagnose_environment(&wishes).await;
        let text = found.map(|found| found.to_text());
        FrontResult::TextReady("What a run needs here", Box::new(text))
    });
}

fn spawn(work: &mut BackgroundWork, reading: impl Future<Output = FrontResult> + Send + 'static) {
    work.spawn(async move { BackgroundResult::Front(reading.await) });
}
