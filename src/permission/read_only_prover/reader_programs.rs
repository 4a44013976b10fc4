//! A table of programs that only read, and with which options.
//!
//! A program that is not listed is not proven. Git's sub-commands are in `git_prover`.

use crate::permission::shell::ShellWord;
use crate::permission::word_list::is_in_word_list;

use super::working_folders::WorkingFolders;
use super::{RefusalReason, git_prover, script_prover, simple_programs};

/// A program that only reads, with its options.
#[derive(Debug)]
pub struct ReaderProgram {
    names: &'static [&'static str],
    /// What its operands are.
    operand_kind: OperandKind,
    /// Options whose value is text and not a path, separated by spaces.
    text_options: &'static str,
    /// Options that make it do more than read, or never end.
    refused_options: &'static str,
    /// Whether no option at all makes it write or run something.
    pub takes_any_option: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OperandKind {
    Paths,
    /// At most one path: a second one would be written.
    OnePath,
    /// A pattern or program first, unless an option gives it, then paths.
    TextThenPaths,
    Texts,
    None,
    /// Checked by a function for this program.
    Custom,
}

const fn any_option_program(names: &'static [&'static str]) -> ReaderProgram {
    ReaderProgram {
        names,
        operand_kind: OperandKind::Paths,
        text_options: "",
        refused_options: "",
        takes_any_option: true,
    }
}

const fn path_program(
    names: &'static [&'static str],
    texts: &'static str,
    refused: &'static str,
) -> ReaderProgram {
    ReaderProgram {
        names,
        operand_kind: OperandKind::Paths,
        text_options: texts,
        refused_options: refused,
        takes_any_option: false,
    }
}

const fn text_program(names: &'static [&'static str], refused: &'static str) -> ReaderProgram {
    ReaderProgram {
        names,
        operand_kind: OperandKind::Texts,
        text_options: "",
        refused_options: refused,
        takes_any_option: false,
    }
}

const fn custom_program(names: &'static [&'static str]) -> ReaderProgram {
    ReaderProgram {
        names,
        operand_kind: OperandKind::Custom,
        text_options: "",
        refused_options: "",
        takes_any_option: false,
    }
}

const READER_PROGRAMS: &[ReaderProgram] = &[
    any_option_program(&[
        "ls",
        "cat",
        "head",
        "wc",
        "tac",
        "nl",
        "stat",
        "du",
        "md5sum",
        "sha1sum",
        "sha256sum",
        "sha512sum",
        "b2sum",
        "cksum",
        "sum",
        "cmp",
        "strings",
        "od",
        "hexdump",
        "readlink",
        "realpath",
        "dir",
        "vdir",
        "exa",
        "eza",
        "lsd",
        "tokei",
        "readelf",
        "size",
        "zcat",
        "bzcat",
        "xzcat",
        "diffstat",
        "hexyl",
        "rev",
        "expand",
        "unexpand",
        "fold",
        "fmt",
        "pr",
        "comm",
        "paste",
    ]),
    ReaderProgram {
        names: &["grep", "egrep", "fgrep", "zgrep"],
        operand_kind: OperandKind::TextThenPaths,
        text_options: "-e --regexp --include --exclude --exclude-dir --color= --colour= --label --group-separator -A -B -C -m --max-count --context",
        refused_options: "",
        takes_any_option: true,
    },
    ReaderProgram {
        names: &["rg"],
        operand_kind: OperandKind::TextThenPaths,
        text_options: "-e --regexp -g --glob --iglob -t --type -T --type-not --type-add -A -B -C -m --max-count -r --replace --color --colors --sort --sortr --max-depth -d -j --threads --context --context-separator --max-columns -M --engine --encoding -E --max-filesize --path-separator --field-match-separator",
        refused_options: "--pre --pre-glob --hostname-bin -z --search-zip --generate",
        takes_any_option: false,
    },
    ReaderProgram {
        names: &["ag"],
        operand_kind: OperandKind::TextThenPaths,
        text_options: "--ignore --ignore-dir -G --file-search-regex -A -B -C -m --depth",
        refused_options: "--pager -z --search-zip -p --path-to-ignore",
        takes_any_option: false,
    },
    ReaderProgram {
        names: &["jq"],
        operand_kind: OperandKind::Custom,
        text_options: "",
        refused_options: "",
        takes_any_option: false,
    },
    path_program(&["nm"], "", "--plugin --target"),
    path_program(
        &["cut"],
        "-d --delimiter -f --fields -c -b --output-delimiter --characters --bytes",
        "",
    ),
    path_program(
        &["sort"],
        "-t --field-separator -k --key -S --buffer-size --parallel --sort",
        "-o --output --compress-program -T --temporary-directory --random-source",
    ),
    path_program(
        &["column"],
        "-s -o --separator --output-separator -N -c",
        "",
    ),
    path_program(&["join"], "-t -1 -2 -e -o -j -a -v", ""),
    path_program(
        &["diff", "sdiff"],
        "-I --ignore-matching-lines --label -L --color= -x --exclude -U -C -W -F --show-function-line --unified= --context=",
        "-o --output -l --paginate",
    ),
    path_program(
        &["file"],
        "-F --separator -P",
        "-C --compile -z -Z --uncompress --uncompress-noreport -S",
    ),
    path_program(
        &["tree"],
        "-I -P -L --filelimit --charset --sort= --timefmt",
        "-o -R --fromfile --fromtabfile",
    ),
    path_program(&["df"], "-t -x --type --exclude-type --output= -B", ""),
    path_program(
        &["tail"],
        "-n -c --lines --bytes",
        "-f -F --follow --retry --pid -s --sleep-interval",
    ),
    path_program(
        &["bat"],
        "-l --language --style --theme --color -r --line-range -H --highlight-line --tabs --wrap --terminal-width --decorations -m --map-syntax",
        "--pager --paging --generate-config-file --config-file --diagnostic --acknowledgements",
    ),
    ReaderProgram {
        names: &["uniq"],
        operand_kind: OperandKind::OnePath,
        text_options: "-f -s -w",
        refused_options: "",
        takes_any_option: false,
    },
    ReaderProgram {
        names: &["xxd"],
        operand_kind: OperandKind::OnePath,
        text_options: "-c -l -g -s -o",
        refused_options: "-r --revert",
        takes_any_option: false,
    },
    text_program(
        &[
            "echo", "true", "false", ":", "basename", "dirname", "which", "type", "uname",
            "whoami", "id", "arch", "nproc", "pwd", "tr", "expr", "sleep", "exit", "return",
            "break", "continue", "wait", "tty", "groups", "logname", "getconf", "locale", "cal",
            "factor", "numfmt", "uptime", "free", "hash", "whereis", "lscpu",
        ],
        "",
    ),
    text_program(&["printf"], "-v"),
    text_program(&["seq"], ""),
    text_program(&["ps", "pgrep"], ""),
    custom_program(&["test", "[", "[[", "((", "let"]),
    custom_program(&["git"]),
    custom_program(&["find", "fd", "fdfind"]),
    custom_program(&["sed"]),
    custom_program(&["awk", "gawk", "mawk"]),
    custom_program(&["date"]),
    custom_program(&["hostname"]),
    custom_program(&["cd"]),
    custom_program(&["set", "shopt"]),
    custom_program(&["read"]),
    custom_program(&["tee"]),
    custom_program(&["gzip", "gunzip"]),
    custom_program(&["command"]),
    custom_program(&["tar"]),
    custom_program(&["unzip", "zipinfo"]),
    ReaderProgram {
        names: &["for", "while", "if", "case", "done", "fi"],
        operand_kind: OperandKind::None,
        text_options: "",
        refused_options: "",
        takes_any_option: false,
    },
];

/// Finds a program by its plain name.
pub fn find_reader_program(program: &str) -> Option<&'static ReaderProgram> {
    READER_PROGRAMS
        .iter()
        .find(|reader| reader.names.contains(&program))
}

impl ReaderProgram {
    /// Returns the program's first name.
    pub fn main_name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Returns whether each of its operands is a file that it reads.
    pub fn takes_paths(&self) -> bool {
        self.operand_kind == OperandKind::Paths
    }

    /// Returns whether its operands never name files.
    pub fn never_names_files(&self) -> bool {
        self.operand_kind == OperandKind::Texts && self.names.contains(&"echo")
            || self.names.contains(&"printf")
            || self.names.contains(&"[[")
            || self.names.contains(&"test")
    }

    /// Returns whether a partly known word can only be text for it.
    pub fn takes_text_only(&self) -> bool {
        self.operand_kind == OperandKind::Texts
    }

    /// Proves that the program with these arguments only reads.
    pub fn prove(
        &self,
        program: &str,
        arguments: &[ShellWord],
        places: &WorkingFolders,
    ) -> Result<(), RefusalReason> {
        match (self.operand_kind, program) {
            (OperandKind::Custom, "git") => git_prover::prove_git(arguments, places),
            (OperandKind::Custom, "find" | "fd" | "fdfind") => {
                simple_programs::prove_find(program, arguments, places)
            }
            (OperandKind::Custom, "sed") => script_prover::prove_sed(arguments, places),
            (OperandKind::Custom, "awk" | "gawk" | "mawk") => {
                script_prover::prove_awk(arguments, places)
            }
            (OperandKind::Custom, "jq") => script_prover::prove_jq(arguments, places),
            (OperandKind::Custom, _) => {
                simple_programs::prove_simple_program(program, arguments, places)
            }
            _ => self.prove_plain(program, arguments, places),
        }
    }

    fn prove_plain(
        &self,
        program: &str,
        arguments: &[ShellWord],
        places: &WorkingFolders,
    ) -> Result<(), RefusalReason> {
        let mut n_operands = 0;
        let mut brings_text = false;
        let mut rest = arguments.iter();
        let mut has_ended = false;
        let mut may_be_value = false;
        while let Some(word) = rest.next() {
            let text = word.text.as_str();
            let is_option = !has_ended
                && text.len() > 1
                && text.starts_with('-')
                && self.operand_kind != OperandKind::Texts;
            if text == "--" && !has_ended {
                has_ended = true;
            } else if is_option {
                may_be_value = text.starts_with("--")
                    && !text.contains('=')
                    && !is_in_word_list(LONG_FLAGS, text);
                brings_text |= matches!(text, "-f" | "--file" | "--files")
                    || text.starts_with("-e")
                    || text.starts_with("--regexp")
                    || text.starts_with("--file=");
                if self.prove_option(program, text, places)? {
                    rest.next();
                    may_be_value = false;
                }
            } else {
                n_operands += 1;
                let is_text = self.operand_kind == OperandKind::Texts
                    || (self.operand_kind == OperandKind::TextThenPaths
                        && n_operands == 1
                        && !brings_text);
                if self.operand_kind == OperandKind::None
                    || (self.operand_kind == OperandKind::OnePath && n_operands > 1)
                {
                    return Err(format!("`{program} {text}` is not known to only read"));
                }
                if program == "tail" && text.starts_with('+') && text.contains(['f', 'F']) {
                    return Err(format!("`tail {text}` may never end"));
                }
                if program == "bat" && text == "cache" {
                    return Err("`bat cache` writes".to_owned());
                }
                if program == "printf" && text == "-v" {
                    return Err("`printf -v` sets a variable".to_owned());
                }
                // An unquoted file name pattern expands to file names, whatever argument it is.
                if !is_text
                    || word.is_glob && text.contains('/')
                    || may_be_value && places.leaves_root(text, word.is_glob)
                {
                    places.prove_path(word)?;
                }
                may_be_value = false;
            }
        }
        Ok(())
    }

    /// Proves an option; returns whether it takes the next word as text.
    fn prove_option(
        &self,
        program: &str,
        text: &str,
        places: &WorkingFolders,
    ) -> Result<bool, RefusalReason> {
        let refused = || Err(format!("`{program} {text}` is not known to only read"));
        let list = |list: &'static str| list.split(' ').filter(|option| !option.is_empty());
        if let Some(long) = text.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or_default();
            let is_meant = |option: &str| {
                option
                    .strip_prefix("--")
                    .is_some_and(|option| option.starts_with(name))
            };
            if list(self.refused_options).any(is_meant)
                && !(list(self.text_options).any(|option| option.strip_prefix("--") == Some(name)))
            {
                return refused();
            }
            if long.contains('=')
                && list(self.text_options).any(|option| {
                    option
                        .strip_prefix("--")
                        .map(|option| option.trim_end_matches('='))
                        == Some(name)
                })
            {
                return Ok(false);
            }
            if list(self.text_options).any(|option| option.strip_prefix("--") == Some(name)) {
                return Ok(true);
            }
            return if places.option_leaves_root(text) {
                Err(format!(
                    "`{text}` may name something outside the repository"
                ))
            } else {
                Ok(false)
            };
        }
        let letters: Vec<char> = text.chars().skip(1).collect();
        for (at, letter) in letters.iter().enumerate() {
            let is = |option: &str| option.len() == 2 && option.ends_with(*letter);
            if list(self.refused_options).any(is) {
                return refused();
            }
            let are_flags = letters
                .iter()
                .take(at)
                .all(|before| SHORT_FLAGS.contains(*before));
            if are_flags && list(self.text_options).any(is) {
                return Ok(at + 1 == letters.len());
            }
        }
        if places.option_leaves_root(text) {
            Err(format!(
                "`{text}` may name something outside the repository"
            ))
        } else {
            Ok(false)
        }
    }
}

/// Long options without a value: a word after them is not their path.
const LONG_FLAGS: &str = "--no-heading --heading --hidden --json --files-with-matches --files-without-match --ignore-case --line-number \
    --no-line-number --count --word-regexp --fixed-strings --multiline --only-matching --smart-case --recursive \
    --extended-regexp --perl-regexp --invert-match --no-filename --with-filename --color --quiet --no-ignore \
    --pcre2 --vimgrep --column --no-messages --case-sensitive --trim --stats --text --null";

/// Letters without a value, which may come before a letter with a text.
const SHORT_FLAGS: &str = "nilLcvowxhHFPsqzarRuUb";
