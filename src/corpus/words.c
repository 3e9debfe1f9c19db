#include "corpus/words.h"

#include <string.h>

#define COUNT(a) (uint32_t)(sizeof(a) / sizeof *(a))

static const char *const nouns[] = {
    "anchor",    "apple",     "archive",   "autumn",   "bakery",     "balcony",  "barrel",
    "basket",    "beacon",    "bench",     "bicycle",  "blanket",    "board",    "bottle",
    "branch",    "bread",     "bridge",    "brush",    "bucket",     "building", "cabin",
    "canal",     "candle",    "canvas",    "captain",  "carpet",     "castle",   "cellar",
    "ceiling",   "chair",     "chapter",   "cherry",   "chimney",    "circle",   "clock",
    "cloud",     "coast",     "coffee",    "collar",   "compass",    "copper",   "corner",
    "cottage",   "cotton",    "courtyard", "cousin",   "cradle",     "curtain",  "cushion",
    "dancer",    "daughter",  "desert",    "diary",    "doctor",     "drawer",   "drum",
    "engine",    "evening",   "factory",   "falcon",   "farmer",     "feather",  "fence",
    "ferry",     "festival",  "field",     "finger",   "flag",       "flour",    "flower",
    "forest",    "fountain",  "friend",    "garden",   "gate",       "glass",    "glove",
    "grain",     "guest",     "guitar",    "hammer",   "harbour",    "harvest",  "hill",
    "honey",     "horizon",   "horse",     "hotel",    "island",     "jacket",   "journal",
    "journey",   "kettle",    "kitchen",   "ladder",   "lake",       "lamp",     "lantern",
    "leather",   "lemon",     "letter",    "library",  "lighthouse", "machine",  "map",
    "marble",    "market",    "meadow",    "mechanic", "melody",     "merchant", "message",
    "mill",      "minute",    "mirror",    "morning",  "mountain",   "museum",   "needle",
    "neighbour", "night",     "notebook",  "ocean",    "office",     "orchard",  "oven",
    "owner",     "packet",    "painter",   "palace",   "paper",      "parcel",   "passage",
    "path",      "pencil",    "pepper",    "piano",    "picture",    "pilot",    "planet",
    "plate",     "pocket",    "poet",      "pond",     "postcard",   "potter",   "printer",
    "question",  "railway",   "rain",      "recipe",   "ribbon",     "river",    "road",
    "roof",      "room",      "rope",      "sailor",   "salt",       "sand",     "school",
    "season",    "shadow",    "shelf",     "shore",    "signal",     "silver",   "singer",
    "sister",    "sky",       "snow",      "soldier",  "song",       "spoon",    "spring",
    "square",    "stairs",    "station",   "stone",    "storm",      "story",    "stranger",
    "stream",    "street",    "student",   "summer",   "sunlight",   "table",    "tailor",
    "teacher",   "theatre",   "thread",    "ticket",   "timber",     "tower",    "town",
    "train",     "traveller", "tree",      "tunnel",   "umbrella",   "uncle",    "valley",
    "vessel",    "village",   "violin",    "voice",    "wagon",      "wall",     "watch",
    "water",     "weather",   "wheel",     "whistle",  "window",     "winter",   "wool",
    "workshop",  "writer",    "yard",
};

static const char *const adjectives[] = {
    "ancient", "blue",     "brave",    "brief",   "bright", "broad",    "broken",   "calm",
    "careful", "cheerful", "clean",    "clever",  "cold",   "common",   "curious",  "dark",
    "deep",    "distant",  "dry",      "early",   "empty",  "faint",    "familiar", "famous",
    "fine",    "firm",     "flat",     "fresh",   "full",   "gentle",   "golden",   "grand",
    "green",   "grey",     "happy",    "hard",    "heavy",  "hidden",   "high",     "honest",
    "hollow",  "kind",     "large",    "late",    "light",  "little",   "lonely",   "long",
    "loud",    "lucky",    "modern",   "narrow",  "new",    "northern", "odd",      "old",
    "open",    "orange",   "patient",  "plain",   "polite", "proud",    "quick",    "quiet",
    "rare",    "red",      "rich",     "rough",   "round",  "rusty",    "sandy",    "secret",
    "sharp",   "short",    "shy",      "silent",  "simple", "single",   "slow",     "small",
    "smooth",  "soft",     "southern", "steady",  "steep",  "strange",  "strong",   "sudden",
    "sunny",   "sweet",    "tall",     "tender",  "thick",  "thin",     "tidy",     "tiny",
    "tired",   "usual",    "warm",     "western", "wet",    "white",    "wide",     "wild",
    "windy",   "wise",     "wooden",   "yellow",  "young",
};

static const char *const verbs[] = {
    "admired",  "answered", "avoided",  "borrowed", "bought",         "brought",
    "built",    "carried",  "chose",    "cleaned",  "closed",         "collected",
    "copied",   "counted",  "covered",  "crossed",  "described",      "discovered",
    "drew",     "emptied",  "entered",  "examined", "explained",      "followed",
    "forgot",   "found",    "gathered", "guarded",  "heard",          "helped",
    "imagined", "joined",   "kept",     "knew",     "left",           "lifted",
    "lost",     "loved",    "measured", "mended",   "missed",         "moved",
    "needed",   "noticed",  "opened",   "ordered",  "packed",         "painted",
    "passed",   "praised",  "prepared", "promised", "pulled",         "pushed",
    "reached",  "recalled", "repaired", "returned", "saved",          "searched",
    "shared",   "showed",   "sold",     "studied",  "surprised",      "tasted",
    "thanked",  "touched",  "traded",   "trusted",  "visited",        "wanted",
    "warmed",   "washed",   "watched",  "welcomed", "wondered about", "wrote about",
};

static const char *const adverbs[] = {
    "again",   "almost",    "already", "always",   "badly",    "barely",  "calmly",
    "clearly", "finally",   "gladly",  "hardly",   "kindly",   "mostly",  "nearly",
    "never",   "often",     "once",    "perhaps",  "politely", "quietly", "rarely",
    "slowly",  "sometimes", "soon",    "suddenly", "usually",
};

static const char *const prepositions[] = {
    "above",   "across", "after", "along",   "around",  "at",     "before", "behind",
    "beside",  "beyond", "by",    "from",    "in",      "inside", "near",   "on",
    "outside", "over",   "past",  "through", "towards", "under",  "with",   "without",
};

static const char *const determiners[] = {
    "the", "the",   "the", "a",   "one",     "every", "this", "that",
    "our", "their", "her", "his", "another", "each",  "some",
};

static const char *const joiners[] = {
    "and", "but", "while", "because", "so", "although", "until", "when",
};

static const char *const fillers[] = {
    "a",  "so",   "it",  "as",  "to",   "we",  "of",   "is",    "no",    "up",
    "or", "then", "now", "too", "well", "yes", "here", "there", "still", "more",
};

/* The generator's constants are those of its reference implementation (Vigna, splitmix64.c). */
uint64_t draw_u64(struct draw *d)
{
    uint64_t z = (d->state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

struct draw draw_seeded(uint64_t seed, uint64_t stream)
{
    struct draw a = {seed}, b;

    b.state = draw_u64(&a) ^ stream;
    b.state = draw_u64(&b);
    return b;
}

uint32_t draw_below(struct draw *d, uint32_t bound)
{
    uint32_t limit = UINT32_MAX - UINT32_MAX % bound, v;

    do
        v = (uint32_t)(draw_u64(d) >> 32);
    while (v >= limit);
    return v % bound;
}

static void add_word(struct buf *b, struct draw *d, const char *const *list, uint32_t n)
{
    const char *word = list[draw_below(d, n)];

    if (b->n > 0 && b->p[b->n - 1] != ' ')
        buf_addc(b, ' ');
    buf_adds(b, word);
}
#define ADD(b, d, list) add_word(b, d, list, COUNT(list))

static void add_noun_phrase(struct buf *b, struct draw *d)
{
    ADD(b, d, determiners);
    if (draw_below(d, 2))
        ADD(b, d, adjectives);
    ADD(b, d, nouns);
}

static void add_clause(struct buf *b, struct draw *d)
{
    add_noun_phrase(b, d);
    if (draw_below(d, 4) == 0)
        ADD(b, d, adverbs);
    ADD(b, d, verbs);
    add_noun_phrase(b, d);
    if (draw_below(d, 2)) {
        ADD(b, d, prepositions);
        add_noun_phrase(b, d);
    }
}

static void capital_at(struct buf *b, size_t at)
{
    if (at < b->n && b->p[at] >= 'a' && b->p[at] <= 'z')
        b->p[at] = (char)(b->p[at] - 'a' + 'A');
}

void words_add_sentence(struct buf *b, struct draw *d)
{
    struct buf s = BUF_INIT(4096);

    add_clause(&s, d);
    if (draw_below(d, 3) == 0) {
        buf_addc(&s, ',');
        ADD(&s, d, joiners);
        add_clause(&s, d);
    }
    buf_addc(&s, '.');
    if (!s.failed) {
        capital_at(&s, 0);
        buf_addstr(b, buf_str(&s));
    } else {
        b->failed = s.failed; /* out of memory: as good as having failed here */
    }
    buf_release(&s);
}

void words_add_filler(struct buf *b, struct draw *d)
{
    buf_adds(b, fillers[draw_below(d, COUNT(fillers))]);
}

uint32_t words_tag_count(void)
{
    return COUNT(nouns) + COUNT(adjectives);
}

void words_add_tag(struct buf *b, struct draw *d, int n)
{
    size_t start = b->n;

    for (int i = 0; i < n; i++) {
        uint32_t k = draw_below(d, words_tag_count());
        if (i > 0)
            buf_addc(b, ' ');
        buf_adds(b, k < COUNT(nouns) ? nouns[k] : adjectives[k - COUNT(nouns)]);
    }
    if (!b->failed)
        capital_at(b, start);
}
