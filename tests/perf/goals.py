#!/usr/bin/env python3
"""Prints the table of goals: what was measured, its limit, whether it is met; and why some are not measured here.

  tests/perf/goals.py RESULT GOALS [NAME,NAME]

RESULT is what tests/tools/tui_bench.py wrote, GOALS is tests/tools/tui_goals.json, to which goals.json beside this
file adds what is measured at a human rate, with an agent at work and with a plan that is changed from outside; NAMEs are the targets that were measured. Exit status: 0 all that were
measured are met, 1 one is not, or could not be measured.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "tools"))
import tui_bench  # noqa: E402

# Number, what it is about, and the beginnings of its metrics; or why it is not measured here.
GOALS = [
    (1, "first text and ready, empty session", ["ours start.first_text_ms", "ours start.ready_ms"]),
    (2, "usable, type-ahead kept", ["ours usable."]),
    (3, "ready when the terminal answers nothing", ["ours mute."]),
    (4, "CPU until quiet", ["ours start.cpu_to_quiet_ms"]),
    (5, "memory at the start", ["ours mem."]),
    (6, "idle, no agent running", ["ours idle."]),
    (7, "idle for 5 s, an agent running but silent", ["ours-silent idle."]),
    (8, "key to screen", ["ours keys.screen_ms"]),
    (9, "bytes and CPU of a key", ["ours keys.bytes_per_key", "ours keys.cpu_ms_per_key", "ours keys.missed"]),
    (10, "400 keys in one write", ["ours flood."]),
    (11, "keys with a run of 100,000 events", ["ours-100k keys."]),
    (12, "memory with it, and with ten times as many", ["ours-100k mem.", "ours-1m mem."]),
    (13, "ready with it, and with ten times as many", ["ours-100k start.", "ours-1m start."]),
    (14, "a burst of text, display on", ["ours-stream stream.wall_s", "ours-stream stream.cpu_s"]),
    (15, "100 MB of item events", "cargo bench (benches/measured): reading and keeping, beside the plainest way"),
    (16, "20 s at 100 pieces a second", ["ours-paced stream.cpu_s", "ours-paced stream.bytes"]),
    (17, "typing while 16 runs, and while 14 runs", ["ours-paced stream.typing_ms", "ours-stream stream.typing_ms",
        "ours-stream stream.max_gap_ms"]),
    (18, "saving the state", "cargo bench (benches/measured): fsync and rename beside the raw calls"),
    # 20 ms of it are waited for an editor's second move.
    (19, "plan.md changed, then on the screen; nothing polls, see 6", ["ours-append files.", "ours-rename files."]),
    (20, "an agent's exit, then shown", "cargo bench (benches/measured): a child's first line, and its end"),
    (21, "resizes", ["ours resize."]),
    (22, "quitting, and signals", ["ours exit.", "ours signals."]),
    # 100 ms of it are the agent's, which is a Python program here.
    (22, "the same while an agent works", ["ours-agents exit.", "ours-agents signals."]),
    (23, "the window is closed; the same while an agent works", ["ours hangup.", "ours-agents hangup."]),
    (24, "a watched agent, nothing happening", "agents are children, told by their pipes: nothing polls, see 6"),
]


def named(goal):
    return f"{goal['target']} {goal['metric']}"


def limit(goal):
    if "vs" not in goal:
        return f"{goal['op']} {goal['value']}"
    of = goal["vs"] if "vs_metric" not in goal else f"{goal['vs']} {goal['vs_metric']}"
    plus = f" + {goal['plus']}" if goal.get("plus") else ""
    return f"{goal['op']} {goal.get('factor', 1)} × {of}{plus}"


def bound(goal, by_name):
    """The limit as a number, where it is one of another figure."""
    if "vs" not in goal:
        return ""
    base = tui_bench.dig(by_name.get(goal["vs"], {}), goal.get("vs_metric", goal["metric"]))
    return "" if base is None else f" = {tui_bench.fmt(base * goal.get('factor', 1) + goal.get('plus', 0))}"


def rows(results, goals, names):
    by_name = {result["name"]: result for result in results}
    left = list(goals)
    for n, about, how in GOALS:
        if isinstance(how, str):
            yield n, about, "", "not measured here", how, None
            continue
        mine = [goal for goal in left if any(named(goal).startswith(of) for of in how)]
        left = [goal for goal in left if goal not in mine]
        for goal in mine:
            if {goal["target"], goal.get("vs", goal["target"])} - names:
                yield n, about, named(goal), "not measured", "left out by --only", None
                continue
            _, is_met = tui_bench.check(results, [goal])
            value = tui_bench.fmt(tui_bench.dig(by_name.get(goal["target"], {}), goal["metric"]))
            yield n, about, named(goal), value, limit(goal) + bound(goal, by_name), is_met
    for goal in left:
        yield "?", "a goal without a number", named(goal), "", "add it to tests/perf/goals.py", False


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    results = json.loads(pathlib.Path(sys.argv[1]).read_text())["results"]
    goals = [goal for file in (sys.argv[2], pathlib.Path(__file__).with_name("goals.json"))
             for goal in json.loads(pathlib.Path(file).read_text())]
    named = [name for name in sys.argv[3].split(",") if name] if len(sys.argv) == 4 else []
    names = set(named or [result["name"] for result in results])
    words = {True: "ok", False: "MISSED", None: "–"}
    print("| goal | about | figure | measured | limit | |\n|---|---|---|---|---|---|")
    table = list(rows(results, goals, names))
    for n, about, metric, value, of, is_met in table:
        print(f"| {n} | {about} | {metric} | {value} | {of} | {words[is_met]} |")
    judged = [row[-1] for row in table if row[-1] is not None]
    n_goals = len({n for n, *_ in GOALS})
    print(f"\n{sum(judged)} of {len(judged)} figures within their limits, {n_goals} goals listed")
    sys.exit(0 if all(judged) else 1)


if __name__ == "__main__":
    main()
