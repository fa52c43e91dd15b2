#!/bin/sh
# Targets of the Makefile on a small machine: a fresh clone in an empty folder, an environment of its own, one core, 2 GB
# without swap, no home and no cache of anything.
#
#   tests/small_machine.sh [FOLDER [TARGET...]]     default: a new temporary folder, `demo` and `test`
#   MEGABYTES=1024 tests/small_machine.sh           another limit
#
# Needs Linux and the right to make a control group (root); what goes over the limit is killed. Prints for each target its
# exit code, seconds, the most memory that all its processes had together, looked at every second, and how many the
# system has killed so far for want of memory.
set -eu
source=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
folder=${1:-$(mktemp -d)}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- demo test
limit=$((${MEGABYTES:-2048} * 1048576))
if [ -d /sys/fs/cgroup/memory ]; then # version 1
    group=/sys/fs/cgroup/memory/mrac-small-$$
    mkdir "$group"
    echo $limit > "$group/memory.limit_in_bytes"
    echo $limit > "$group/memory.memsw.limit_in_bytes" 2> /dev/null || true
    kills=$group/memory.oom_control
else
    group=/sys/fs/cgroup/mrac-small-$$
    mkdir "$group"
    echo $limit > "$group/memory.max"
    echo 0 > "$group/memory.swap.max" 2> /dev/null || true
    kills=$group/memory.events
fi
most=$(mktemp)
trap 'rm -f "$most"; rmdir "$group"' EXIT
# The group's own maximum counts the page cache, which fills whatever there is.
watch() {
    while sleep 1; do
        awk '$1 ~ /^(total_rss|total_shmem|anon|shmem)$/ { sum += $2 } END { print int(sum / 1048576) }' "$group/memory.stat"
    done > "$most"
}
[ -d "$folder/mrac" ] || git clone -q "$source" "$folder/mrac"
failed=0
for target in "$@"; do
    watch &
    watcher=$!
    start=$(date +%s)
    code=0
    (
        echo "$(exec sh -c 'echo $PPID')" > "$group/cgroup.procs"
        cd "$folder/mrac"
        exec env -u XDG_CACHE_HOME -u PYTHONPATH HOME=/nonexistent PIP_NO_CACHE_DIR=1 taskset -c 0 make "$target"
    ) || code=$?
    kill $watcher
    echo "small machine: make $target: exit code $code, $(($(date +%s) - start)) s," \
        "most $(sort -n "$most" | tail -n 1) MiB, $(awk '$1 == "oom_kill" { print $2 }' "$kills") killed"
    [ $code -eq 0 ] || failed=1
done
exit $failed
