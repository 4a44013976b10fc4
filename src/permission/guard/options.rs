//! The words of a command taken apart: options, their values, operands.
//!
//! It refuses to know what an option does. Where it is not told which options take a value, an
//! operand behind an option says so of itself, and nothing is lost.

use crate::permission::shell::Word;

/// The arguments of one command.
#[derive(Debug, Default)]
pub struct Arguments<'a> {
    /// In their order; a cluster `-rf` is two.
    pub options: Vec<Given<'a>>,
    /// In their order.
    pub operands: Vec<Operand<'a>>,
}

/// One option as it was given.
#[derive(Debug, PartialEq, Eq)]
pub struct Given<'a> {
    /// With its dashes: `-f`, `--force`, `-auto-approve`.
    pub name: String,
    /// What stands behind `=`, in the rest of a cluster, or in the next word.
    pub value: Option<&'a str>,
}

/// One word that is no option.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a> {
    /// The word.
    pub word: &'a Word,
    /// Whether it stands behind an option that may take it as its value.
    pub may_be_value: bool,
}

/// Which options of a program take a value.
#[derive(Debug, Clone, Copy)]
pub struct Valued {
    /// Their letters.
    pub short: &'static str,
    /// Their names, without dashes, separated by blanks.
    pub long: &'static str,
}

/// Programs whose options with a value are known, those before the sub-command above all.
const VALUED: &[(&str, Valued)] = &[
    (
        "rm",
        Valued {
            short: "",
            long: "",
        },
    ),
    (
        "rmdir",
        Valued {
            short: "",
            long: "",
        },
    ),
    (
        "unlink",
        Valued {
            short: "",
            long: "",
        },
    ),
    (
        "chmod",
        Valued {
            short: "",
            long: "reference",
        },
    ),
    (
        "chown",
        Valued {
            short: "",
            long: "reference from",
        },
    ),
    (
        "mv",
        Valued {
            short: "tS",
            long: "target-directory suffix",
        },
    ),
    (
        "cp",
        Valued {
            short: "tS",
            long: "target-directory suffix",
        },
    ),
    (
        "ln",
        Valued {
            short: "tS",
            long: "target-directory suffix",
        },
    ),
    (
        "install",
        Valued {
            short: "tSmgo",
            long: "target-directory suffix mode group owner",
        },
    ),
    (
        "mkdir",
        Valued {
            short: "m",
            long: "mode",
        },
    ),
    (
        "tee",
        Valued {
            short: "",
            long: "",
        },
    ),
    (
        "truncate",
        Valued {
            short: "sr",
            long: "size reference",
        },
    ),
    (
        "shred",
        Valued {
            short: "ns",
            long: "iterations size random-source",
        },
    ),
    (
        "crontab",
        Valued {
            short: "u",
            long: "",
        },
    ),
    (
        "git",
        Valued {
            short: "Ccm",
            long: "git-dir work-tree namespace exec-path config-env super-prefix message repo push-option receive-pack exec author date pathspec-from-file",
        },
    ),
    (
        "npm",
        Valued {
            short: "wCL",
            long: "prefix workspace registry tag access otp loglevel userconfig cache depth location omit include",
        },
    ),
    (
        "pnpm",
        Valued {
            short: "CF",
            long: "dir filter prefix registry tag access workspace-concurrency otp",
        },
    ),
    (
        "yarn",
        Valued {
            short: "",
            long: "cwd registry tag access modules-folder cache-folder otp",
        },
    ),
    (
        "bun",
        Valued {
            short: "",
            long: "cwd registry tag access filter config env-file",
        },
    ),
    (
        "cargo",
        Valued {
            short: "CpZFj",
            long: "color config manifest-path package target-dir features registry token index target jobs",
        },
    ),
    (
        "docker",
        Valued {
            short: "cHlpft",
            long: "config context host log-level tlscacert tlscert tlskey file project-name project-directory profile env-file",
        },
    ),
    (
        "podman",
        Valued {
            short: "cHft",
            long: "connection url log-level root runroot storage-driver file project-name",
        },
    ),
    (
        "kubectl",
        Valued {
            short: "nslfoc",
            long: "namespace context cluster user kubeconfig server token as output selector request-timeout filename field-selector grace-period timeout",
        },
    ),
    (
        "helm",
        Valued {
            short: "nf",
            long: "namespace kube-context kubeconfig values set version",
        },
    ),
    (
        "terraform",
        Valued {
            short: "",
            long: "",
        },
    ),
    (
        "tofu",
        Valued {
            short: "",
            long: "",
        },
    ),
    (
        "aws",
        Valued {
            short: "",
            long: "profile region output endpoint-url query color cli-read-timeout cli-connect-timeout ca-bundle",
        },
    ),
    (
        "systemctl",
        Valued {
            short: "HMtpsno",
            long: "host machine type property signal lines output root",
        },
    ),
    (
        "make",
        Valued {
            short: "CfIjlo",
            long: "directory file makefile include-dir jobs",
        },
    ),
    (
        "gh",
        Valued {
            short: "RtFnbXHf",
            long: "repo title notes notes-file target hostname method header field body",
        },
    ),
    (
        "curl",
        Valued {
            short: "oHdXuAebTFmCEKPQrtUwxyYz",
            long: "output header data request user user-agent form max-time retry url data-raw data-binary data-urlencode json proxy cacert cert key connect-timeout write-out upload-file referer cookie cookie-jar config range resolve output-dir",
        },
    ),
    (
        "wget",
        Valued {
            short: "OoPUtTaiQwe",
            long: "output-document output-file directory-prefix user-agent tries timeout header append-output input-file post-data method body-data user password",
        },
    ),
];

impl Arguments<'_> {
    /// Takes the words behind a program apart.
    pub fn of<'a>(program: &str, words: &'a [Word]) -> Arguments<'a> {
        let valued = VALUED
            .iter()
            .find(|(name, _)| *name == program)
            .map(|(_, valued)| *valued);
        match valued {
            Some(valued) => Arguments::exactly(valued, words),
            None => Arguments::loosely(words),
        }
    }

    fn exactly(valued: Valued, words: &[Word]) -> Arguments<'_> {
        let mut arguments = Arguments::default();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if word.text == "--" {
                break;
            } else if let Some(long) = word.text.strip_prefix("--") {
                let (name, mut value) = split_value(long);
                if value.is_none() && is_listed(name, valued.long) {
                    value = rest.next().map(|next| next.text.as_str());
                }
                arguments.options.push(given("--", name, value));
            } else if let Some(cluster) = cluster(&word.text) {
                arguments.take_cluster(cluster, valued, &mut rest);
            } else {
                arguments.operand(word, false);
            }
        }
        rest.for_each(|word| arguments.operand(word, false));
        arguments
    }

    fn loosely(words: &[Word]) -> Arguments<'_> {
        let mut arguments = Arguments::default();
        let mut rest = words.iter();
        let mut after_option = false;
        for word in rest.by_ref() {
            if word.text == "--" {
                break;
            } else if let Some(long) = word.text.strip_prefix("--") {
                let (name, value) = split_value(long);
                arguments.options.push(given("--", name, value));
                after_option = value.is_none();
            } else if let Some(cluster) = cluster(&word.text) {
                let (name, value) = split_value(cluster);
                arguments.options.push(given("-", name, value));
                if name.chars().count() > 1 {
                    for letter in name.chars() {
                        arguments
                            .options
                            .push(given("-", &letter.to_string(), None));
                    }
                }
                after_option = value.is_none();
            } else {
                arguments.operand(word, after_option);
                after_option = false;
            }
        }
        rest.for_each(|word| arguments.operand(word, false));
        arguments
    }
}

impl<'a> Arguments<'a> {
    fn take_cluster(
        &mut self,
        cluster: &'a str,
        valued: Valued,
        rest: &mut std::slice::Iter<'a, Word>,
    ) {
        if cluster.chars().count() > 1 {
            let (name, value) = split_value(cluster);
            self.options.push(given("-", name, value));
        }
        for (at, letter) in cluster.char_indices() {
            let behind = &cluster[at + letter.len_utf8()..];
            if valued.short.contains(letter) {
                let value = if behind.is_empty() {
                    rest.next().map(|next| next.text.as_str())
                } else {
                    Some(behind.strip_prefix('=').unwrap_or(behind))
                };
                self.options.push(given("-", &letter.to_string(), value));
                return;
            }
            if letter == '=' {
                return;
            }
            self.options.push(given("-", &letter.to_string(), None));
        }
    }

    fn operand(&mut self, word: &'a Word, may_be_value: bool) {
        self.operands.push(Operand { word, may_be_value });
    }

    /// Tells whether one of the options is given and not switched off; a long name may be shortened.
    pub fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.given(name).is_some())
    }

    /// Finds an option by its name with dashes.
    pub fn given(&self, name: &str) -> Option<&Given<'a>> {
        self.options
            .iter()
            .find(|given| means(&given.name, name) && !given.value.is_some_and(is_off))
    }

    /// The values of an option, in their order.
    pub fn values<'b>(&'b self, names: &'b [&'b str]) -> impl Iterator<Item = &'a str> + 'b {
        self.options
            .iter()
            .filter(move |given| names.iter().any(|name| means(&given.name, name)))
            .filter_map(|given| given.value)
    }

    /// The text of an operand by its place.
    pub fn operand_text(&self, at: usize) -> Option<&'a str> {
        self.operands
            .get(at)
            .map(|operand| operand.word.text.as_str())
    }

    /// The operands' texts.
    pub fn texts(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.operands
            .iter()
            .map(|operand| operand.word.text.as_str())
    }
}

fn given<'a>(dashes: &str, name: &str, value: Option<&'a str>) -> Given<'a> {
    Given {
        name: format!("{dashes}{name}"),
        value,
    }
}

fn cluster(text: &str) -> Option<&str> {
    text.strip_prefix('-').filter(|rest| !rest.is_empty())
}

fn split_value(option: &str) -> (&str, Option<&str>) {
    match option.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option, None),
    }
}

fn is_listed(name: &str, long: &str) -> bool {
    long.split(' ')
        .any(|listed| !listed.is_empty() && listed == name)
}

fn is_off(value: &str) -> bool {
    matches!(value, "false" | "none" | "0" | "no")
}

/// `--recur` means `--recursive`; `-auto-approve` and `--auto-approve` mean each other.
fn means(given: &str, name: &str) -> bool {
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
