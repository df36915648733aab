#!/usr/bin/env bash
# Runs the lines of a list (queue-1.txt or queue-2.txt) as elene commands, one after the other. Every command skips what
# the results have and goes on with what was interrupted, so a list can be started again at any time, from the top.
#
#   queue.sh LIST ELENE RESULTS RUNS
#
# LIST is read anew before each command: lines may be added while it runs.
set -u
# Steps free and ask for the same megabytes again and again: glibc need not give them back to the system in between.
export MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=8589934592
list=$1 elene=$2 results=$3 runs=$4
line=0
while line=$((line + 1)) && command=$(sed -n "${line}p" "$list") && [ "$line" -le "$(wc -l < "$list")" ]; do
  case "$command" in "" | "#"*) continue ;; esac
  echo "$(date -u +%FT%TZ) $command"
  folders=(--results "$results")
  case "$command" in brec*) ;; *) folders+=(--runs "$runs") ;; esac
  # shellcheck disable=SC2086  # a line is a list of words
  nice -n 19 "$elene" $command --threads 1 "${folders[@]}" < /dev/null
done
