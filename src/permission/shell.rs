//! Analyses what a shell text would run: every simple command, with wrappers removed and words expanded.
//!
//! Reads `bash` (and what `sh`, `dash`, `ksh` and `zsh` share with it) and follows everything that can be followed
//! without running it. A part that cannot be followed is reported as an [`AnalysisDoubt`] and never dropped. What a
//! program does and which command is dangerous is decided elsewhere.

mod abstract_value;
mod backslash_escapes;
mod brace_expansion;
mod command_output;
mod command_resolution;
mod command_wrappers;
mod control_flow;
mod environment;
mod expression_evaluation;
mod fallback_lexer;
mod fan_out;
mod interpreter;
mod nested_shells;
mod parameter_expansion;
mod process_substitution;
mod redirections;
mod shell_analysis;
mod shell_builtins;
mod shell_parser;
mod step_budget;
mod syntax_tree;
mod word_expansion;

pub use super::program_table::WrapperKind;
use interpreter::ShellInterpreter;
pub use shell_analysis::{
    AnalysisDoubt, AnalysisLimitKind, AnalysisLimits, CommandInput, CommandRedirect,
    CommandWrapper, RedirectKind, ShellAnalysis, ShellWord, SimpleCommand, UNKNOWN_PLACEHOLDER,
};

/// Analyses a text as `bash -c` would read it.
pub fn analyze_script(text: &str, limits: &AnalysisLimits) -> ShellAnalysis {
    ShellInterpreter::new(*limits, text.len()).interpret_script(text)
}

/// Analyses a command that starts without a shell; the first word is the program. Spans count in the
/// words joined by single spaces.
pub fn analyze_argv(argv: &[String], limits: &AnalysisLimits) -> ShellAnalysis {
    let n_bytes = argv.iter().map(String::len).sum();
    ShellInterpreter::new(*limits, n_bytes).interpret_argv(argv)
}

/// Splits a text only at its operators and spaces; see [`ShellAnalysis::rough_lines`].
pub fn split_rough_lines(text: &str) -> Vec<Vec<String>> {
    fallback_lexer::split_rough_lines(text)
}

#[cfg(test)]
mod tests;
