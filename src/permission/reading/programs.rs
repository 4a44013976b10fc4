//! The programs that only read, and with which of their options.
//!
//! A program that is not here does not read. It refuses to know git, whose sub-commands are in a file of their own.

use crate::permission::shell::Word;
use crate::permission::words::listed;

use super::paths::Places;
use super::{Reason, git, scripts, small};

/// One program.
#[derive(Debug)]
pub struct Reader {
    names: &'static [&'static str],
    /// What its operands are.
    operands: Operands,
    /// Options whose value is text and no path, separated by blanks.
    texts: &'static str,
    /// Options with which it does more than read, or never ends.
    refused: &'static str,
    /// Whether no option at all makes it write or run something.
    pub takes_any_option: bool,
}

/// What operands are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// Paths.
    Paths,
    /// Paths, at most one: a second one is written.
    OnePath,
    /// A pattern or program first, unless an option brings it, then paths.
    TextThenPaths,
    /// Text.
    Texts,
    /// None.
    None,
    /// Looked at by a function of the program's own.
    Own,
}

const fn any(names: &'static [&'static str]) -> Reader {
    Reader {
        names,
        operands: Operands::Paths,
        texts: "",
        refused: "",
        takes_any_option: true,
    }
}

const fn paths(
    names: &'static [&'static str],
    texts: &'static str,
    refused: &'static str,
) -> Reader {
    Reader {
        names,
        operands: Operands::Paths,
        texts,
        refused,
        takes_any_option: false,
    }
}

const fn texts(names: &'static [&'static str], refused: &'static str) -> Reader {
    Reader {
        names,
        operands: Operands::Texts,
        texts: "",
        refused,
        takes_any_option: false,
    }
}

const fn own(names: &'static [&'static str]) -> Reader {
    Reader {
        names,
        operands: Operands::Own,
        texts: "",
        refused: "",
        takes_any_option: false,
    }
}

const READERS: &[Reader] = &[
    any(&[
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
    Reader {
        names: &["grep", "egrep", "fgrep", "zgrep"],
        operands: Operands::TextThenPaths,
        texts: "-e --regexp --include --exclude --exclude-dir --color= --colour= --label --group-separator -A -B -C -m --max-count --context",
        refused: "",
        takes_any_option: true,
    },
    Reader {
        names: &["rg"],
        operands: Operands::TextThenPaths,
        texts: "-e --regexp -g --glob --iglob -t --type -T --type-not --type-add -A -B -C -m --max-count -r --replace --color --colors --sort --sortr --max-depth -d -j --threads --context --context-separator --max-columns -M --engine --encoding -E --max-filesize --path-separator --field-match-separator",
        refused: "--pre --pre-glob --hostname-bin -z --search-zip --generate",
        takes_any_option: false,
    },
    Reader {
        names: &["ag"],
        operands: Operands::TextThenPaths,
        texts: "--ignore --ignore-dir -G --file-search-regex -A -B -C -m --depth",
        refused: "--pager -z --search-zip -p --path-to-ignore",
        takes_any_option: false,
    },
    Reader {
        names: &["jq"],
        operands: Operands::Own,
        texts: "",
        refused: "",
        takes_any_option: false,
    },
    paths(&["nm"], "", "--plugin --target"),
    paths(
        &["cut"],
        "-d --delimiter -f --fields -c -b --output-delimiter --characters --bytes",
        "",
    ),
    paths(
        &["sort"],
        "-t --field-separator -k --key -S --buffer-size --parallel --sort",
        "-o --output --compress-program -T --temporary-directory --random-source",
    ),
    paths(
        &["column"],
        "-s -o --separator --output-separator -N -c",
        "",
    ),
    paths(&["join"], "-t -1 -2 -e -o -j -a -v", ""),
    paths(
        &["diff", "sdiff"],
        "-I --ignore-matching-lines --label -L --color= -x --exclude -U -C -W -F --show-function-line --unified= --context=",
        "-o --output -l --paginate",
    ),
    paths(
        &["file"],
        "-F --separator -P",
        "-C --compile -z -Z --uncompress --uncompress-noreport -S",
    ),
    paths(
        &["tree"],
        "-I -P -L --filelimit --charset --sort= --timefmt",
        "-o -R --fromfile --fromtabfile",
    ),
    paths(&["df"], "-t -x --type --exclude-type --output= -B", ""),
    paths(
        &["tail"],
        "-n -c --lines --bytes",
        "-f -F --follow --retry --pid -s --sleep-interval",
    ),
    paths(
        &["bat"],
        "-l --language --style --theme --color -r --line-range -H --highlight-line --tabs --wrap --terminal-width --decorations -m --map-syntax",
        "--pager --paging --generate-config-file --config-file --diagnostic --acknowledgements",
    ),
    Reader {
        names: &["uniq"],
        operands: Operands::OnePath,
        texts: "-f -s -w",
        refused: "",
        takes_any_option: false,
    },
    Reader {
        names: &["xxd"],
        operands: Operands::OnePath,
        texts: "-c -l -g -s -o",
        refused: "-r --revert",
        takes_any_option: false,
    },
    texts(
        &[
            "echo", "true", "false", ":", "basename", "dirname", "which", "type", "uname",
            "whoami", "id", "arch", "nproc", "pwd", "tr", "expr", "sleep", "exit", "return",
            "break", "continue", "wait", "tty", "groups", "logname", "getconf", "locale", "cal",
            "factor", "numfmt", "uptime", "free", "hash", "whereis", "lscpu",
        ],
        "",
    ),
    texts(&["printf"], "-v"),
    texts(&["seq"], ""),
    texts(&["ps", "pgrep"], ""),
    own(&["test", "[", "[[", "((", "let"]),
    own(&["git"]),
    own(&["find", "fd", "fdfind"]),
    own(&["sed"]),
    own(&["awk", "gawk", "mawk"]),
    own(&["date"]),
    own(&["hostname"]),
    own(&["cd"]),
    own(&["set", "shopt"]),
    own(&["read"]),
    own(&["tee"]),
    own(&["gzip", "gunzip"]),
    own(&["command"]),
    own(&["tar"]),
    own(&["unzip", "zipinfo"]),
    Reader {
        names: &["for", "while", "if", "case", "done", "fi"],
        operands: Operands::None,
        texts: "",
        refused: "",
        takes_any_option: false,
    },
];

/// Finds a program by its bare name.
pub fn reader(program: &str) -> Option<&'static Reader> {
    READERS
        .iter()
        .find(|reader| reader.names.contains(&program))
}

impl Reader {
    /// The program's first name.
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Tells whether each of its operands is a file that it reads.
    pub fn takes_paths(&self) -> bool {
        self.operands == Operands::Paths
    }

    /// Tells whether its operands never name files.
    pub fn is_talker(&self) -> bool {
        self.operands == Operands::Texts && self.names.contains(&"echo")
            || self.names.contains(&"printf")
            || self.names.contains(&"[[")
            || self.names.contains(&"test")
    }

    /// Tells whether a word of it that is partly known can only be text.
    pub fn writes_text_only(&self) -> bool {
        self.operands == Operands::Texts
    }

    /// Proves that the program with these arguments only reads.
    pub fn prove(&self, program: &str, arguments: &[Word], places: &Places) -> Result<(), Reason> {
        match (self.operands, program) {
            (Operands::Own, "git") => git::prove(arguments, places),
            (Operands::Own, "find" | "fd" | "fdfind") => {
                small::prove_find(program, arguments, places)
            }
            (Operands::Own, "sed") => scripts::prove_sed(arguments, places),
            (Operands::Own, "awk" | "gawk" | "mawk") => scripts::prove_awk(arguments, places),
            (Operands::Own, "jq") => scripts::prove_jq(arguments, places),
            (Operands::Own, _) => small::prove_small(program, arguments, places),
            _ => self.prove_plain(program, arguments, places),
        }
    }

    fn prove_plain(
        &self,
        program: &str,
        arguments: &[Word],
        places: &Places,
    ) -> Result<(), Reason> {
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
                && self.operands != Operands::Texts;
            if text == "--" && !has_ended {
                has_ended = true;
            } else if is_option {
                may_be_value =
                    text.starts_with("--") && !text.contains('=') && !listed(LONG_FLAGS, text);
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
                let is_text = self.operands == Operands::Texts
                    || (self.operands == Operands::TextThenPaths
                        && n_operands == 1
                        && !brings_text);
                if self.operands == Operands::None
                    || (self.operands == Operands::OnePath && n_operands > 1)
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
                // A pattern of file names outside of quotes names files, whatever takes it.
                if !is_text
                    || word.glob && text.contains('/')
                    || may_be_value && places.leaves(text, word.glob)
                {
                    places.path(word)?;
                }
                may_be_value = false;
            }
        }
        Ok(())
    }

    /// Tells whether the option takes the next word as text.
    fn prove_option(&self, program: &str, text: &str, places: &Places) -> Result<bool, Reason> {
        let refused = || Err(format!("`{program} {text}` is not known to only read"));
        let list = |list: &'static str| list.split(' ').filter(|option| !option.is_empty());
        if let Some(long) = text.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or_default();
            let is_meant = |option: &str| {
                option
                    .strip_prefix("--")
                    .is_some_and(|option| option.starts_with(name))
            };
            if list(self.refused).any(is_meant)
                && !(list(self.texts).any(|option| option.strip_prefix("--") == Some(name)))
            {
                return refused();
            }
            if long.contains('=')
                && list(self.texts).any(|option| {
                    option
                        .strip_prefix("--")
                        .map(|option| option.trim_end_matches('='))
                        == Some(name)
                })
            {
                return Ok(false);
            }
            if list(self.texts).any(|option| option.strip_prefix("--") == Some(name)) {
                return Ok(true);
            }
            return match places.option_leaves(text) {
                true => Err(format!(
                    "`{text}` may name something outside the repository"
                )),
                false => Ok(false),
            };
        }
        let letters: Vec<char> = text.chars().skip(1).collect();
        for (at, letter) in letters.iter().enumerate() {
            let is = |option: &str| option.len() == 2 && option.ends_with(*letter);
            if list(self.refused).any(is) {
                return refused();
            }
            let are_flags = letters
                .iter()
                .take(at)
                .all(|before| FLAGS.contains(*before));
            if are_flags && list(self.texts).any(is) {
                return Ok(at + 1 == letters.len());
            }
        }
        match places.option_leaves(text) {
            true => Err(format!(
                "`{text}` may name something outside the repository"
            )),
            false => Ok(false),
        }
    }
}

/// Long options that take no value: what stands behind them is no path of theirs.
const LONG_FLAGS: &str = "--no-heading --heading --hidden --json --files-with-matches --files-without-match --ignore-case --line-number \
    --no-line-number --count --word-regexp --fixed-strings --multiline --only-matching --smart-case --recursive \
    --extended-regexp --perl-regexp --invert-match --no-filename --with-filename --color --quiet --no-ignore \
    --pcre2 --vimgrep --column --no-messages --case-sensitive --trim --stats --text --null";

/// Letters that take no value, before one that takes a text.
const FLAGS: &str = "nilLcvowxhHFPsqzarRuUb";
