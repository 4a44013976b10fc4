//! Plays one seed: its run, its faults, the launches until the run is over, and the problems found.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::chain;
use crate::dice::Dice;
use crate::fault::{Fault, KINDS, Kind};
use crate::oracle::{self, Asked, End};
use crate::player::Launch;
use crate::scenarios::{SCENARIOS, Scenario, find};
use crate::world::{Ended, Told, World};

/// How many launches a seed may need.
const MOST_LAUNCHES: usize = 12;

/// What a seed decides.
#[derive(Debug, Clone)]
pub struct Seed {
    pub number: u64,
    pub scenario: &'static str,
    /// One a launch; from the first launch without one on, there are none.
    pub faults: Vec<Fault>,
}

/// What came of a seed.
pub struct Outcome {
    pub seed: Seed,
    pub launches: Vec<Told>,
    pub wrong: Vec<String>,
}

/// A scenario without faults.
struct Undisturbed {
    end: End,
    asked: Asked,
    edited: Asked,
    /// As `number|place|what`.
    boundaries: Vec<String>,
}

impl Undisturbed {
    fn n_boundaries(&self) -> u64 {
        self.boundaries.len() as u64
    }
}

fn undisturbed(scenario: &'static Scenario) -> Arc<Undisturbed> {
    static KNOWN: Mutex<BTreeMap<&'static str, Arc<Undisturbed>>> = Mutex::new(BTreeMap::new());
    // Locked during the whole computation, so that two threads do not both compute it.
    let mut known = KNOWN.lock().expect("no panic while it is held");
    if let Some(found) = known.get(scenario.name) {
        return Arc::clone(found);
    }
    let world = World::new(scenario);
    let told = world.launch(&launch(&world, scenario, None));
    if told.ended != Ended::Over {
        let lines: Vec<String> = told.lines.iter().map(|(w, t)| format!("{w} {t}")).collect();
        eprintln!("{}", lines.join("\n"));
        std::process::abort();
    }
    let found = Arc::new(Undisturbed {
        end: oracle::end_of(&world),
        asked: oracle::asked(&world),
        edited: oracle::edited(&world),
        boundaries: told.all("at").map(str::to_owned).collect(),
    });
    known.insert(scenario.name, Arc::clone(&found));
    found
}

fn launch(world: &World, scenario: &Scenario, fault: Option<Fault>) -> Launch {
    Launch {
        folder: world.folder.clone(),
        scenario: scenario.name.to_owned(),
        fault,
    }
}

/// From this number on seeds sweep: a million for each scenario, one kill at each boundary.
const SWEEP: u64 = 1_000_000_000;
const A_SWEEP: u64 = 1_000_000;
/// From this number on seeds kill the program where the chain of receipts grows; each verifies the chain.
pub const CHAIN: u64 = 2_000_000_000;

/// Returns the boundaries before and after each change of a receipt, a commit and a note, in the first scenario. A
/// receipt's event is between its last boundary and the next one.
pub fn chain_boundaries() -> Vec<u64> {
    let undisturbed = undisturbed(&SCENARIOS[0]);
    let is_of_chain = |at: &String| {
        let mut parts = at.split('|').skip(1);
        let (place, what) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let number = what.strip_suffix(".json").unwrap_or("");
        let is_receipt = number.len() == 4 && number.parse::<u32>().is_ok();
        is_receipt || (place.ends_with(" command") && ["commit", "fast-import"].contains(&what))
    };
    let all = undisturbed.boundaries.iter().map(is_of_chain);
    let of_chain: Vec<bool> = all.collect();
    let is_wanted = |at: &usize| of_chain[*at] || (*at > 0 && of_chain[*at - 1]);
    let wanted = (0..of_chain.len()).filter(is_wanted);
    wanted.map(|at| at as u64 + 1).collect()
}

impl Seed {
    pub fn new(number: u64) -> Self {
        match (number.checked_sub(CHAIN), number.checked_sub(SWEEP)) {
            (Some(place), _) => Self::of_chain(number, place),
            (None, Some(place)) => Self::sweeping(number, place),
            (None, None) => Self::thrown(number),
        }
    }

    fn of_chain(number: u64, place: u64) -> Self {
        let boundaries = chain_boundaries();
        let place = usize::try_from(place).expect("a place") % boundaries.len();
        let fault = Fault {
            kind: Kind::Kill,
            at: boundaries[place],
            salt: 0,
        };
        Self {
            number,
            scenario: SCENARIOS[0].name,
            faults: vec![fault],
        }
    }

    fn sweeping(number: u64, place: u64) -> Self {
        let n = usize::try_from(place / A_SWEEP).expect("a place") % SCENARIOS.len();
        let scenario = SCENARIOS[n].name;
        let fault = Fault {
            kind: Kind::Kill,
            at: 1 + place % A_SWEEP % undisturbed(find(scenario)).n_boundaries(),
            salt: 0,
        };
        Self {
            number,
            scenario,
            faults: vec![fault],
        }
    }

    fn thrown(number: u64) -> Self {
        let mut dice = Dice::new(number);
        let scenario = dice.of(&SCENARIOS).name;
        let n_boundaries = undisturbed(find(scenario)).n_boundaries();
        let n_faults = 1 + u64::from(dice.below(3) == 0) + u64::from(dice.below(6) == 0);
        let faults = (0..n_faults)
            .map(|n| Fault {
                kind: match dice.below(2) {
                    0 => Kind::Kill,
                    _ => *dice.of(&KINDS),
                },
                // The rest of a resumed run is shorter.
                at: 1 + dice.below(n_boundaries / (n + 1)),
                salt: dice.below(1 << 20),
            })
            .collect();
        Self {
            number,
            scenario,
            faults,
        }
    }

    /// Plays it to the end.
    pub fn play(self) -> Outcome {
        let scenario = find(self.scenario);
        let expected = undisturbed(scenario);
        let world = World::new(scenario);
        let mut launches: Vec<Told> = Vec::new();
        let mut wrong = Vec::new();
        while launches.last().is_none_or(|last| last.ended != Ended::Over) {
            if launches.len() == MOST_LAUNCHES {
                wrong.push(format!("not over after {MOST_LAUNCHES} launches"));
                break;
            }
            let fault = self.faults.get(launches.len()).copied();
            let told = world.launch(&launch(&world, scenario, fault));
            wrong.extend(told.all("hangs").map(|text| format!("hangs {text}")));
            wrong.extend(told.all("stuck").map(|text| format!("stuck: {text}")));
            wrong.extend(told.all("stderr").map(|text| format!("it said: {text}")));
            let is_broken = !wrong.is_empty() || told.ended == Ended::Hung;
            launches.push(told);
            if is_broken {
                wrong.push("it did not come to its end".to_owned());
                break;
            }
        }
        let harmed = launches.iter().flat_map(|told| told.all("harm"));
        let n_faults = harmed.count();
        let typed: Vec<String> = launches
            .iter()
            .flat_map(|told| told.all("typed").map(str::to_owned))
            .collect();
        wrong.extend(oracle::violations(&world, &typed));
        wrong.extend(differences(&expected.end, &oracle::end_of(&world)));
        if self.number >= CHAIN {
            wrong.extend(chain::violations(&world));
        }
        wrong.extend(asked_too_often(
            &expected.asked,
            &oracle::asked(&world),
            n_faults,
        ));
        wrong.extend(edited_by_nobody(&expected.edited, &oracle::edited(&world)));
        Outcome {
            seed: self,
            launches,
            wrong,
        }
    }
}

fn differences(expected: &End, found: &End) -> Vec<String> {
    let pairs = [
        ("phase", &expected.phase, &found.phase),
        ("tree", &expected.tree, &found.tree),
        ("git status", &expected.status, &found.status),
        ("plan.md", &expected.plan, &found.plan),
        (
            "commits",
            &expected.commits.join("\n"),
            &found.commits.join("\n"),
        ),
        (
            "the remarks in comments.md",
            &expected.remarks.join("\n"),
            &found.remarks.join("\n"),
        ),
        ("log.md", &expected.log.join("\n"), &found.log.join("\n")),
    ];
    let untold = expected.told.difference(&found.told);
    let untold = untold.map(|said| format!("log.md does not tell: {said}"));
    pairs
        .into_iter()
        .filter(|(_, expected, found)| expected != found)
        .map(|(what, expected, found)| {
            format!("{what} differs\n--- without faults\n{expected}\n--- found\n{found}")
        })
        .chain(untold)
        .collect()
}

/// Questions that a fault itself can cause.
const WITH_REASON: [&str; 6] = [
    "step_recovery",
    "adapter_failed",
    "no_document",
    "cannot_execute",
    "commit_failed",
    "tests_failed",
];

fn asked_too_often(expected: &Asked, found: &Asked, n_faults: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    for (kind, n) in found {
        let most = expected.get(kind).copied().unwrap_or(0) + n_faults;
        if *n > most && !WITH_REASON.contains(&kind.as_str()) {
            wrong.push(format!("{kind} was answered {n} times, {most} are enough"));
        }
    }
    wrong
}

/// What the log says that the user edited, where the user edits nothing.
fn edited_by_nobody(expected: &Asked, found: &Asked) -> Vec<String> {
    let by_nobody = found.keys().filter(|kind| !expected.contains_key(*kind));
    by_nobody
        .map(|kind| format!("the user edited nothing, and the log has {kind}"))
        .collect()
}
