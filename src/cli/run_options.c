/* The option table of `tally run`. */
#include "cli/run_args.h"
#include "cli/tokens.h"
#include "load/band.h"

#define A(member) OFFSET(struct run_args, member)

const struct option run_options[] = {
    {"Lanes", OPTION_HEADING, 0, .help = ""},
    {"lane", OPTION_REPEATED, A(lanes), "ROLE=URL", .letter = 'l',
     .help = "a server, by its base URL; ROLE is subject or comparator; once or twice"},
    {"model", OPTION_REPEATED, A(models), "[ROLE=]NAME", .letter = 'm',
     .help = "model to ask for (default: the only one that the server lists)"},
    {"host", OPTION_REPEATED, A(hosts), "ROLE=LABEL",
     .help = "label of the machine that the lane runs on"},
    {"build", OPTION_REPEATED, A(builds), "ROLE=TEXT", .help = "the server's build, as declared"},
    {"binary", OPTION_REPEATED, A(binaries), "ROLE=FILE",
     .help = "the local server's binary: its digest goes into the receipt"},
    {"weights", OPTION_REPEATED, A(weights), "[ROLE=]FILE",
     .help = "the model's file as the server loads it (a GGUF, safetensors): its digest tells "
             "whether both lanes serve the same weights"},
    {"bearer-file", OPTION_REPEATED, A(bearer_files), "[ROLE=]FILE",
     .help = "file that holds the server's key (or in the environment: TALLY_BEARER, "
             "TALLY_BEARER_SUBJECT, TALLY_BEARER_COMPARATOR)"},
    {"ca-file", OPTION_STRING, A(ca_file), "FILE", .help = "certificates of authorities to trust"},
    {"insecure", OPTION_FLAG, A(insecure), .help = "do not check the server's certificate"},
    {"before-lane", OPTION_REPEATED, A(before_lane), "[ROLE=]COMMAND",
     .help = "shell command that starts a lane's server before it is talked to, for lanes that "
             "share a GPU; TALLY_LANE and TALLY_LANE_URL tell it which one. What it leaves running "
             "should write its output elsewhere"},
    {"after-lane", OPTION_REPEATED, A(after_lane), "[ROLE=]COMMAND",
     .help = "shell command that stops it again before the other lane's turn, and at the end"},
    {"lane-timeout", OPTION_DURATION, A(lane_timeout_ns), "TIME", "10min",
     .help = "longest time of such a command, and then for the server until it answers"},

    {"Counting tokens", OPTION_HEADING, 0, .help = ""},
    {"tokenizer", OPTION_STRING, A(tokenizer), "FILE", .letter = 't',
     .help = "the model's tokenizer.json or GGUF: prompts and output are counted with it, the same "
             "for every lane"},
    CLI_REFERENCE(struct run_args, reference),
    {"tokenizer-sha256", OPTION_STRING, A(tokenizer_sha256), "HEX",
     .help = "assert that the tokenizer's file has this digest (exit 4 if not)"},
    {"count", OPTION_STRING, A(count), "HOW", .choices = "client-tokenizer|server-usage",
     .help = "client-tokenizer (what --tokenizer means), or server-usage: rely on what each server "
             "says"},
    {"special-text", OPTION_STRING, A(special_text), "HOW", "parsed", .choices = "parsed|plain",
     .help = "whether text that spells a special token is that token: parsed or plain"},

    {"What is sent", OPTION_HEADING, 0, .help = ""},
    {"corpus", OPTION_STRING, A(corpus), "FILE", .letter = 'c',
     .help = "prompts, as 'tally corpus make' writes them"},
    {"conversations", OPTION_STRING, A(conversations), "FILE",
     .help = "instead: conversations, messages in JSONL or ShareGPT's form; each worker plays one "
             "turn by turn (answers are as long as the recorded ones, unless --max-tokens says "
             "otherwise)"},
    {"answers", OPTION_STRING, A(answers), "WHICH", "live", .choices = "live|recorded",
     .help = "what becomes part of the next turn's prompt: the server's answer or the file's"},
    {"think", OPTION_DURATION, A(think_ns), "TIME", "0",
     .help = "between an answer and the next turn"},
    {"shared-prefix", OPTION_I64, A(shared_prefix), "N", .min = 1, .max = RUN_PREFIX_MAX,
     .help = "a system message of exactly N tokens, the same in every request"},
    {"prompts", OPTION_STRING, A(prompts), "HOW", "unique", .choices = "unique|fixed",
     .help = "unique: every request has a prompt of its own, of the same length; fixed: the corpus "
             "as it is"},
    {"cache", OPTION_STRING, A(cache), "HOW", "auto", .choices = "auto|cold|any",
     .help = "cold: ask the server not to reuse a cached prompt (cache_prompt, cache_salt) and "
             "check by the cached tokens it reports; any: do not ask; auto: cold with unique "
             "prompts that share nothing"},
    {"system", OPTION_STRING, A(system), "TEXT", .help = "a system message (default: none)"},
    {"max-tokens", OPTION_I64, A(max_tokens), "N", "128", .min = 1, .max = 1000000,
     .help = "tokens to generate (a corpus may say so for every prompt; what is given here wins)"},
    {"temperature", OPTION_DOUBLE, A(temperature), "X", "0", .help = "0 is greedy"},
    {"seed", OPTION_I64, A(seed), "N", "2026", .min = 0, .max = INT64_MAX,
     .help = "seed asked of the server"},
    {"no-ignore-eos", OPTION_FLAG, A(no_ignore_eos),
     .help = "let the model stop before --max-tokens"},
    {"no-token-progress", OPTION_FLAG, A(no_token_progress),
     .help = "do not ask for the count of tokens in every chunk; tokens are then timed by "
             "tokenizing the text again"},
    {"no-stream", OPTION_FLAG, A(no_stream),
     .help = "ask for whole answers (no time to first token then)"},
    {"no-probe", OPTION_FLAG, A(no_probe),
     .help = "do not find out what the lanes put around a prompt (the receipt then says so)"},
    {"template", OPTION_REPEATED, A(templates), "FILE",
     .help = "a chat template that lanes may be using; a GGUF's and a server's own are tried by "
             "themselves; with --wire completions: the one that is rendered"},
    {"wire", OPTION_STRING, A(wire), "HOW", "chat", .choices = "chat|completions",
     .help = "chat: the server wraps the prompt; completions: one template is rendered on this "
             "side, and every lane is sent the same token ids (or the text, where one of them "
             "takes no ids)"},
    {"as", OPTION_STRING, A(as), "SERVER", "transformers", .choices = CHAT_PROFILE_NAMES,
     .help = "with --wire completions: the server whose handling the rendering follows; none: the "
             "text as it is"},
    {"kwargs", OPTION_STRING, A(kwargs), "JSON",
     .help = "with --wire completions: further variables of the template: "
             "'{\"enable_thinking\": false}'"},

    {"Load", OPTION_HEADING, 0, .help = ""},
    {"protocol", OPTION_STRING, A(protocol), "NAME", "custom", .choices = "custom|w1|w2",
     .help = "w1: 512 +- 8 prompt tokens, 128 generated, greedy, 5 replicates, quiesce 5s; w2: the "
             "same with prompts of 128 to 8192 and answers of 16 to 512 tokens ('tally corpus make "
             "--mixture w2'); what is given beside it wins"},
    {"bands", OPTION_LIST, A(bands), "LIST", "1,4,8,16", .min = 1, .max = BAND_WORKERS_MAX,
     .help = "levels of concurrency", .letter = 'b'},
    {"ramp", OPTION_LIST, A(ramp), "LIST", .min = 1, .max = BAND_WORKERS_MAX,
     .help =
         "closed loop whose concurrency rises through these levels within one window, as 1,2,4,8; "
         "the receipt has each step's metrics"},
    {"ramp-step", OPTION_DURATION, A(ramp_step_ns), "TIME", "10s",
     .help = "with --ramp: how long one level lasts, in whole seconds"},
    {"rate", OPTION_MILLI, A(rates), "LIST", .min = 1, .max = ARRIVALS_MRPS_MAX,
     .help =
         "open loop: requests a second, sent when they are due however many are in flight; each "
         "rate is a band"},
    {"arrivals", OPTION_STRING, A(arrivals), "HOW", "poisson", .choices = "constant|poisson|gamma",
     .help = "with --rate: constant gaps, exponential ones, or gamma ones of --burstiness"},
    {"burstiness", OPTION_DOUBLE, A(burstiness), "X", "1",
     .help = "shape of gamma gaps: 1 is poisson, below 1 comes in bursts, above 1 is more even"},
    {"arrival-seed", OPTION_I64, A(arrival_seed), "N", "2026", .min = 0, .max = INT64_MAX / 4,
     .help = "seed of the drawn arrivals, which are the same for every lane"},
    {"max-in-flight", OPTION_I64, A(max_in_flight), "N", .min = 1, .max = BAND_WORKERS_MAX,
     .help = "with --rate: past so many in flight arrivals wait (default: no cap)"},
    {"sweep-rate", OPTION_STRING, A(sweep), "LOW..HIGH[/STEP]",
     .help =
         "find the highest rate at which --slo is met, by probing some of the rates from LOW to "
         "HIGH (STEP apart; else 64 of them, evenly spaced by ratio); one replicate unless more "
         "are asked for"},
    {"slo-share", OPTION_DOUBLE, A(slo_share), "X", "0.99",
     .help = "with --sweep-rate: share of the requests that must meet the objective"},
    {"trace", OPTION_STRING, A(trace), "FILE",
     .help = "replay a recorded trace: when requests came, and how long prompts and answers were; "
             "instead of --corpus"},
    {"trace-format", OPTION_STRING, A(trace_format), "NAME", "auto",
     .choices = "auto|jsonl|mooncake|azure",
     .help = "jsonl (time, prompt_tokens, output_tokens), mooncake, azure (CSV); auto tells by the "
             "first line"},
    {"trace-speed", OPTION_MILLI, A(speeds), "LIST", .min = 1, .max = ARRIVALS_MRPS_MAX,
     .help = "how many times as fast as recorded; each speed is a band (default 1)"},
    {"trace-limit", OPTION_I64, A(trace_limit), "N", .min = 1, .max = TRACE_ITEMS_MAX,
     .help = "only the first N requests of the trace"},
    {"slo", OPTION_STRING, A(slo), "LIST",
     .help =
         "what a request must keep to, such as ttft=500ms,tpot=50ms,e2e=10s: slo_attainment and "
         "goodput_rps"},
    {"replicates", OPTION_I64, A(replicates), "N", "6", .min = 1, .max = RUN_REPLICATES_MAX,
     .help = "passes over all bands and lanes, declared beforehand", .letter = 'r'},
    {"window", OPTION_DURATION, A(window_ns), "TIME", "60s",
     .help = "shortest time that a band is measured"},
    {"max-window", OPTION_DURATION, A(max_window_ns), "TIME", "30min",
     .help = "longest time; a band that has too few requests then is INCOMPLETE"},
    {"min-samples", OPTION_I64, A(min_samples), "N", .min = 1, .max = 100000000,
     .help = "requests that must have ended before a window closes (default max(30, 8c); with "
             "--rate 30)"},
    {"requests", OPTION_I64, A(requests), "N", .min = 1, .max = 100000000, .letter = 'n',
     .help = "exactly so many in every window, whatever the time"},
    {"inject", OPTION_FLAG, A(inject),
     .help = "at half of every window send one longest prompt beside the others, and report how "
             "long it stalls them (injector_stall_ms); w2 does"},
    {"warmup", OPTION_I64, A(warmup), "N", "2", .min = 0, .max = 10000,
     .help = "requests a worker before the window (with --rate: requests in all)"},
    {"quiesce", OPTION_DURATION, A(quiesce_ns), "TIME", "0",
     .help = "silence between warm-up and window; 0: load never pauses"},
    {"cooldown", OPTION_DURATION, A(cooldown_ns), "TIME", "10s",
     .help = "silence between one lane and the next"},
    {"timeout", OPTION_DURATION, A(timeout_ns), "TIME", "10min", .help = "of one request"},
    {"max-error-share", OPTION_DOUBLE, A(max_error_share), "X", "0",
     .help = "share of requests not ok above which no ratio is made"},

    {"Evidence", OPTION_HEADING, 0, .help = ""},
    {"sign", OPTION_STRING, A(sign), "KEY",
     .help = "sign the receipt with this private key ('tally key new' makes one)"},
    {"ledger", OPTION_STRING, A(ledger), "FILE",
     .help = "claim the run in this ledger before it is timed; a cell that was spent is refused "
             "(exit 4)"},
    {"same-model", OPTION_STRING, A(same_model), "NAME",
     .help = "declare that all lanes serve this one model, whatever they call it: without it their "
             "ratio is not compared"},
    {"looks", OPTION_LIST, A(looks), "LIST", .min = 1, .max = RUN_REPLICATES_MAX,
     .help = "with --ledger: replicates in all at which it may be looked, such as 6,12, declared "
             "with the first run"},

    {"calibrate", OPTION_FLAG, A(calibrate),
     .help = "measure first what this client itself costs and errs on this machine, against "
             "tally-sim --null; it stands in the receipt"},
    {"redact-text", OPTION_FLAG, A(redact_text),
     .help = "leave every text out of the samples, as well as token ids and what servers said in "
             "errors; counts of output tokens cannot be verified then"},

    {"Output", OPTION_HEADING, 0, .help = ""},
    {"out", OPTION_STRING, A(out), "DIR", .letter = 'o', .not_in_file = true,
     .help = "the run directory, which must be new or empty (default: tally-run-DATE-TIME)"},
    {"dry-run", OPTION_FLAG, A(dry_run), .not_in_file = true,
     .help = "print what would be sent, how many requests, how long; ask no server"},
    {"json", OPTION_FLAG, A(json), .not_in_file = true,
     .help = "print the outcome as one JSON document"},
    {"quiet", OPTION_FLAG, A(quiet), .not_in_file = true, .letter = 'q',
     .help = "no progress; warnings and errors only"},
    {"burn", OPTION_DURATION, A(burn_ns), "TIME", "0", .not_in_file = true, .hidden = true,
     .help = "spin that long before every read: what a client that is too slow does to a run"},
    {"step-clock", OPTION_DURATION, A(clock_step_ns), "TIME", "0", .not_in_file = true,
     .hidden = true, .help = "take the real clock to be set forward by TIME when a window opens"},
    OPTIONS_END,
};
