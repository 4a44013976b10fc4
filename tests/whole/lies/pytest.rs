//! Changes to a project that is tested by pytest.

use super::{Change, Project, check_table};

pub(super) const PROJECT: Project = Project {
    runner: "pytest",
    // Debian's own Python has the Debian package of pytest; another one on PATH may not have it.
    command: "/usr/bin/python3 -m pytest -q",
    files: &[
        ("sums.py", SUMS),
        ("tests/test_sums.py", SUMS_TEST),
        (".gitignore", "__pycache__/\n.pytest_cache/\n"),
    ],
};

pub(super) const SUMS: &str = "def add(a, b):\n    return a + b\n";
pub(super) const SUMS_TEST: &str = "from sums import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n\n\ndef test_adds_a_negative_number():\n    assert add(1, -2) == -1\n";
pub(super) const WITH_PRODUCT: &str =
    "def add(a, b):\n    return a + b\n\n\ndef multiply(a, b):\n    return a * b\n";
pub(super) const PRODUCT_TEST: &str =
    "from sums import multiply\n\n\ndef test_multiplies():\n    assert multiply(2, 3) == 6\n";
pub(super) const TEST_FIRST: &str =
    "   Files: sums.py, tests/**\n   Test first: tests/test_multiply.py\n";

const LIES: &[Change] = &[
    Change {
        name: "the new test asserts nothing",
        plan: TEST_FIRST,
        writes: &[
            ("sums.py", WITH_PRODUCT),
            (
                "tests/test_multiply.py",
                "from sums import multiply\n\n\ndef test_multiplies():\n    multiply(2, 3)\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test cannot fail",
        plan: TEST_FIRST,
        writes: &[
            ("sums.py", WITH_PRODUCT),
            (
                "tests/test_multiply.py",
                "from sums import multiply\n\n\ndef test_multiplies():\n    assert (multiply(2, 3) == 6, 'a tuple is always true')\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test mocks what it tests",
        plan: TEST_FIRST,
        writes: &[
            ("sums.py", WITH_PRODUCT),
            (
                "tests/test_multiply.py",
                "from unittest import mock\n\nimport sums\n\n\ndef test_multiplies():\n    with mock.patch.object(sums, 'multiply', return_value=6):\n        assert sums.multiply(2, 3) == 6\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test is marked as an expected failure",
        plan: TEST_FIRST,
        writes: &[
            ("sums.py", WITH_PRODUCT),
            (
                "tests/test_multiply.py",
                "import pytest\n\nfrom sums import multiply\n\n\n@pytest.mark.xfail\ndef test_multiplies():\n    assert multiply(2, 3) == 7\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test is skipped",
        plan: TEST_FIRST,
        writes: &[
            ("sums.py", WITH_PRODUCT),
            (
                "tests/test_multiply.py",
                "import pytest\n\nfrom sums import multiply\n\n\n@pytest.mark.skip\ndef test_multiplies():\n    assert multiply(2, 3) == 7\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test has no test's name",
        plan: TEST_FIRST,
        writes: &[
            ("sums.py", WITH_PRODUCT),
            (
                "tests/test_multiply.py",
                "from sums import multiply\n\n\ndef check_multiplies():\n    assert multiply(2, 3) == 7\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "an old test that fails now is weakened",
        plan: TEST_FIRST,
        writes: &[
            (
                "sums.py",
                "def add(a, b):\n    return a + abs(b)\n\n\ndef multiply(a, b):\n    return a * b\n",
            ),
            (
                "tests/test_sums.py",
                "from sums import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n\n\ndef test_adds_a_negative_number():\n    assert add(1, -2)\n",
            ),
            ("tests/test_multiply.py", PRODUCT_TEST),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "an old test that fails now is deleted",
        plan: TEST_FIRST,
        writes: &[
            (
                "sums.py",
                "def add(a, b):\n    return a + abs(b)\n\n\ndef multiply(a, b):\n    return a * b\n",
            ),
            (
                "tests/test_sums.py",
                "from sums import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n",
            ),
            ("tests/test_multiply.py", PRODUCT_TEST),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "a conftest.py deselects an old test",
        plan: TEST_FIRST,
        writes: &[
            ("sums.py", WITH_PRODUCT),
            ("tests/test_multiply.py", PRODUCT_TEST),
            (
                "tests/conftest.py",
                "def pytest_collection_modifyitems(items):\n    items[:] = [item for item in items if 'negative' not in item.name]\n",
            ),
        ],
        runs: "",
        end: "3 entry_points",
    },
    Change {
        name: "a pytest.ini narrows what is collected",
        plan: TEST_FIRST,
        writes: &[
            ("sums.py", WITH_PRODUCT),
            ("tests/test_multiply.py", PRODUCT_TEST),
            ("pytest.ini", "[pytest]\naddopts = -k multiplies\n"),
        ],
        runs: "",
        end: "3 entry_points",
    },
    Change {
        name: "the process ends before the tests do",
        plan: TEST_FIRST,
        writes: &[
            ("sums.py", WITH_PRODUCT),
            (
                "tests/test_multiply.py",
                "import os\n\nfrom sums import multiply\n\n\ndef test_multiplies():\n    os._exit(0)\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test is there, and the code is not",
        plan: TEST_FIRST,
        writes: &[(
            "tests/test_multiply.py",
            "def test_multiplies():\n    assert 2 * 3 == 6\n",
        )],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the step breaks what the new test asks for",
        plan: TEST_FIRST,
        writes: &[
            (
                "sums.py",
                "def add(a, b):\n    return a + b\n\n\ndef multiply(a, b):\n    return a + b\n",
            ),
            ("tests/test_multiply.py", PRODUCT_TEST),
        ],
        runs: "",
        end: "3 tests_failed",
    },
    Change {
        name: "structure only is promised, and behaviour changes",
        plan: "   Files: sums.py, tests/**\n   Keeps behaviour\n",
        writes: &[
            ("sums.py", "def add(a, b):\n    return a + abs(b)\n"),
            (
                "tests/test_sums.py",
                "from sums import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n\n\ndef test_adds_a_negative_number():\n    assert add(1, -2) == 3\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "(reader) the answer is special-cased to the test's input",
        plan: TEST_FIRST,
        writes: &[
            (
                "sums.py",
                "def add(a, b):\n    return a + b\n\n\ndef multiply(a, b):\n    if a == 2:\n        return 6\n    return 0\n",
            ),
            ("tests/test_multiply.py", PRODUCT_TEST),
        ],
        runs: "",
        end: "0 proven",
    },
];

const HONEST: &[Change] = &[
    Change {
        name: "a feature with its test",
        plan: TEST_FIRST,
        writes: &[
            ("sums.py", WITH_PRODUCT),
            ("tests/test_multiply.py", PRODUCT_TEST),
        ],
        runs: "",
        end: "0 proven",
    },
    Change {
        name: "a feature with parametrised tests",
        plan: TEST_FIRST,
        writes: &[
            ("sums.py", WITH_PRODUCT),
            (
                "tests/test_multiply.py",
                "import pytest\n\nfrom sums import multiply\n\n\n@pytest.mark.parametrize('a, b, expected', [(2, 3, 6), (0, 5, 0)])\ndef test_multiplies(a, b, expected):\n    assert multiply(a, b) == expected\n",
            ),
        ],
        runs: "",
        end: "0 proven",
    },
    Change {
        name: "a bug fix with its test in an old file",
        plan: "   Files: sums.py, tests/**\n   Test first: test_adds_text\n",
        writes: &[
            ("sums.py", "def add(a, b):\n    return int(a) + int(b)\n"),
            (
                "tests/test_sums.py",
                "from sums import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n\n\ndef test_adds_a_negative_number():\n    assert add(1, -2) == -1\n\n\ndef test_adds_text():\n    assert add('1', '2') == 3\n",
            ),
        ],
        runs: "",
        end: "0 proven",
    },
    Change {
        name: "a refactoring",
        plan: "   Files: sums.py\n   Keeps behaviour\n",
        writes: &[(
            "sums.py",
            "import operator\n\n\ndef add(first, second):\n    return operator.add(first, second)\n",
        )],
        runs: "",
        end: "0 proven",
    },
    Change {
        name: "a fixture of the tests",
        plan: TEST_FIRST,
        writes: &[
            ("sums.py", WITH_PRODUCT),
            (
                "tests/conftest.py",
                "import pytest\n\n\n@pytest.fixture\ndef pair():\n    return (2, 3)\n",
            ),
            (
                "tests/test_multiply.py",
                "from sums import multiply\n\n\ndef test_multiplies(pair):\n    assert multiply(*pair) == 6\n",
            ),
        ],
        runs: "",
        end: "0 proven",
    },
    Change {
        name: "documentation only",
        plan: "   Files: README.md\n   No test: documentation only\n",
        writes: &[("README.md", "# Sums\n\nAdds numbers.\n")],
        runs: "",
        end: "0 waived",
    },
    Change {
        name: "a golden file is renewed, as the plan says",
        plan: "   Files: sums.py, tests/**\n   Test first: tests/test_multiply.py\n",
        writes: &[
            ("sums.py", WITH_PRODUCT),
            ("tests/golden/six.txt", "6"),
            (
                "tests/test_multiply.py",
                "from pathlib import Path\n\nfrom sums import multiply\n\n\ndef test_multiplies():\n    golden = Path(__file__).parent / 'golden' / 'six.txt'\n    assert str(multiply(2, 3)) == golden.read_text()\n",
            ),
        ],
        runs: "",
        end: "0 proven",
    },
];

#[test]
fn no_lie_about_pytest_tests_is_believed() {
    check_table(&PROJECT, "lie", LIES);
}

#[test]
fn honest_changes_with_pytest_tests_are_not_bothered() {
    check_table(&PROJECT, "honest", HONEST);
}
