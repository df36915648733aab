#!/usr/bin/env bash
# Runs the lines of a list (queue-1.txt or queue-2.txt) as elene commands, one after the other. Every command skips what
# the results have and goes on with what was interrupted, so a list can be started again at any time, from the top.
#
#   queue.sh LIST ELENE RESULTS RUNS
#
# LIST is read anew before each command: lines may be added while it runs. A line that begins with @COMMIT is run by the
# code of that commit, from a work tree beside the clone that ELENE is installed from: runs of a cell belong to one commit.
set -u
# Steps free and ask for the same megabytes again and again: glibc need not give them back to the system in between.
export MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=8589934592
list=$1 elene=$2 results=$3 runs=$4
clone=$(realpath "$(dirname "$elene")/../..")
# Torch's MKL takes AVX-512 only where it finds an Intel processor: on others that have it, a matrix product takes more
# than twice as long. It asks a function of its own, which can be answered for it.
if grep -q avx512f /proc/cpuinfo && ! grep -q GenuineIntel /proc/cpuinfo && command -v gcc > /dev/null; then
  mkdir -p "$runs"
  echo 'int mkl_serv_intel_cpu_true(void) { return 1; }' | gcc -shared -fPIC -x c -o "$runs/intel-$$.so" - \
    && export LD_PRELOAD="$(realpath "$runs/intel-$$.so")"
fi
line=0
while line=$((line + 1)) && command=$(sed -n "${line}p" "$list") && [ "$line" -le "$(wc -l < "$list")" ]; do
  case "$command" in "" | "#"*) continue ;; esac
  echo "$(date -u +%FT%TZ) $command"
  source=$clone
  if [ "${command#@}" != "$command" ]; then
    commit=${command%% *} command=${command#* }
    source=$clone-${commit#@}
    [ -d "$source" ] || git -C "$clone" worktree add -q "$source" "${commit#@}"
  fi
  folders=(--results "$results")
  case "$command" in brec*) ;; *) folders+=(--runs "$runs") ;; esac
  # shellcheck disable=SC2086  # a line is a list of words
  PYTHONPATH=$source/src nice -n 19 "$elene" $command --threads 1 "${folders[@]}" < /dev/null
done
