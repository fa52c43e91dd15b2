#!/bin/sh
# Targets of the Makefile on a small machine: a fresh clone in an empty folder, an environment of its own, one core, 2 GB
# without swap, no home and no cache of anything.
#
#   tests/small_machine.sh [FOLDER [TARGET...]]     default: a new temporary folder, `demo` and `test`
#
# Needs Linux and the right to make a control group (root); what goes over 2 GB is killed. Prints for each target its
# exit code, seconds, and the most memory that all its processes had together, page cache included.
set -eu
source=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
folder=${1:-$(mktemp -d)}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- demo test
limit=2147483648
if [ -d /sys/fs/cgroup/memory ]; then # version 1
    group=/sys/fs/cgroup/memory/mrac-small-$$
    mkdir "$group"
    echo $limit > "$group/memory.limit_in_bytes"
    echo $limit > "$group/memory.memsw.limit_in_bytes" 2> /dev/null || true
    most=$group/memory.max_usage_in_bytes
else
    group=/sys/fs/cgroup/mrac-small-$$
    mkdir "$group"
    echo $limit > "$group/memory.max"
    echo 0 > "$group/memory.swap.max" 2> /dev/null || true
    most=$group/memory.peak
fi
trap 'rmdir "$group"' EXIT
[ -d "$folder/mrac" ] || git clone -q "$source" "$folder/mrac"
failed=0
for target in "$@"; do
    echo 0 2> /dev/null > "$most" || true # version 1 counts each target by itself
    start=$(date +%s)
    code=0
    (
        echo "$(exec sh -c 'echo $PPID')" > "$group/cgroup.procs"
        cd "$folder/mrac"
        exec env -u XDG_CACHE_HOME -u PYTHONPATH HOME=/nonexistent PIP_NO_CACHE_DIR=1 taskset -c 0 make "$target"
    ) || code=$?
    echo "small machine: make $target: exit code $code, $(($(date +%s) - start)) s, most $(($(cat "$most") / 1048576)) MiB"
    [ $code -eq 0 ] || failed=1
done
exit $failed
