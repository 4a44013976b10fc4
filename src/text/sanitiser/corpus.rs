//! Hostile sequences, and a terminal emulator that must notice none of them.

use std::num::NonZeroU16;

use proptest::prelude::*;
use vt100::{Callbacks, Parser, Screen};

use super::{TextSanitiser, Utf8Decoder, sanitise_text};

/// Each of these is removed completely: nothing is left of it between two words.
const DROPPED: &[&[u8]] = &[
    // Control bytes.
    b"\x00",
    b"\x01",
    b"\x05",
    b"\x07",
    b"\x08",
    b"\x0b",
    b"\x0c",
    b"\x0e",
    b"\x0f",
    b"\x7f",
    b"\x1a",
    b"\x18",
    b"\x11\x13",
    b"\x08\x08\x08\x08",
    b"\x07\x07\x07",
    b"\x1c\x1d\x1e\x1f",
    // Control characters above ASCII, bare and encoded.
    b"\x80",
    b"\x84",
    b"\x88",
    b"\x8d",
    b"\x8e",
    b"\x8f",
    b"\x9a",
    b"\x9c",
    b"\xc2\x80",
    b"\xc2\x84",
    b"\xc2\x8d",
    b"\xc2\x8f",
    b"\xc2\x9a",
    b"\xc2\x9c",
    b"\xc0\x87",
    b"\xc0\x80",
    b"\xe0\x80\x88",
    b"\xf0\x80\x80\x8e",
    // Control sequences.
    b"\x1b[m",
    b"\x1b[31m",
    b"\x1b[1;38;2;255;0;0m",
    b"\x1b[38:5:196m",
    b"\x1b[4:3m",
    b"\x1b[58;5;1m",
    b"\x1b[?25l",
    b"\x1b[?1049h",
    b"\x1b[?47h",
    b"\x1b[?1000;1006h",
    b"\x1b[?2004h",
    b"\x1b[?2026h",
    b"\x1b[?1004h",
    b"\x1b[>4;2m",
    b"\x1b[>1u",
    b"\x1b[<u",
    b"\x1b[=1;1u",
    b"\x1b[2J",
    b"\x1b[3J",
    b"\x1b[H",
    b"\x1b[5;10H",
    b"\x1b[1A\x1b[2K",
    b"\x1b[999D",
    b"\x1b[6n",
    b"\x1b[?6n",
    b"\x1b[5n",
    b"\x1b[c",
    b"\x1b[>c",
    b"\x1b[=c",
    b"\x1b[>q",
    b"\x1b[21t",
    b"\x1b[8;50;100t",
    b"\x1b[11t",
    b"\x1b[22;0t",
    b"\x1b[1;5r",
    b"\x1b[4h",
    b"\x1b[20h",
    b"\x1b[!p",
    b"\x1b[2 q",
    b"\x1b[0$p",
    b"\x1b[?2026$p",
    b"\x1b[1;1;5;5;32$x",
    b"\x1b[0*y",
    b"\x1b[1'z",
    b"\x1b[s\x1b[u",
    b"\x1b[b",
    b"\x1b[99999b",
    b"\x1b[5i",
    b"\x1b[4i",
    b"\x1b[?15n",
    b"\x1b[1;31;;;;;m",
    b"\x1b[99999999999999999999m",
    b"\x1b[\x0031m",
    b"\x1b\x00[31m",
    b"\x1b[3\x081m",
    b"\x1b[31\x07m",
    b"\x1b[?\x7f25l",
    b"\x1b[38;5\x18",
    b"\x1b[31\x1a",
    b"\x9b31m",
    b"\xc2\x9b31m",
    b"\x9b?25l",
    b"\xc2\x9b2J",
    b"\xc0\x9b[31m",
    b"\xe0\x80\x9b[31m",
    b"\xe0\x82\x9b31m",
    b"\x1b\x1b[31m",
    b"\x1b\x1b\x1b[0m",
    b"\x1b[31\x1b[32m",
    b"\x1b[\x1b[\x1b[m",
    // Operating system commands: title, links, clipboard, colours, notes, pictures.
    b"\x1b]0;owned\x07",
    b"\x1b]P1ff00ff",
    b"\x1b]P1ff00ff\x07",
    b"\x1b]R",
    b"\x9dR",
    b"\x1b]0;owned\x1b\\",
    b"\x1b]2;owned\xc2\x9c",
    b"\x1b]2;owned\x9c",
    b"\x1b]1;icon\x07",
    b"\x9d0;owned\x07",
    b"\xc2\x9d0;owned\xc2\x9c",
    b"\x1b]\x07",
    b"\x1b]\x1b\\",
    b"\x1b];\x07",
    b"\x1b]l title\x1b\\",
    b"\x1b]8;;https://evil.example\x07",
    b"\x1b]8;id=1;file:///etc/passwd\x1b\\",
    b"\x1b]8;;\x1b\\",
    b"\x1b]52;c;cm0gLXJmIC8=\x07",
    b"\x1b]52;c;?\x07",
    b"\x1b]52;p;QUJD\x1b\\",
    b"\x1b]4;1;rgb:00/00/00\x07",
    b"\x1b]10;?\x1b\\",
    b"\x1b]11;#000000\x07",
    b"\x1b]104\x07",
    b"\x1b]50;font\x07",
    b"\x1b]7;file://host/tmp\x07",
    b"\x1b]9;note to you\x07",
    b"\x1b]9;4;1;50\x1b\\",
    b"\x1b]99;i=1;note\x1b\\",
    b"\x1b]777;notify;a;b\x07",
    b"\x1b]133;A\x07",
    b"\x1b]633;E;rm -rf /\x07",
    b"\x1b]1337;SetUserVar=a=QQ==\x07",
    b"\x1b]1337;CopyToClipboard=\x07",
    b"\x1b]1337;File=inline=1:QUJD\nREVG\nR0hJ\x07",
    b"\x1b]0;\xe2\x9c\x9c caf\xc3\xa9\x07",
    b"\x1b]0;a\x00b\x08c\x07",
    b"\x1b]0;never\x18",
    b"\x1b]0;never\x1a",
    b"\x1b]0;a\x1b]0;b\x07",
    b"\x1b]0;a\x1b[0m",
    b"\x1b]0;a\x9b0m",
    b"\x1b]52;c;QUJD\r\nREVG\r\n\x1b\\",
    // Device control, application, privacy and other strings.
    b"\x1bPq#0;2;0;0;0~-\x1b\\",
    b"\x1bPq#0;2;0;0;0\n#0~~@@\n-\x1b\\",
    b"\x1bP$qm\x1b\\",
    b"\x1bP+q544e\x1b\\",
    b"\x1bP1$r0m\x1b\\",
    b"\x1bPtmux;\x1b\x1b]52;c;QQ==\x07\x1b\\",
    b"\x90q~\x9c",
    b"\xc2\x90q~\xc2\x9c",
    b"\x1bP\x1b\\",
    b"\x1b_Gf=100,a=T;QUJD\x1b\\",
    b"\x1b_Gm=1;QUJD\x1b\\\x1b_Gm=0;REVG\x1b\\",
    b"\x9fapc\x9c",
    b"\xc2\x9fapc\xc2\x9c",
    b"\x1b_apc\x07",
    b"\x1b^pm\x1b\\",
    b"\x1b^pm\x07",
    b"\x9epm\x9c",
    b"\xc2\x9epm\xc2\x9c",
    b"\x1bXsos\x1b\\",
    b"\x98sos\x9c",
    b"\xc2\x98sos\xc2\x9c",
    b"\x1bktitle of a window\x1b\\",
    b"\x1bP0;1|17/61\x1b\\",
    b"\x1bP=1s\x1b\\\x1bP=2s\x1b\\",
    // Short escapes.
    b"\x1bc",
    b"\x1b7\x1b8",
    b"\x1bD",
    b"\x1bE",
    b"\x1bM",
    b"\x1bH",
    b"\x1bZ",
    b"\x1b=",
    b"\x1b>",
    b"\x1b(0",
    b"\x1b(B",
    b"\x1b)0",
    b"\x1b*B",
    b"\x1b%G",
    b"\x1b%@",
    b"\x1b#8",
    b"\x1b#3",
    b"\x1b F",
    b"\x1b G",
    b"\x1bn",
    b"\x1bo",
    b"\x1b|",
    b"\x1b}",
    b"\x1b~",
    b"\x1bg",
    b"\x1bl",
    b"\x1b\\",
    b"\x1b$(C",
    b"\x1b-A",
    b"\x1b(\x08B",
    b"\x1b",
    b"\x1b\x1b\x1b",
    b"\x1b6\x1b9",
    // Reordering, invisible characters, hidden messages.
    "\u{202a}".as_bytes(),
    "\u{202e}".as_bytes(),
    "\u{202c}".as_bytes(),
    "\u{2066}\u{2069}".as_bytes(),
    "\u{2067}".as_bytes(),
    "\u{2068}".as_bytes(),
    "\u{200e}".as_bytes(),
    "\u{200f}".as_bytes(),
    "\u{61c}".as_bytes(),
    "\u{200b}".as_bytes(),
    "\u{200c}".as_bytes(),
    "\u{200d}".as_bytes(),
    "\u{2060}".as_bytes(),
    "\u{2061}\u{2062}\u{2063}\u{2064}".as_bytes(),
    "\u{206a}\u{206f}".as_bytes(),
    "\u{feff}".as_bytes(),
    "\u{ad}".as_bytes(),
    "\u{34f}".as_bytes(),
    "\u{180e}".as_bytes(),
    "\u{115f}\u{1160}".as_bytes(),
    "\u{3164}".as_bytes(),
    "\u{ffa0}".as_bytes(),
    "\u{17b4}".as_bytes(),
    "\u{fe0f}".as_bytes(),
    "\u{fe00}\u{fe01}".as_bytes(),
    "\u{e0100}".as_bytes(),
    "\u{e0001}\u{e0068}\u{e0069}\u{e007f}".as_bytes(),
    "\u{e0041}\u{e0042}".as_bytes(),
    "\u{fff9}\u{fffa}\u{fffb}".as_bytes(),
    "\u{1d173}".as_bytes(),
    "\u{1bca0}".as_bytes(),
];

/// Each of these becomes the text next to it.
const REWRITTEN: &[(&[u8], &str)] = &[
    (
        b"Downloading 10%\rDone        ",
        "Downloading 10%\nDone        ",
    ),
    (b"rm -rf /\r\x1b[Kls", "rm -rf /\nls"),
    (b"a\r\r\nb", "a\n\nb"),
    (b"a\xc2\x85b\x85c", "a\nb\nc"),
    ("a\u{2028}b\u{2029}c".as_bytes(), "a\nb\nc"),
    (b"one\x1b]0;title\ntwo words\n", "one\ntwo words\n"),
    (b"one\x1bPq never\ntwo words\n", "one\ntwo words\n"),
    (b"one\x1b_never\ntwo\n", "one\ntwo\n"),
    (b"one\x1b]0;title\ntwo\x1b[0mthree", "one\ntwothree"),
    (b"one\x1b[31\ntwo", "one\ntwo"),
    (b"one\x1b[3\n1mtwo", "one\ntwo"),
    (b"one\x1b\ntwo", "one\ntwo"),
    (b"one\x1b]0;title", "one"),
    (b"one\x1b[38;5;", "one"),
    (b"one\x1b(", "one"),
    (b"one\x1bP+q\xff", "one"),
    (b"a\x1b[\xe4\xb8\x96b", "a\u{4e16}b"),
    (b"\xffa\xfe\xc3(", "\u{fffd}a\u{fffd}\u{fffd}("),
    (b"\xe2\x9b31m", "\u{fffd}31m"),
    (b"\x1b\x1b[0m[31mx", "[31mx"),
    (b"\x1b]0;\x1b[0m1mx", "1mx"),
    (b"\xef\xbb\xbf# Title", "# Title"),
    (b"pass\xe2\x80\x8bword", "password"),
    (b"x\x1bOP", "xP"),
];

/// Ordinary text, which must not change.
const KEPT: &[&str] = &[
    "plain ASCII ~!@#$%^&*()_+{}|:\"<>? and\ttabs\nand lines\n",
    "[31m is no sequence, nor is ]0;title, nor ^[[0m nor \\x1b[0m nor \\u001b[2J",
    "naïve café Ünïcödé Ελληνικά Кириллица հայերեն ქართული",
    "漢字かな交じり文 한국어 中文（全角）　空白",
    "שלום עולם, مرحبا بالعالم, سلام، می\u{200c}خواهم",
    "हिन्दी বাংলা தமிழ் മലയാളം ไทย ລາວ မြန်မာ ភាសាខ្មែរ བོད་",
    "क\u{94d}\u{200d}ष ශ\u{dca}\u{200d}රී ല\u{d4d}\u{200d}",
    "e\u{301} n\u{303} a\u{308}\u{332} Z\u{351}\u{36b} ก\u{e33}",
    "👍 👍🏽 👩\u{200d}💻 👨\u{200d}👩\u{200d}👧\u{200d}👦 🏳\u{fe0f}\u{200d}🌈 🏴\u{200d}☠\u{fe0f} ❤\u{fe0f}\u{200d}🔥",
    "🇨🇳🇩🇪🇺🇳 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3} ☎\u{fe0e} ©\u{fe0f} ™\u{fe0f} ⚠\u{fe0f}",
    "┌─┬─┐│▀▄█░▒▓│└─┴─┘ ⠋⠙⠹ ✓ ✗ → ⇒ … “quoted” ‘so’ – — • № ½ ∑ √ ∞",
    "漢\u{e0100}字 ᠮᠣᠩᠭᠣᠯ 𝒜𝓁𝓅𝒽𝒶 𐍈 \u{e0b0} \u{f015} \u{a0}x\u{202f}x\u{3000}x\u{2007}x",
];

const ROWS: NonZeroU16 = NonZeroU16::new(24).unwrap();
const COLUMNS: NonZeroU16 = NonZeroU16::new(80).unwrap();

fn clean_bytes(bytes: &[u8], size: usize) -> String {
    let (mut decoder, mut sanitiser) = (Utf8Decoder::default(), TextSanitiser::new());
    let mut clean = String::new();
    for piece in bytes.chunks(size) {
        clean.push_str(&sanitiser.push(&decoder.push(piece)));
    }
    clean.push_str(&sanitiser.push(&decoder.finish()));
    clean + &sanitiser.finish()
}

/// Counts what a terminal did apart from showing text.
#[derive(Default)]
struct TerminalEffects(Vec<&'static str>);

impl Callbacks for TerminalEffects {
    fn audible_bell(&mut self, _: &mut Screen) {
        self.0.push("bell");
    }
    fn visual_bell(&mut self, _: &mut Screen) {
        self.0.push("flash");
    }
    fn resize(&mut self, _: &mut Screen, _: (u16, u16)) {
        self.0.push("resize");
    }
    fn set_window_icon_name(&mut self, _: &mut Screen, _: &[u8]) {
        self.0.push("icon");
    }
    fn set_window_title(&mut self, _: &mut Screen, _: &[u8]) {
        self.0.push("title");
    }
    fn copy_to_clipboard(&mut self, _: &mut Screen, _: &[u8], _: &[u8]) {
        self.0.push("clipboard");
    }
    fn paste_from_clipboard(&mut self, _: &mut Screen, _: &[u8]) {
        self.0.push("clipboard read");
    }
    fn unhandled_char(&mut self, _: &mut Screen, shown: char) {
        if shown != char::REPLACEMENT_CHARACTER {
            self.0.push("character");
        }
    }
    fn unhandled_control(&mut self, _: &mut Screen, _: u8) {
        self.0.push("control");
    }
    fn unhandled_escape(&mut self, _: &mut Screen, _: Option<u8>, _: Option<u8>, _: u8) {
        self.0.push("escape");
    }
    fn unhandled_csi(
        &mut self,
        _: &mut Screen,
        _: Option<u8>,
        _: Option<u8>,
        _: &[&[u16]],
        _: char,
    ) {
        self.0.push("control sequence");
    }
    fn unhandled_osc(&mut self, _: &mut Screen, _: &[&[u8]]) {
        self.0.push("command");
    }
}

/// Shows a text and returns its other effects: modes, attributes, a cursor that is not at the text's end.
fn effects(text: &str) -> Vec<String> {
    let mut terminal = Parser::new_with_callbacks(ROWS, COLUMNS, 0, TerminalEffects::default());
    let modes = terminal.screen().input_mode_formatted();
    let attributes = terminal.screen().attributes_formatted();
    terminal.process(text.replace('\n', "\r\n").as_bytes());
    let mut effects: Vec<String> = terminal
        .callbacks()
        .0
        .iter()
        .map(ToString::to_string)
        .collect();
    let screen = terminal.screen();
    if screen.input_mode_formatted() != modes || screen.alternate_screen() || screen.hide_cursor() {
        effects.push("modes".to_owned());
    }
    if screen.attributes_formatted() != attributes {
        effects.push("attributes".to_owned());
    }
    effects
}

#[test]
fn hostile_sequences_leave_no_trace() {
    assert!(DROPPED.len() >= 120, "{}", DROPPED.len());
    for sequence in DROPPED {
        let hostile = [
            b"left ",
            *sequence,
            " right, 世 31m\nnext line\n".as_bytes(),
        ]
        .concat();
        for size in [1, 2, 3, 7, hostile.len()] {
            let clean = clean_bytes(&hostile, size);
            let expected = "left  right, 世 31m\nnext line\n";
            let shown = String::from_utf8_lossy(sequence).into_owned();
            assert_eq!(clean, expected, "{shown:?} in pieces of {size}");
            assert_eq!(effects(&clean), Vec::<String>::new(), "{shown:?}");
        }
    }
}

#[test]
fn what_is_rewritten_is_told() {
    for (hostile, expected) in REWRITTEN {
        for size in [1, 2, 3, 5, hostile.len()] {
            let shown = String::from_utf8_lossy(hostile).into_owned();
            assert_eq!(clean_bytes(hostile, size), *expected, "{shown:?}");
        }
        assert_eq!(sanitise_text(expected), *expected);
    }
}

#[test]
fn text_of_people_is_kept() {
    for text in KEPT {
        assert_eq!(sanitise_text(text), *text);
        assert_eq!(clean_bytes(text.as_bytes(), 1), *text);
    }
}

#[test]
fn twice_the_input_is_not_more_than_twice_the_output() {
    for sequence in DROPPED.iter().copied().chain([
        b"\x1b]\n".as_slice(),
        b"\x1bP\x07",
        b"\x1bk",
        b"\x1bP\n\x1b",
        b"\xc0\xe0\x80\xf0",
        b"\x1b[\n\r",
    ]) {
        let clean = |times: usize| clean_bytes(&sequence.repeat(times), 4_096).len();
        assert!(clean(4_000) <= 2 * clean(2_000) + 8);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_bytes_do_more_than_show_text(
        pieces in proptest::collection::vec(
            prop_oneof![
                proptest::sample::select(DROPPED).prop_map(<[u8]>::to_vec),
                proptest::sample::select(KEPT).prop_map(|text| text.as_bytes().to_vec()),
                proptest::collection::vec(any::<u8>(), 0..6),
                proptest::collection::vec(proptest::sample::select(b"\x1b[]P\\_^Xk0;1mhl?\x07\x9b\x9c\x9d\x90\n\r \xc2\xe2".as_slice()), 0..6),
            ],
            0..12,
        ),
        size in 1usize..64,
    ) {
        let hostile = pieces.concat();
        let clean = clean_bytes(&hostile, size);
        prop_assert_eq!(effects(&clean), Vec::<String>::new(), "{:?}", clean);
        prop_assert_eq!(&clean_bytes(&hostile, hostile.len().max(1)), &clean);
        prop_assert_eq!(sanitise_text(&clean), clean);
    }
}
