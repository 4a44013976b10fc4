//! Proves that programs for sed, awk and jq only print.
//!
//! This is an allow list: a command that is not known to only print is not proven.

use crate::permission::program_table::ReaderProgram;
use crate::permission::shell::ShellWord;
use crate::permission::word_list::is_in_word_list;

use super::RefusalReason;
use super::working_folders::WorkingFolders;

/// Proves that sed only prints.
pub fn prove_sed(arguments: &[ShellWord], places: &WorkingFolders) -> Result<(), RefusalReason> {
    let mut rest = arguments.iter();
    let mut scripts: Vec<&str> = Vec::new();
    let mut files: Vec<&ShellWord> = Vec::new();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "-n" | "-E" | "-r" | "-s" | "-u" | "-z" | "-nE" | "-nr" | "-En" | "-rn" | "--quiet"
            | "--silent" | "--regexp-extended" | "--posix" | "--" => {}
            "-e" | "--expression" | "-ne" | "-Ee" | "-nEe" => {
                scripts.extend(rest.next().map(|script| script.text.as_str()))
            }
            text if text.starts_with("--expression=") => {
                scripts.extend(text.strip_prefix("--expression="))
            }
            text if text.starts_with('-') && text.len() > 1 => {
                return Err(format!("`sed {text}` is not known to only read"));
            }
            _ => files.push(word),
        }
    }
    let mut files = files.into_iter();
    if scripts.is_empty() {
        scripts.extend(files.next().map(|script| script.text.as_str()));
    }
    for script in scripts {
        if SedScanner::new(script).prove_only_prints().is_none() {
            return Err(format!(
                "the sed script `{script}` is not known to only print"
            ));
        }
    }
    files.try_for_each(|file| places.prove_path(file))
}

/// Scans a sed script for commands that only print.
struct SedScanner {
    chars: Vec<char>,
    at: usize,
}

impl SedScanner {
    fn new(script: &str) -> Self {
        Self {
            chars: script.chars().collect(),
            at: 0,
        }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn skip_while(&mut self, is_skipped: fn(char) -> bool) {
        while self.peek().is_some_and(is_skipped) {
            self.at += 1;
        }
    }

    fn prove_only_prints(&mut self) -> Option<()> {
        loop {
            self.skip_while(|c| c.is_whitespace() || matches!(c, ';' | '}'));
            if self.peek().is_none() {
                return Some(());
            }
            self.skip_address()?;
            self.skip_while(|c| c.is_whitespace() || c == '!');
            let command = self.peek()?;
            self.at += 1;
            match command {
                'p' | 'd' | 'q' | '=' | 'l' | 'n' | 'N' | 'P' | 'D' | 'g' | 'G' | 'h' | 'H'
                | 'x' | 'Q' => self.skip_while(|c| c.is_ascii_digit() || c == ' '),
                '{' => continue,
                // Its text extends to the end of the line, which must be the end of the script.
                'a' | 'i' | 'c' => {
                    let rest = self.chars.get(self.at..).unwrap_or_default();
                    return (!rest.contains(&'\n')).then_some(());
                }
                's' => self.skip_substitution()?,
                'y' => {
                    let mark = self.peek()?;
                    self.at += 1;
                    self.skip_past(mark)?;
                    self.skip_past(mark)?;
                }
                _ => return None,
            }
            self.skip_while(|c| c == ' ');
            match self.peek() {
                None | Some(';' | '\n' | '}') => {}
                Some(_) => return None,
            }
        }
    }

    fn skip_address(&mut self) -> Option<()> {
        loop {
            match self.peek() {
                Some('/') => {
                    self.at += 1;
                    self.skip_past('/')?;
                    self.skip_while(|c| matches!(c, 'I' | 'M'));
                }
                Some(c) if c.is_ascii_digit() || matches!(c, '$' | '~' | '+' | ',' | ' ') => {
                    self.at += 1
                }
                _ => return Some(()),
            }
        }
    }

    fn skip_substitution(&mut self) -> Option<()> {
        let mark = self
            .peek()
            .filter(|mark| !mark.is_alphanumeric() && *mark != '\\' && *mark != '\n')?;
        self.at += 1;
        self.skip_past(mark)?;
        self.skip_past(mark)?;
        self.skip_while(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I'));
        Some(())
    }

    /// Skips past the next mark without a backslash before it. A mark in brackets counts as well;
    /// that only ends the proof earlier.
    fn skip_past(&mut self, mark: char) -> Option<()> {
        while let Some(c) = self.peek() {
            self.at += 1;
            if c == '\\' {
                self.at += 1;
            } else if c == mark {
                return Some(());
            }
        }
        None
    }
}

/// Proves that awk only prints.
pub fn prove_awk(arguments: &[ShellWord], places: &WorkingFolders) -> Result<(), RefusalReason> {
    let mut rest = arguments.iter();
    let mut program = None;
    let mut files: Vec<&ShellWord> = Vec::new();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "-F" | "-v" if program.is_none() => {
                rest.next();
            }
            "--" if program.is_none() => {}
            text if program.is_none()
                && (text.starts_with("-F") || text.starts_with("-v"))
                && !text.starts_with("--") => {}
            text if program.is_none() && text.starts_with('-') && text.len() > 1 => {
                return Err(format!("`awk {text}` is not known to only read"));
            }
            _ if program.is_none() => program = Some(word.text.as_str()),
            _ => files.push(word),
        }
    }
    let Some(program) = program else {
        return Err("`awk` without a program".to_owned());
    };
    if !awk_only_prints(program) {
        return Err("the awk program is not known to only print".to_owned());
    }
    for file in files {
        match file.text.split_once('=') {
            Some((name, value))
                if name.chars().all(|c| c.is_alphanumeric() || c == '_')
                    && !value.contains('/') => {}
            _ => places.prove_path(file)?,
        }
    }
    Ok(())
}

/// Returns whether an awk program has no pipe, no redirect, and nothing that runs commands or reads files by name.
fn awk_only_prints(program: &str) -> bool {
    let bare = strip_strings(program);
    let words: Vec<&str> = bare
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .collect();
    let runs = [
        "system",
        "getline",
        "ENVIRON",
        "ARGV",
        "ARGC",
        "PROCINFO",
        "close",
        "fflush",
        "extension",
        "SYMTAB",
        "FUNCTAB",
    ];
    if words.iter().any(|word| runs.contains(word)) || bare.contains('@') || bare.contains('\\') {
        return false;
    }
    if bare.replace("||", "").contains('|') {
        return false;
    }
    let mut statements = bare.split([';', '{', '}', '\n']);
    statements.all(|statement| {
        let prints = statement
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|word| matches!(word, "print" | "printf"));
        !(prints && has_redirect(statement))
    })
}

/// Looks for `>` outside brackets; inside them it compares.
fn has_redirect(statement: &str) -> bool {
    let mut depth = 0_i32;
    statement.chars().any(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == '>' && depth <= 0
    })
}

/// Replaces strings by `""`. Regular expressions stay: their characters can only make the proof fail.
fn strip_strings(program: &str) -> String {
    let mut bare = String::with_capacity(program.len());
    let mut chars = program.chars();
    while let Some(c) = chars.next() {
        bare.push(c);
        if c == '"' {
            while let Some(inner) = chars.next() {
                match inner {
                    '\\' => {
                        chars.next();
                    }
                    '"' => break,
                    _ => {}
                }
            }
            bare.push('"');
        }
    }
    bare
}

/// Proves that jq reads only the files that it is given; it cannot write.
pub fn prove_jq(
    reader: &ReaderProgram,
    arguments: &[ShellWord],
    places: &WorkingFolders,
) -> Result<(), RefusalReason> {
    let mut rest = arguments.iter();
    let mut has_filter = false;
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        match text {
            "--arg" | "--argjson" => {
                rest.next();
                rest.next();
            }
            "--slurpfile" | "--rawfile" | "--argfile" => {
                rest.next();
                places.prove_path(rest.next().unwrap_or(word))?;
            }
            "--indent" => {
                rest.next();
            }
            _ if text.starts_with('-') && text.len() > 1 => {
                let are_letters = text.chars().skip(1).all(|c| "rcnsSeRjCMa".contains(c));
                if !are_letters && !reader.plain_options.contains(&word.text) {
                    return Err(format!("`jq {text}` is not known to only read"));
                }
            }
            _ if !has_filter => {
                has_filter = true;
                prove_jq_filter(text)?;
            }
            _ => places.prove_path(word)?,
        }
    }
    Ok(())
}

fn prove_jq_filter(filter: &str) -> Result<(), RefusalReason> {
    let names = "env ENV input_filename import include get_search_list";
    let mut words = filter.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    if words.any(|word| is_in_word_list(names, word)) {
        Err("the jq filter asks for more than its input".to_owned())
    } else {
        Ok(())
    }
}
