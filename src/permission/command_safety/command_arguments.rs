//! Splits the words of a command into options, their values and operands.
//!
//! What an option does is not known here. Where it is not known which options take a value, an operand after an option
//! is marked as a possible value, so nothing is lost.

use crate::permission::shell::ShellWord;

/// The arguments of one command.
#[derive(Debug, Default)]
pub struct CommandArguments<'a> {
    /// In order; a cluster such as `-rf` is two options.
    pub options: Vec<CommandOption<'a>>,
    pub operands: Vec<CommandOperand<'a>>,
}

/// One option, as the command line gives it.
#[derive(Debug, PartialEq, Eq)]
pub struct CommandOption<'a> {
    /// With its dashes: `-f`, `--force`, `-auto-approve`.
    pub name: String,
    /// The text after `=`, the rest of a cluster, or the next word.
    pub value: Option<&'a str>,
}

/// One word that is not an option.
#[derive(Debug, Clone, Copy)]
pub struct CommandOperand<'a> {
    pub word: &'a ShellWord,
    /// Whether it follows an option that may take it as its value.
    pub may_be_value: bool,
}

/// Which options of a program take a value.
#[derive(Debug, Clone, Copy)]
pub struct ValueOptions {
    pub short: &'static str,
    /// Their names, without dashes, separated by spaces.
    pub long: &'static str,
}

/// Programs whose options with a value are known, mainly the options before the sub-command.
const VALUE_OPTIONS_BY_PROGRAM: &[(&str, ValueOptions)] = &[
    (
        "rm",
        ValueOptions {
            short: "",
            long: "",
        },
    ),
    (
        "rmdir",
        ValueOptions {
            short: "",
            long: "",
        },
    ),
    (
        "unlink",
        ValueOptions {
            short: "",
            long: "",
        },
    ),
    (
        "chmod",
        ValueOptions {
            short: "",
            long: "reference",
        },
    ),
    (
        "chown",
        ValueOptions {
            short: "",
            long: "reference from",
        },
    ),
    (
        "mv",
        ValueOptions {
            short: "tS",
            long: "target-directory suffix",
        },
    ),
    (
        "cp",
        ValueOptions {
            short: "tS",
            long: "target-directory suffix",
        },
    ),
    (
        "ln",
        ValueOptions {
            short: "tS",
            long: "target-directory suffix",
        },
    ),
    (
        "install",
        ValueOptions {
            short: "tSmgo",
            long: "target-directory suffix mode group owner",
        },
    ),
    (
        "mkdir",
        ValueOptions {
            short: "m",
            long: "mode",
        },
    ),
    (
        "tee",
        ValueOptions {
            short: "",
            long: "",
        },
    ),
    (
        "truncate",
        ValueOptions {
            short: "sr",
            long: "size reference",
        },
    ),
    (
        "shred",
        ValueOptions {
            short: "ns",
            long: "iterations size random-source",
        },
    ),
    (
        "crontab",
        ValueOptions {
            short: "u",
            long: "",
        },
    ),
    (
        "git",
        ValueOptions {
            short: "Ccm",
            long: "git-dir work-tree namespace exec-path config-env super-prefix message repo push-option receive-pack exec author date pathspec-from-file",
        },
    ),
    (
        "npm",
        ValueOptions {
            short: "wCL",
            long: "prefix workspace registry tag access otp loglevel userconfig cache depth location omit include",
        },
    ),
    (
        "pnpm",
        ValueOptions {
            short: "CF",
            long: "dir filter prefix registry tag access workspace-concurrency otp",
        },
    ),
    (
        "yarn",
        ValueOptions {
            short: "",
            long: "cwd registry tag access modules-folder cache-folder otp",
        },
    ),
    (
        "bun",
        ValueOptions {
            short: "",
            long: "cwd registry tag access filter config env-file",
        },
    ),
    (
        "cargo",
        ValueOptions {
            short: "CpZFj",
            long: "color config manifest-path package target-dir features registry token index target jobs",
        },
    ),
    (
        "docker",
        ValueOptions {
            short: "cHlpft",
            long: "config context host log-level tlscacert tlscert tlskey file project-name project-directory profile env-file",
        },
    ),
    (
        "podman",
        ValueOptions {
            short: "cHft",
            long: "connection url log-level root runroot storage-driver file project-name",
        },
    ),
    (
        "kubectl",
        ValueOptions {
            short: "nslfoc",
            long: "namespace context cluster user kubeconfig server token as output selector request-timeout filename field-selector grace-period timeout",
        },
    ),
    (
        "helm",
        ValueOptions {
            short: "nf",
            long: "namespace kube-context kubeconfig values set version",
        },
    ),
    (
        "terraform",
        ValueOptions {
            short: "",
            long: "",
        },
    ),
    (
        "tofu",
        ValueOptions {
            short: "",
            long: "",
        },
    ),
    (
        "aws",
        ValueOptions {
            short: "",
            long: "profile region output endpoint-url query color cli-read-timeout cli-connect-timeout ca-bundle",
        },
    ),
    (
        "systemctl",
        ValueOptions {
            short: "HMtpsno",
            long: "host machine type property signal lines output root",
        },
    ),
    (
        "make",
        ValueOptions {
            short: "CfIjlo",
            long: "directory file makefile include-dir jobs",
        },
    ),
    (
        "gh",
        ValueOptions {
            short: "RtFnbXHf",
            long: "repo title notes notes-file target hostname method header field body",
        },
    ),
    (
        "curl",
        ValueOptions {
            short: "oHdXuAebTFmCEKPQrtUwxyYz",
            long: "output header data request user user-agent form max-time retry url data-raw data-binary data-urlencode json proxy cacert cert key connect-timeout write-out upload-file referer cookie cookie-jar config range resolve output-dir",
        },
    ),
    (
        "wget",
        ValueOptions {
            short: "OoPUtTaiQwe",
            long: "output-document output-file directory-prefix user-agent tries timeout header append-output input-file post-data method body-data user password",
        },
    ),
];

impl CommandArguments<'_> {
    /// Splits the words after a program.
    pub fn parse<'a>(program: &str, words: &'a [ShellWord]) -> CommandArguments<'a> {
        let valued = VALUE_OPTIONS_BY_PROGRAM
            .iter()
            .find(|(name, _)| *name == program)
            .map(|(_, valued)| *valued);
        match valued {
            Some(valued) => CommandArguments::parse_with_known_options(valued, words),
            None => CommandArguments::parse_without_known_options(words),
        }
    }

    fn parse_with_known_options(valued: ValueOptions, words: &[ShellWord]) -> CommandArguments<'_> {
        let mut arguments = CommandArguments::default();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if word.text == "--" {
                break;
            } else if let Some(long) = word.text.strip_prefix("--") {
                let (name, mut value) = split_option_value(long);
                if value.is_none() && is_in_list(name, valued.long) {
                    value = rest.next().map(|next| next.text.as_str());
                }
                arguments.options.push(new_option("--", name, value));
            } else if let Some(cluster) = option_letters(&word.text) {
                arguments.push_cluster(cluster, valued, &mut rest);
            } else {
                arguments.push_operand(word, false);
            }
        }
        rest.for_each(|word| arguments.push_operand(word, false));
        arguments
    }

    fn parse_without_known_options(words: &[ShellWord]) -> CommandArguments<'_> {
        let mut arguments = CommandArguments::default();
        let mut rest = words.iter();
        let mut after_option = false;
        for word in rest.by_ref() {
            if word.text == "--" {
                break;
            } else if let Some(long) = word.text.strip_prefix("--") {
                let (name, value) = split_option_value(long);
                arguments.options.push(new_option("--", name, value));
                after_option = value.is_none();
            } else if let Some(cluster) = option_letters(&word.text) {
                let (name, value) = split_option_value(cluster);
                arguments.options.push(new_option("-", name, value));
                if name.chars().count() > 1 {
                    for letter in name.chars() {
                        arguments
                            .options
                            .push(new_option("-", &letter.to_string(), None));
                    }
                }
                after_option = value.is_none();
            } else {
                arguments.push_operand(word, after_option);
                after_option = false;
            }
        }
        rest.for_each(|word| arguments.push_operand(word, false));
        arguments
    }
}

impl<'a> CommandArguments<'a> {
    fn push_cluster(
        &mut self,
        cluster: &'a str,
        valued: ValueOptions,
        rest: &mut std::slice::Iter<'a, ShellWord>,
    ) {
        if cluster.chars().count() > 1 {
            let (name, value) = split_option_value(cluster);
            self.options.push(new_option("-", name, value));
        }
        for (at, letter) in cluster.char_indices() {
            let behind = &cluster[at + letter.len_utf8()..];
            if valued.short.contains(letter) {
                let value = if behind.is_empty() {
                    rest.next().map(|next| next.text.as_str())
                } else {
                    Some(behind.strip_prefix('=').unwrap_or(behind))
                };
                self.options
                    .push(new_option("-", &letter.to_string(), value));
                return;
            }
            if letter == '=' {
                return;
            }
            self.options
                .push(new_option("-", &letter.to_string(), None));
        }
    }

    fn push_operand(&mut self, word: &'a ShellWord, may_be_value: bool) {
        self.operands.push(CommandOperand { word, may_be_value });
    }

    /// Returns whether one of the options is given and not switched off; a long name may be abbreviated.
    pub fn has_option(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.find_option(name).is_some())
    }

    /// Finds an option by its name, with dashes.
    pub fn find_option(&self, name: &str) -> Option<&CommandOption<'a>> {
        self.options.iter().find(|given| {
            is_same_option(&given.name, name) && !given.value.is_some_and(is_off_value)
        })
    }

    /// Returns the values of an option, in order.
    pub fn option_values<'b>(&'b self, names: &'b [&'b str]) -> impl Iterator<Item = &'a str> + 'b {
        self.options
            .iter()
            .filter(move |given| names.iter().any(|name| is_same_option(&given.name, name)))
            .filter_map(|given| given.value)
    }

    /// Returns the text of the operand at a position.
    pub fn operand_text(&self, at: usize) -> Option<&'a str> {
        self.operands
            .get(at)
            .map(|operand| operand.word.text.as_str())
    }

    /// Returns the operands' texts.
    pub fn operand_texts(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.operands
            .iter()
            .map(|operand| operand.word.text.as_str())
    }
}

fn new_option<'a>(dashes: &str, name: &str, value: Option<&'a str>) -> CommandOption<'a> {
    CommandOption {
        name: format!("{dashes}{name}"),
        value,
    }
}

fn option_letters(text: &str) -> Option<&str> {
    text.strip_prefix('-').filter(|rest| !rest.is_empty())
}

fn split_option_value(option: &str) -> (&str, Option<&str>) {
    match option.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option, None),
    }
}

fn is_in_list(name: &str, long: &str) -> bool {
    long.split(' ')
        .any(|listed| !listed.is_empty() && listed == name)
}

fn is_off_value(value: &str) -> bool {
    matches!(value, "false" | "none" | "0" | "no")
}

/// `--recur` means `--recursive`; `-auto-approve` and `--auto-approve` mean the same.
fn is_same_option(given: &str, name: &str) -> bool {
    if given == name {
        return true;
    }
    match (given.strip_prefix("--"), name.strip_prefix("--")) {
        (Some(given), Some(name)) => !given.is_empty() && name.starts_with(given),
        (Some(given), None) => name.len() > 2 && name.strip_prefix('-') == Some(given),
        (None, Some(name)) => name.len() > 1 && given.strip_prefix('-') == Some(name),
        (None, None) => false,
    }
}
