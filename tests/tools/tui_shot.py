#!/usr/bin/env python3
"""Drive a terminal program as a person would, and take pictures of its screen.

  tui_shot.py --size 120x40 --out DIR STEP [STEP ...] -- COMMAND [ARG ...]

Steps, carried out in order:
  wait:REGEX        until REGEX is on the screen (fails after --timeout seconds)
  gone:REGEX        until REGEX is no longer on the screen
  key:NAME          one key: enter tab esc space backspace up down left right home end pgup pgdn
                    f1..f12 backtab ctrl-x alt-x, or a single character
  text:STRING       type STRING literally
  paste:STRING      bracketed paste of STRING
  sleep:SECONDS     let the program run
  resize:WxH        change the window size (SIGWINCH)
  signal:NAME       send TERM, HUP, INT ... to the program
  shot:NAME         write DIR/NAME.png (a picture) and DIR/NAME.txt (the text of the screen)
  exit              wait for the program to end; then prints its status and whether the terminal was restored

--light draws a terminal of light ground, and says so to the program (COLORFGBG, OSC 10 and 11).
Exit status: 0 all steps done; 1 a wait failed (the screen is written to DIR/failed.png|txt); 2 bad usage.
Needs: pip install pyte pillow wcwidth; a monospaced font (fonts-dejavu-core; fonts-wqy-microhei for CJK).
"""
import argparse, codecs, fcntl, os, pty, re, select, signal, struct, sys, termios, time

import pyte
from PIL import Image, ImageDraw, ImageFont
from wcwidth import wcwidth

KEYS = {
    "enter": "\r", "tab": "\t", "esc": "\x1b", "space": " ", "backspace": "\x7f", "backtab": "\x1b[Z",
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F",
    "pgup": "\x1b[5~", "pgdn": "\x1b[6~", "insert": "\x1b[2~", "delete": "\x1b[3~",
    "f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "f4": "\x1bOS", "f5": "\x1b[15~", "f6": "\x1b[17~",
    "f7": "\x1b[18~", "f8": "\x1b[19~", "f9": "\x1b[20~", "f10": "\x1b[21~", "f11": "\x1b[23~", "f12": "\x1b[24~",
}
NAMES = ["black", "red", "green", "brown", "blue", "magenta", "cyan", "white"]
# the first sixteen of the 256 colours are the terminal's own, too
pyte.graphics.FG_BG_256[:16] = NAMES + ["bright" + name for name in NAMES]


class Ground:
    """What a terminal shows its sixteen colours, its text and its ground as."""

    def __init__(self, text, ground, colorfgbg, normal, bright):
        self.text, self.ground, self.colorfgbg = text, ground, colorfgbg
        self.names = dict(zip(NAMES, normal.split()))
        self.names.update(zip(["bright" + name for name in NAMES], bright.split()))
        for prefix in ("", "bright"):
            self.names[prefix + "yellow"] = self.names[prefix + "brown"]

    def rgb(self, name, default):
        name = default if name == "default" else name
        name = self.names.get(name, name)
        return tuple(int(name[i:i + 2], 16) for i in (0, 2, 4))

    def reply(self, number):
        """The answer to a question for the colour of the text (10) or of the ground (11)."""
        red, green, blue = self.rgb("default", self.text if number == 10 else self.ground)
        return f"\x1b]{number};rgb:{red * 257:04x}/{green * 257:04x}/{blue * 257:04x}\x1b\\".encode()


DARK = Ground("c8ccd4", "16181d", "15;0",
              "1b1d23 e06c75 98c379 d7ba7d 61afef c678dd 56b6c2 c8ccd4",
              "5c6370 ff7b86 b5e890 ffe08a 8cc8ff e2a0ff 7fe0ee ffffff")
LIGHT = Ground("24292f", "ffffff", "0;15",
               "24292f cf222e 116329 7d4e00 0969da 8250df 1b7c83 6e7781",
               "57606a a40e26 1a7f37 633c01 218bff a475f9 3192aa 8c959f")
# Private modes that a program must switch off again when it ends.
MODES = {1049: "alternate screen", 1000: "mouse", 1002: "mouse", 1003: "mouse", 1006: "mouse", 2004: "bracketed paste", 1004: "focus events"}


class Screen(pyte.Screen):
    """pyte's screen, with terminal queries answered on the pty as a real terminal answers them."""

    reply = lambda self, data: None

    def write_process_input(self, data):
        self.reply(data.encode())

    # sequences that pyte would take for others, or choke on
    def select_graphic_rendition(self, *attrs, private=False, **kw):
        if private:
            return
        super().select_graphic_rendition(*attrs)
        # pyte knows no faint text; nothing here blinks, so that this field says it
        rest = list(attrs or (0,))
        while rest:
            number = rest.pop(0)
            if number in (38, 48):
                del rest[:4 if rest[:1] == [2] else 2]
            elif number == 2:
                self.cursor.attrs = self.cursor.attrs._replace(blink=True)
            elif number in (0, 22):
                self.cursor.attrs = self.cursor.attrs._replace(blink=False)

    def set_margins(self, *a, **kw):
        try:
            super().set_margins(*a)
        except TypeError:
            pass


class Terminal:
    def __init__(self, command, cols, rows, env, cwd, ground=DARK):
        self.ground = ground
        self.screen = Screen(cols, rows)
        self.stream = pyte.Stream(self.screen)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.modes, self.cursor_hidden, self.status, self.bytes_out = set(), False, None, 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            if cwd:
                os.chdir(cwd)
            os.execvpe(command[0], command, env)
        self.size(cols, rows, first=True)
        self.screen.reply = lambda d: os.write(self.fd, d)

    def size(self, cols, rows, first=False):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        if not first:
            self.screen.resize(rows, cols)

    def pump(self, seconds):
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            ready = select.select([self.fd], [], [], max(0, left))[0]
            if ready:
                try:
                    data = os.read(self.fd, 1 << 16)
                except OSError:
                    data = b""
                if not data:
                    self.reap()
                    return False
                self.feed(data)
            if left <= 0:
                return True

    def feed(self, data):
        self.bytes_out += len(data)
        for number, state in re.findall(rb"\x1b\[\?([\d;]+)([hl])", data):
            for n in number.split(b";"):
                (self.modes.add if state == b"h" else self.modes.discard)(int(n))
        for state in re.findall(rb"\x1b\[\?25([hl])", data):
            self.cursor_hidden = state == b"l"
        if b"\x1b]11;?" in data:
            os.write(self.fd, self.ground.reply(11))
        if b"\x1b]10;?" in data:
            os.write(self.fd, self.ground.reply(10))
        text = self.decoder.decode(data)
        # what pyte does not know: OSC strings ended by ST, kitty keyboard and other private CSI, DCS, synchronized output
        text = re.sub(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P_^X][^\x1b]*\x1b\\", "", text)
        text = re.sub(r"\x1b\[[<>=][\d;]*[A-Za-z]|\x1b\[\?[\d;]*[usn]|\x1b\[\d* q", "", text)
        self.stream.feed(text)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def send(self, text):
        os.write(self.fd, text.encode())

    def reap(self):
        if self.status is None:
            _, status = os.waitpid(self.pid, 0)
            self.status = os.waitstatus_to_exitcode(status)

    def until(self, test, timeout):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            alive = self.pump(0.02)
            if test(self.text()):
                return True
            if not alive:
                return test(self.text())
        return False


# The place of each dot of a braille sign, by its bit: column and row.
DOTS = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]


def braille(draw, dots, at, cell, fill):
    """Draws a spinner's sign, which the font does not have."""
    for bit, (column, row) in enumerate(DOTS):
        if dots & (1 << bit):
            x, y = at[0] + cell[0] * (1 + 2 * column) / 4, at[1] + cell[1] * (2 + 2 * row) / 10
            draw.ellipse([x - 1, y - 1, x + 1, y + 1], fill=fill)


def fonts(size):
    """The plain, the bold, the slanted one, and the one of wide characters."""
    root = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono%s.ttf"
    plain, bold, slanted = (
        ImageFont.truetype(path if os.path.exists(path) else root % "", size)
        for path in (root % "", root % "-Bold", root % "-Oblique"))
    wide = "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"
    return plain, bold, slanted, ImageFont.truetype(wide, size) if os.path.exists(wide) else plain


def between(a, b, part):
    return tuple(round(x + (y - x) * part) for x, y in zip(a, b))


def picture(screen, path, size=16, ground=DARK):
    plain, bold, slanted, cjk = fonts(size)
    # as high as the font says, so that lines of boxes meet
    cw, ch = round(plain.getlength("M")), sum(plain.getmetrics())
    back = ground.rgb("default", ground.ground)
    image = Image.new("RGB", (screen.columns * cw, screen.lines * ch), back)
    draw = ImageDraw.Draw(image)
    pairs = {(ground.rgb("default", ground.text), back)}
    for y in range(screen.lines):
        row = screen.buffer[y]
        for x in range(screen.columns):
            cell = row[x]
            fg, bg = ground.rgb(cell.fg, ground.text), ground.rgb(cell.bg, ground.ground)
            if cell.reverse:
                fg, bg = bg, fg
            if cell.blink:
                fg = between(fg, bg, 0.4)
            pairs.add((fg, bg))
            wide = bool(cell.data) and wcwidth(cell.data[0]) == 2
            if bg != back:
                draw.rectangle([x * cw, y * ch, (x + (2 if wide else 1)) * cw - 1, (y + 1) * ch - 1], fill=bg)
            if cell.data.strip():
                font = cjk if wide else bold if cell.bold else slanted if cell.italics else plain
                if "\u2800" <= cell.data <= "\u28ff":
                    braille(draw, ord(cell.data) - 0x2800, (x * cw, y * ch), (cw, ch), fg)
                else:
                    draw.text((x * cw, y * ch), cell.data, font=font, fill=fg)
            if cell.underscore:
                draw.line([x * cw, (y + 1) * ch - 2, (x + 1) * cw - 1, (y + 1) * ch - 2], fill=fg)
            if cell.strikethrough:
                draw.line([x * cw, y * ch + ch // 2, (x + 1) * cw - 1, y * ch + ch // 2], fill=fg)
    if not screen.cursor.hidden:
        x, y = screen.cursor.x * cw, screen.cursor.y * ch
        draw.rectangle([x, y, x + cw - 1, y + ch - 1], outline=ground.rgb("default", ground.text))
    few(image, pairs).save(path, optimize=True)


def few(image, pairs):
    """The picture in as few shades between text and ground as letters need: a small file."""
    n_shades = max(2, min(4, 256 // len(pairs)))
    shades = {between(fg, bg, n / (n_shades - 1)) for fg, bg in pairs for n in range(n_shades)}
    palette = Image.new("P", (1, 1))
    palette.putpalette([value for shade in sorted(shades)[:256] for value in shade])
    return image.quantize(palette=palette, dither=Image.Dither.NONE)


def key(name):
    if name in KEYS:
        return KEYS[name]
    if name.startswith("ctrl-"):
        return chr(ord(name[5:].upper()) & 0x1F)
    if name.startswith("alt-"):
        return "\x1b" + key(name[4:])
    if len(name) == 1:
        return name
    sys.exit(f"tui_shot: unknown key {name!r}")


def perform(term, verb, rest, timeout=15, shot=lambda name: None):
    """Carries out one step. Returns what went wrong, or None."""
    if verb in ("wait", "gone"):
        want = verb == "wait"
        if not term.until(lambda text: bool(re.search(rest, text)) == want, timeout):
            return f"{verb} {rest!r} failed after {timeout} s"
    elif verb == "key":
        # A dialog that has just appeared takes no key.
        term.pump(0.05)
        term.until(lambda text: "wait a moment, so you can read it" not in text, 2)
        term.send(key(rest)); term.pump(0.15)
    elif verb == "text":
        term.send(rest); term.pump(0.15)
    elif verb == "paste":
        term.send(f"\x1b[200~{rest}\x1b[201~"); term.pump(0.15)
    elif verb == "sleep":
        term.pump(float(rest))
    elif verb == "resize":
        cols, rows = map(int, rest.split("x")); term.size(cols, rows); term.pump(0.3)
    elif verb == "signal":
        os.kill(term.pid, getattr(signal, "SIG" + rest)); term.pump(0.3)
    elif verb == "shot":
        term.pump(0.2); shot(rest)
    elif verb == "exit":
        if not term.until(lambda text: term.status is not None, timeout):
            return "still running"
        left = sorted({MODES[m] for m in term.modes if m in MODES})
        left += ["cursor hidden"] * term.cursor_hidden
        print(f"exit status {term.status}; terminal {'NOT restored: ' + ', '.join(left) if left else 'restored'}")
    else:
        raise ValueError(f"unknown step {verb!r}")
    return None


def surroundings(cols, rows, ground):
    """The environment of a program in such a terminal."""
    return dict(os.environ, TERM="xterm-256color", COLORTERM="truecolor", COLORFGBG=ground.colorfgbg,
                COLUMNS=str(cols), LINES=str(rows))


def end(term):
    """Ends the program if it runs: asked first, then not."""
    for sig in (signal.SIGTERM, signal.SIGKILL):
        if term.status is not None:
            return
        try:
            os.kill(term.pid, sig)
        except ProcessLookupError:
            return
        term.pump(0.5)


def main():
    if "--" not in sys.argv:
        print(__doc__)
        sys.exit(2)
    cut = sys.argv.index("--")
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--size", default="120x40")
    parser.add_argument("--out", default=".")
    parser.add_argument("--timeout", type=float, default=15)
    parser.add_argument("--cwd")
    parser.add_argument("--light", action="store_true")
    parser.add_argument("steps", nargs="*")
    args = parser.parse_args(sys.argv[1:cut])
    cols, rows = map(int, args.size.split("x"))
    os.makedirs(args.out, exist_ok=True)
    ground = LIGHT if args.light else DARK
    term = Terminal(sys.argv[cut + 1:], cols, rows, surroundings(cols, rows, ground), args.cwd, ground)

    def shot(name):
        picture(term.screen, os.path.join(args.out, name + ".png"), ground=ground)
        with open(os.path.join(args.out, name + ".txt"), "w") as f:
            f.write(term.text() + "\n")
        print(f"{os.path.join(args.out, name)}.png")

    code = 0
    try:
        for step in args.steps:
            verb, _, rest = step.partition(":")
            try:
                wrong = perform(term, verb, rest, args.timeout, shot)
            except ValueError as error:
                print(f"tui_shot: {error}"); code = 2
                break
            if wrong:
                print(f"tui_shot: {wrong}"); code = 1
                shot("failed")
                break
    finally:
        end(term)
    sys.exit(code)


if __name__ == "__main__":
    main()
