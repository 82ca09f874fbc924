#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# git: init, add, commit, branches, merge, clone over file://, gc, stash, worktree.
. "$(dirname "$0")/lib.sh"
need git
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.org
export GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'
# The index holds inode numbers and times of the run; hooks are samples copied from the system.
IGNORE='\.git/(.*/)?(index|hooks)|\.(idx|rev)$|FETCH_HEAD|ORIG_HEAD'

# The agent policy asks before a change below the project's own .git, so its questions are answered.
MODES="allow yes" both history <<'S'
set -e
git init -q -b main .; mkdir -p src; for i in $(seq 1 60); do echo "file $i" > src/f$i.txt; done
git add .; git commit -q -m one; git checkout -q -b side; echo more >> src/f1.txt; git mv src/f2.txt src/moved.txt; git rm -q src/f3.txt
git commit -qam two; git checkout -q main; echo other > new; git add new; git commit -qm three; git merge -q -m merged side
echo dirty >> new; git stash -q; git stash pop -q; git diff --stat; git status --short; git log --oneline --graph; git tag -a v1 -m v1
git rebase -q --root 2>/dev/null || true; git fsck --strict; git rev-parse HEAD; git ls-files | wc -l
S

MODES=allow both clone-gc <<'S'
set -e
git init -q -b main origin; cd origin; for i in $(seq 1 30); do echo "$i" > f; git add f; git commit -qm "c$i"; done; cd ..
git clone -q "file://$PWD/origin" copy; git clone -q --bare origin bare.git; cd copy; git log --oneline | wc -l; git gc -q --prune=now; git fsck
git count-objects -v | grep -E '^(count|in-pack|packs)'; git push -q ../bare.git main:pushed; git -C ../bare.git rev-parse pushed
git worktree add -q ../tree -b w; ls ../tree; git fetch -q ../bare.git pushed; git archive HEAD | tar t
S

MODES=allow both hooks <<'S'
set -e
git init -q -b main .; cd .git/hooks
printf '#!/bin/sh\necho "pre-commit $(git diff --cached --name-only | tr "\\n" " ")"; ! grep -q forbidden f\n' > pre-commit
printf '#!/usr/bin/env -S sh -e\nsed -i "1s/^/[checked] /" "$1"\n' > commit-msg
printf '#!/bin/sh\nwhile read old new ref; do echo "received $ref"; done\n' > post-receive
chmod +x pre-commit commit-msg post-receive; cd ../..
echo 1 > f; git add f; git commit -qm one; echo forbidden > f; git add f; git commit -qm two || echo "refused $?"; git log --format=%s
git clone -q . copy; cd copy; echo 2 > g; git add g; git commit -qm three; git push -q origin main:other 2>&1
S

# What an agent does without asking: it reads a repository.
setup_repo() { git init -q -b main .; mkdir d; for i in 1 2 3; do echo $i > d/f$i; done; git add .; git commit -qm first; echo change >> d/f1; touch d/untracked; }
SETUP=setup_repo both reading <<'S'
git --no-optional-locks status --short; git log --format='%H %s'; git --no-optional-locks diff | cat; git show --stat | tail -n 2; git grep -n 2; git ls-files -s; git blame -s d/f2; git cat-file -p HEAD^{tree}
S
finish
