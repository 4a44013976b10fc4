//! The interpreters as a table: their language, and how they are given code.
//!
//! It refuses to judge.

use super::super::code::Language;

/// How a program is given code.
pub struct Interpreter {
    /// The programs' plain names.
    pub programs: &'static [&'static str],
    /// The language.
    pub language: Language,
    /// Options whose next word, or attached value, is code; a single letter may end a cluster.
    pub options: &'static [&'static str],
    /// Whether it reads code from standard input when it is given none.
    pub reads_input: bool,
}

/// The interpreters.
pub const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        programs: &[
            "python",
            "jython",
            "micropython",
            "python-config",
            "bpython",
            "xonsh",
            "sage",
            "timeit",
        ],
        language: Language::Python,
        options: &["-c"],
        reads_input: true,
    },
    Interpreter {
        programs: &[
            "node",
            "bun",
            "ts-node",
            "tsx",
            "zx",
            "qjs",
            "d8",
            "electron",
            "babel-node",
            "esno",
            "vite-node",
        ],
        language: Language::JavaScript,
        options: &["-e", "-p", "--eval", "--print", "-pe"],
        reads_input: true,
    },
    Interpreter {
        programs: &["deno"],
        language: Language::JavaScript,
        options: &["eval", "-e"],
        reads_input: false,
    },
    Interpreter {
        programs: &["perl", "raku", "perl6"],
        language: Language::Perl,
        options: &["-e", "-E"],
        reads_input: true,
    },
    Interpreter {
        programs: &["ruby", "jruby", "irb", "crystal", "mruby", "truffleruby"],
        language: Language::Ruby,
        options: &["-e", "eval"],
        reads_input: true,
    },
    Interpreter {
        programs: &["rake"],
        language: Language::Ruby,
        options: &["-e", "-E", "-p", "--execute"],
        reads_input: false,
    },
    Interpreter {
        programs: &["mix"],
        language: Language::Other,
        options: &["-e", "--eval", "eval"],
        reads_input: false,
    },
    Interpreter {
        programs: &["m4", "dc"],
        language: Language::Other,
        options: &["-e"],
        reads_input: true,
    },
    Interpreter {
        programs: &["rails", "bin/rails"],
        language: Language::Ruby,
        options: &["runner", "r"],
        reads_input: false,
    },
    Interpreter {
        programs: &["php", "hhvm", "artisan"],
        language: Language::Php,
        options: &["-r", "--run", "-B", "-R", "-E", "--execute"],
        reads_input: true,
    },
    Interpreter {
        programs: &["lua", "texlua", "nvim-lua"],
        language: Language::Lua,
        options: &["-e"],
        reads_input: true,
    },
    Interpreter {
        programs: &["rscript", "r", "littler"],
        language: Language::Other,
        options: &["-e"],
        reads_input: true,
    },
    Interpreter {
        programs: &["julia"],
        language: Language::Other,
        options: &["-e", "-E", "--eval", "--print"],
        reads_input: true,
    },
    Interpreter {
        programs: &["pwsh"],
        language: Language::PowerShell,
        options: &["-c", "-command", "-Command", "-C", "/c"],
        reads_input: true,
    },
    Interpreter {
        programs: &["awk"],
        language: Language::Awk,
        options: &["-e", "--source"],
        reads_input: false,
    },
    Interpreter {
        programs: &["osascript"],
        language: Language::Other,
        options: &["-e"],
        reads_input: true,
    },
    Interpreter {
        programs: &[
            "groovy",
            "scala",
            "elixir",
            "erl",
            "ghc",
            "ocaml",
            "racket",
            "guile",
            "sbcl",
            "clisp",
            "emacs",
            "clojure",
            "clj",
            "bb",
            "nim",
            "swipl",
            "tclsh",
            "expect",
            "jshell",
            "kotlin",
            "swift",
            "gdb",
            "lldb",
            "octave",
            "mono",
            "csi",
            "dotnet-script",
            "manage.py",
            "gforth",
            "io",
            "janet",
            "gjs",
            "wish",
        ],
        language: Language::Other,
        options: &["-e", "--eval", "-eval", "-c", "-ex", "--exec", "-g"],
        reads_input: false,
    },
    Interpreter {
        programs: &["vim", "vi", "nvim", "ex", "view", "ed"],
        language: Language::Editor,
        options: &["-c", "--cmd"],
        reads_input: true,
    },
];
