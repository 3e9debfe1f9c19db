// What the conformance tools share: random texts that look for trouble, asking tally for ids, and
// making a text that differs as small as it can be.
//
//     const { generator, makeText, tallyIds, shrink, escaped, same } = require('./conformance_texts.js');
//
// The same seed gives the same texts everywhere.
'use strict';
const { spawnSync } = require('child_process');

// xorshift128, seeded by splitmix: the same seed gives the same strings everywhere.
function generator(seed) {
    let s = BigInt(seed) & 0xffffffffffffffffn;
    const mix = () => {
        s = (s + 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
        let z = s;
        z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & 0xffffffffffffffffn;
        z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & 0xffffffffffffffffn;
        return Number((z ^ (z >> 31n)) & 0xffffffffn) >>> 0;
    };
    let [a, b, c, d] = [mix() | 1, mix(), mix(), mix()];
    return (n) => {
        let t = a ^ (a << 11);
        a = b; b = c; c = d;
        d = (d ^ (d >>> 19) ^ (t ^ (t >>> 8))) >>> 0;
        return d % n;
    };
}

const RANGES = [[0x20, 0x7e], [0xa0, 0xff], [0x100, 0x24f], [0x300, 0x36f], [0x370, 0x3ff], [0x400, 0x52f],
    [0x590, 0x6ff], [0x900, 0x97f], [0x980, 0x9ff], [0xb80, 0xbff], [0xe00, 0xe7f], [0x1100, 0x11ff],
    [0x1ab0, 0x1aff], [0x1c80, 0x1caf], [0x1dc0, 0x1dff], [0x1e00, 0x1fff], [0x2000, 0x206f], [0x2070, 0x218f],
    [0x2190, 0x23ff], [0x2460, 0x24ff], [0x2500, 0x27bf], [0x3000, 0x30ff], [0x3130, 0x318f], [0x3200, 0x33ff],
    [0x4e00, 0x9fff], [0xac00, 0xd7a3], [0xf900, 0xfaff], [0xfb00, 0xfb4f], [0xfe00, 0xfe6f], [0xff00, 0xffef],
    [0x10400, 0x1044f], [0x11000, 0x1107f], [0x11930, 0x11959], [0x16ea0, 0x16eff], [0x1d400, 0x1d7ff],
    [0x1f1e6, 0x1f1ff], [0x1f300, 0x1f6ff], [0x20000, 0x2a6df], [0xe0000, 0xe01ef]];
const SPACES = [' ', '  ', '   ', '\t', '\n', '\r\n', '\n\n', '\r', '\v', '\f', '\u0085', '\u00a0', '\u1680', '\u2003',
    '\u2028', '\u202f', '\u3000', '\u200b', '\u180e', '\ufeff', ' \n', '\n ', '    ', '        ', '\u001c'];
const PIECES = ["'s", "'S", "'ſ", "'t", "'LL", "'re", "'Ve", "'m", "'d", '’s', 'the', 'The', 'THE', 'hello', 'world', 'HelloWorld',
    'iPhone', 'getHTTPResponse', 'snake_case', 'naïve', 'Việt', 'Ångström', 'straße', 'İstanbul', 'ΣΊΣΥΦΟΣ', '日本語', '中文',
    '한국어', 'हिन्दी', 'क्षि', 'ไทย', 'العربية', 'עברית', '🎉', '👩‍👩‍👧', '🏳️‍🌈', '👍🏽', '\u200d', '\ufe0f', '.', ',', '!', '?', '...', '--',
    '==', '!=', '->', '//', '/*', '*/', '{', '}', '();', '[]', '<', '>', '|', '#', '$', '%', '@', '`', '```', '"', '\\', '\\n', '&amp;',
    '1', '12', '123', '1234', '3.14', '2026-12-01', '½', '²', '٣', '১২', 'Ⅷ', 'https://example.org/a?b=c&d=1', 'e\u0301', 'q\u0301\u0323',
    '<s>', '</s>', '<unk>', '<pad>', '<0x41>', '<0x0A>', '▁', '▁▁', '[CLS]', '<|', '|>', '<think>', '\u0000', '\u0007', '\u00ad'];

function makeText(random, specials, vocab) {
    const char = () => {
        const [lo, hi] = RANGES[random(RANGES.length)];
        let c = lo + random(hi - lo + 1);
        if (random(40) === 0) c = random(0x110000);
        return c >= 0xd800 && c <= 0xdfff ? 'x' : String.fromCodePoint(c);
    };
    let out = '';
    const n = 1 + random(random(8) === 0 ? 60 : 14);
    for (let i = 0; i < n; i++) {
        switch (random(12)) {
        case 0: case 1: out += SPACES[random(SPACES.length)]; break;
        case 2: case 3: case 4: out += PIECES[random(PIECES.length)]; break;
        case 5: for (let k = 1 + random(6); k > 0; k--) out += char(); break;
        case 6: out += specials.length ? specials[random(specials.length)] : '<x>'; break;
        case 7: { // part of a special token
            const s = specials.length ? specials[random(specials.length)] : '<x>';
            out += s.slice(0, random(s.length + 1));
            break;
        }
        case 8: { const s = PIECES[random(PIECES.length)]; for (let k = random(5); k >= 0; k--) out += s; break; }
        case 9: { const s = char(); for (let k = random(20); k >= 0; k--) out += s; break; }
        case 10: out += ' ' + vocab[random(vocab.length)]; break;
        default: for (let k = 1 + random(10); k > 0; k--) out += String.fromCharCode(97 + random(26) - 32 * (random(3) === 0 ? 1 : 0));
        }
    }
    return out.toWellFormed ? out.toWellFormed() : Buffer.from(out, 'utf8').toString('utf8');
}

// Ids of every text by `tally count` with these further arguments.
function tallyIds(tally, file, texts, args) {
    const all = ['count', '--tokenizer', file, '--jsonl', '--ids'].concat(args);
    const got = spawnSync(tally, all, {
        input: texts.map((text) => JSON.stringify({ text })).join('\n') + '\n', maxBuffer: 1 << 30, encoding: 'utf8' });
    if (got.status !== 0) throw new Error(`${tally} ${all.join(' ')}: ${got.error || got.stderr}`);
    return got.stdout.trimEnd().split('\n').map((line) => JSON.parse(line).ids);
}
// In ASCII, so that a terminal cannot compose or hide what differs.
const escaped = (s) => JSON.stringify(s).replace(/[^ -~]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);


// The smallest text that still differs: halves, then ever smaller parts taken out.
async function shrink(text, differs) {
    let chars = [...text];
    for (let size = chars.length >> 1; size >= 1; size >>= 1)
        for (let at = 0; at + size <= chars.length && chars.length > 1;) {
            const less = chars.slice(0, at).concat(chars.slice(at + size));
            if (await differs(less.join(''))) chars = less;
            else at += size;
        }
    return chars.join('');
}

// Arguments of a conformance tool: --count, --seed, --tally, and what is to be compared.
function readArguments(root) {
    const options = { count: Number(process.env.TALLY_CONFORMANCE_COUNT || 200), seed: Date.now() % 1000000007,
        tally: require('path').join(root, 'build', 'tally'), files: [] };
    for (let i = 2; i < process.argv.length; i++) {
        const m = /^--(count|seed|tally)$/.exec(process.argv[i]);
        if (m) options[m[1]] = m[1] === 'tally' ? process.argv[++i] : Number(process.argv[++i]);
        else options.files.push(process.argv[i]);
    }
    return options;
}

module.exports = { generator, makeText, tallyIds, escaped, same, shrink, readArguments };
