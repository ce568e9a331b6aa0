#!/usr/bin/env bash
# programs.sh CASE PROGRAM: what rafter-measure and rafter-probe must do without a GPU. 77: skipped, with a word.
set -euo pipefail
what=$1 program=$2 name=$(basename "$2")
if [ ! -x "$program" ]; then
    echo "skipped: $name is not built (RAFTER_CUDA, nvcc)"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export CUDA_VISIBLE_DEVICES=  # hides the GPUs of a machine that has some

# run EXPECTED ARGUMENTS...: the exit code must be EXPECTED; output goes to $folder/out and $folder/err.
run() {
    local expected=$1 code=0
    shift
    "$program" "$@" >"$folder/out" 2>"$folder/err" || code=$?
    if [ "$code" -ne "$expected" ]; then
        echo "$name $*: exit code $code, expected $expected"
        cat "$folder/out" "$folder/err"
        exit 1
    fi
}

fail() {
    echo "$name: $*"
    cat "$folder/out" "$folder/err"
    exit 1
}

case $what in
no_gpu)
    run 4 --out "$folder/result"
    [ ! -s "$folder/out" ] || fail "something on stdout"
    [ "$(wc -l <"$folder/err")" -eq 1 ] || fail "more or less than one line"
    grep -Eq "^$name: .*(GPU|driver).*\.$" "$folder/err" || fail "not one plain sentence"
    [ ! -e "$folder/result" ] || fail "a file was written"
    ;;
list)
    run 0 --list
    [ "$(wc -l <"$folder/out")" -gt 50 ] || fail "too few cases"
    run 0 --list --suite full --only lstm --only softmax
    [ -s "$folder/out" ] || fail "no cases"
    ! grep -Evq "^(lstm|softmax) " "$folder/out" || fail "other operations"
    ;;
usage)
    run 0 --help
    run 2 --no-such-flag
    run 2
    ;;
esac
