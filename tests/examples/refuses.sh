#!/bin/sh
# refuses.sh SENTENCE PROGRAM [ARGUMENT...]: the program must end with exit code 1 and say SENTENCE (a
# fixed string) on stderr, in at most three lines.
sentence=$1
shift
said=$("$@" 2>&1 >/dev/null)
code=$?
printf '%s\n' "$said"
[ $code -eq 1 ] || { echo "FAILED: exit code $code, not 1: $*"; exit 1; }
[ "$(printf '%s\n' "$said" | wc -l)" -le 3 ] || { echo "FAILED: more than three lines: $*"; exit 1; }
case $said in
*"$sentence"*) exit 0 ;;
esac
echo "FAILED: does not say '$sentence': $*"
exit 1
