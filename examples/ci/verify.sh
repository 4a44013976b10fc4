#!/bin/sh
# Verifies the commits of a branch by the receipts in git notes. Needs git, agent-collab and whatever the tests need.
# Usage: verify.sh [BASE]; BASE is origin/main unless you name another one.
set -eu

git fetch origin refs/notes/agent-collab:refs/notes/agent-collab
agent-collab verify "${1:-origin/main}..HEAD" --strict --rerun
