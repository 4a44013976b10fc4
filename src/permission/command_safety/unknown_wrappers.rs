//! Judges unknown programs that seem to run the words after them: `rtk git push`, `./with-env rm -rf x`.
//!
//! For known programs the words are data and are not judged here.

use crate::permission::program_table::{ProgramTrait, has_trait};
use crate::permission::shell::{CommandWrapper, ShellWord, SimpleCommand, WrapperKind};

use super::builtin_rules::PATTERNS_BY_PROGRAM;
use super::code_interpreters;
use super::command_invocation::{CommandInvocation, normalize_program_name};
use super::command_scene::CommandScene;
use super::embedded_commands;

/// How many words of a command are checked.
const MAX_WORDS: usize = 24;

/// Returns whether a word names a program that is looked for after an unknown one.
fn is_often_wrapped(word: &ShellWord) -> bool {
    word.is_fully_known
        && has_trait(
            &normalize_program_name(&word.text),
            ProgramTrait::OftenWrapped,
        )
}

/// Judges the words of a known wrapper, if a program was taken for an option's value.
pub fn check_wrapper(wrapper: &CommandWrapper, simple: &SimpleCommand, scene: &CommandScene<'_>) {
    if wrapper.kind != WrapperKind::Known {
        return;
    }
    if let Some(at) = wrapper.words.iter().skip(1).position(is_often_wrapped) {
        let words = wrapper.words.iter().skip(at + 1).chain(&simple.words);
        let argv: Vec<String> = words.map(|word| word.text.clone()).collect();
        scene.classify_nested_argv(&argv, &simple.span);
    }
}

/// Judges the words after an unknown program, and a text for another machine that no other check covers.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let name = command.program.as_str();
    let is_data = has_trait(name, ProgramTrait::Data) || code_interpreters::is_interpreter(name);
    let is_known = is_data || PATTERNS_BY_PROGRAM.contains_key(name);
    embedded_commands::check_command(command, is_data, scene);
    if command.program == "ssh" {
        let texts = command
            .argument_words()
            .iter()
            .map(|word| word.text.as_str());
        return texts
            .filter(|text| text.contains(' '))
            .for_each(|text| scene.classify_nested_script(text, &command.simple.span));
    }
    let has_folder = command
        .words
        .first()
        .is_some_and(|first| first.text.contains('/'));
    if has_trait(name, ProgramTrait::ProjectRunner) {
        check_project_runner(command, scene);
    }
    if is_known
        && !(has_folder && name.contains('.'))
        && !has_trait(name, ProgramTrait::LaterCommand)
    {
        return;
    }
    let rest = command.argument_words();
    for (at, word) in rest.iter().enumerate().take(MAX_WORDS) {
        let behind = rest.get(at..).unwrap_or_default();
        if behind.len() > 1 && is_often_wrapped(word) {
            let argv: Vec<String> = behind.iter().map(|word| word.text.clone()).collect();
            return scene.classify_nested_argv(&argv, &command.simple.span);
        }
    }
}

/// Judges what looks like a removal among the words of a program that runs others.
fn check_project_runner(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    let rest = command.argument_words();
    for (at, word) in rest.iter().enumerate().take(MAX_WORDS) {
        // `sbt '!rm -rf x'`.
        if let Some(text) = word
            .text
            .strip_prefix('!')
            .filter(|text| text.contains(' '))
        {
            scene.classify_nested_script(text, span);
        }
        let behind = rest.get(at..).unwrap_or_default();
        let is_option = behind
            .get(1)
            .is_some_and(|next| next.text.starts_with('-') || next.text.contains("of=/dev/"));
        if is_option
            && word.is_fully_known
            && has_trait(&normalize_program_name(&word.text), ProgramTrait::Removal)
        {
            let argv: Vec<String> = behind.iter().map(|word| word.text.clone()).collect();
            return scene.classify_nested_argv(&argv, span);
        }
    }
}
