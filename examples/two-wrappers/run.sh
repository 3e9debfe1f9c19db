#!/bin/sh
# Two servers of one model that wrap a prompt differently: what compare and gate say of that, and
# two ways to measure equal work. The servers are simulated. See README.md beside this file.
# Needs build/tally and build/tally-sim; leaves its run directories in $WORK. About a minute.
set -u
cd "$(dirname "$0")/../.." || exit 5

BUILD=${BUILD:-build}
WORK=${WORK:-$BUILD/two-wrappers}
REPLICATES=${REPLICATES:-3}
REQUESTS=${REQUESTS:-6} # in each window
TOKENS=${TOKENS:-12}    # of each answer
TRIES=${TRIES:-3}       # of a run, where the machine is too busy to measure well
TOKENIZER=examples/demo/tokenizer.json
TEMPLATE=examples/demo/tokenizer_config.json
CORPUS=$WORK/w1.jsonl
subject_pid=
comparator_pid=

# shellcheck disable=SC2317 # the trap below calls it
end_servers()
{
    for pid in $subject_pid $comparator_pid; do
        kill "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    subject_pid=
    comparator_pid=
}

trap end_servers EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

say()
{
    printf '\n%s\n' "$*"
}

die()
{
    printf 'two-wrappers: %s\n' "$*" >&2
    exit 5
}

# show COMMAND...: prints it as typed and runs it; the exit code is in $code afterwards.
show()
{
    printf '\n$'
    printf ' %s' "$@" | sed "s#$BUILD/tally#tally#g"
    printf '\n'
    "$@"
    code=$?
    printf '(exit code %d)\n' "$code"
}

# expect CODE WHAT: the step must have ended so.
expect()
{
    [ "$code" -eq "$1" ] || die "$2 was to end with exit code $1, not $code"
}

# port_of LOG: the port that a server printed, as soon as it did.
port_of()
{
    tries=0
    while [ $tries -lt 100 ]; do
        port=$(sed -n '1s/.*[^0-9]\([0-9][0-9]*\)[^0-9]*$/\1/p' "$1" 2>/dev/null)
        [ -z "$port" ] || break
        tries=$((tries + 1))
        sleep 0.1
    done
    [ -n "$port" ] || die "a simulated server did not start: $(cat "$1")"
    printf '%s' "$port"
}

# measure DIR OPTION...: one run of both lanes, made again where this machine was too busy to
# measure well: the receipt says so, and it is no fault of the example.
measure()
{
    out=$1
    shift
    try=1
    while :; do
        rm -rf "$out"
        show "$BUILD/tally" run --lane "subject=$subject" --lane "comparator=$comparator" \
            --host subject=lab-a --host comparator=lab-a --same-model demo \
            --tokenizer "$TOKENIZER" --corpus "$CORPUS" --bands 1 --replicates "$REPLICATES" \
            --requests "$REQUESTS" --max-tokens "$TOKENS" --cooldown 0 --out "$out" "$@"
        if [ "$code" -ne 4 ] || ! grep -q '"reason": "client_saturated"' "$out/receipt.json"; then
            break
        fi
        say "This machine was too busy to measure well, and the receipt says so."
        [ "$try" -lt "$TRIES" ] || exit 75 # try again later
        try=$((try + 1))
    done
    expect 0 "the run"
}

for file in "$BUILD/tally" "$BUILD/tally-sim" "$TOKENIZER" "$TEMPLATE"; do
    [ -e "$file" ] || die "$file is missing: ./run build makes it"
done
rm -rf "$WORK"
mkdir -p "$WORK" || exit 5

"$BUILD/tally-sim" --profile apr --tokenizer "$TOKENIZER" --model demo --port 0 \
    --prefill-rate 4000 --decode-base 50ms --decode-per-seq 1ms >"$WORK/subject.log" 2>&1 &
subject_pid=$!
"$BUILD/tally-sim" --profile llama-server --tokenizer "$TOKENIZER" --model demo --port 0 \
    --prefill-rate 4000 --decode-base 60ms --decode-per-seq 1ms >"$WORK/comparator.log" 2>&1 &
comparator_pid=$!
subject=http://127.0.0.1:$(port_of "$WORK/subject.log") || exit 5
comparator=http://127.0.0.1:$(port_of "$WORK/comparator.log") || exit 5

say "1. The workload: prompts of exactly 512 tokens of their own text."
show "$BUILD/tally" corpus make --tokenizer "$TOKENIZER" --tokens 512 --tolerance 8 --count 16 \
    --seed 7 --out "$CORPUS"
expect 0 "corpus make"

say "2. Over chat each server wraps the prompt as it likes. The run is sound, and warns."
measure "$WORK/chat"

say "3. There is no ratio of it: compare and gate refuse, with the delta and what to do."
show "$BUILD/tally" compare "$WORK/chat"
expect 4 "compare"
show "$BUILD/tally" gate examples/two-wrappers/matrix.yaml "$WORK/chat"
expect 4 "the gate"

say "4. First remedy: the same system message for both."
measure "$WORK/system" --system "You are a helpful assistant."
show "$BUILD/tally" compare "$WORK/system"
[ "$code" -ne 4 ] || die "with one system message the work was to be equal"

say "5. Second remedy: one template, rendered here, the same token ids to both."
measure "$WORK/raw" --wire completions --template "$TEMPLATE"
show "$BUILD/tally" compare "$WORK/raw"
[ "$code" -ne 4 ] || die "the same tokens were to be equal work"
show "$BUILD/tally" gate examples/two-wrappers/matrix.yaml "$WORK/raw"
verdict=$code
[ "$code" -ne 4 ] || die "the gate was to judge equal work"

say "6. Every number again, every prompt made, rendered and counted again."
show "$BUILD/tally" verify "$WORK/raw" --corpus "$CORPUS" --tokenizer "$TOKENIZER" \
    --template "$TEMPLATE"
expect 0 "verify"
exit "$verdict"
