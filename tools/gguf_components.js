// Small GGUF vocabularies in which a boundary between pieces shows: one for every way in which
// llama.cpp splits text and every model it knows, for tools/conformance-gguf.
//
//     for (const { name, file } of ggufComponents(directory)) ...
'use strict';
const path = require('path');
const { writeGguf, i32, f32, u8 } = require('./gguf_write.js');
const { generator } = require('./conformance_texts.js');

// Names of tokenizer.ggml.pre (llama.cpp's src/llama-vocab.cpp).
const PRE = ['default', 'minicpm5', 'llama3', 'llama-v3', 'llama-bpe', 'falcon3', 'falcon-h1', 'pixtral', 'midm-2.0', 'lfm2',
    'jina-v5-nano', 'deepseek-llm', 'deepseek-coder', 'deepseek-v3', 'spark2_5', 'youtu', 'falcon', 'mpt', 'starcoder', 'gpt-2', 'phi-2',
    'jina-es', 'jina-de', 'gigachat', 'jina-v2-es', 'jina-v2-de', 'a.x-4.0', 'mellum', 'modern-bert', 'jais-2', 'jina-v1-en',
    'jina-v2-code', 'roberta-bpe', 'refact', 'command-r', 'qwen2', 'deepseek-r1-qwen', 'kormo', 'f2llmv2', 'qwen35', 'stablelm2', 'olmo',
    'dbrx', 'smaug-bpe', 'poro-chat', 'glm4', 'chatglm-bpe', 'viking', 'jais', 'tekken', 'smollm', 'codeshell', 'bloom', 'gpt3-finnish',
    'exaone', 'exaone4', 'exaone-moe', 'chameleon', 'minerva-7b', 'megrez', 'gpt-4o', 'llama4', 'kanana2', 'talkie',
    'granite-embed-multi-97m', 'tiny_aya', 'cohere2moe', 'superbpe', 'trillion', 'granite-docling', 'bailingmoe', 'bailingmoe2',
    'llada-moe', 'seed-coder', 'hunyuan', 'hunyuan-dense', 'hy_v4', 'joyai-llm', 'kimi-k2', 'ufakzeka', 'grok-2', 'afmoe', 'laguna',
    'minimax-m2', 'solar-open', 'mellum2'];
const RAW_PRE = ['gemma4', 'granite-embed-multi-311m', 'sarvam-moe'];

const NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER = 4, UNUSED = 5, BYTE = 6;
// Some types are wrong on purpose: llama.cpp overrules them by the text.
const SPECIALS = [['<unk>', UNKNOWN], ['<s>', CONTROL], ['</s>', CONTROL], ['<|im_end|>', NORMAL], ['<think>', USER], ['<|channel|>', CONTROL],
    ['<fim_prefix>', NORMAL], ['<mask>', CONTROL], ['[MASK]', CONTROL], ['<|x|>', NORMAL], ['<unused1>', UNUSED], [' lo', USER],
    ['<|endoftext|>', CONTROL], ['<|endoftext', CONTROL], ['text|><', USER], ['<|call|>', CONTROL], ['<|return|>', CONTROL], ['<|end|>', CONTROL]];

const byteChar = (() => {
    const out = [];
    let next = 256;
    for (let b = 0; b < 256; b++)
        out.push(String.fromCharCode((b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174 ? b : next++));
    return out;
})();
const byteToken = (b) => `<0x${b.toString(16).toUpperCase().padStart(2, '0')}>`;

function shuffle(list) {
    const random = generator(42);
    for (let i = list.length - 1; i > 0; i--) {
        const k = random(i + 1);
        [list[i], list[k]] = [list[k], list[i]];
    }
    return list;
}

// Any two bytes of a word merge, in an order that is scattered and easily made elsewhere (a test in C
// makes the same).
function bytePairs() {
    const pairs = [];
    for (let rank = 0; rank < 65536; rank++) {
        const pair = (rank * 40503 + 12345) & 0xffff;
        pairs.push([byteChar[pair >> 8], byteChar[pair & 255]]);
    }
    return pairs;
}

const CHARS = [...' abcehlortT01.\'<|>\n\t▁é日क्षि🎉½'];
// Two characters merge, and some words.
function charPairs() {
    const pairs = [];
    for (const a of CHARS) for (const b of CHARS) if (a !== ' ' && b !== ' ' && (a === '\n') === (b === '\n')) pairs.push([a, b]);
    shuffle(pairs);
    return pairs.concat([['th', 'e'], ['he', 'l'], ['hel', 'lo'], ['▁t', 'he'], ['\n\n', '\n\n']].filter(([a, b]) => [...a].length > 0 && b));
}

// Darts-clone's double array, as SentencePiece's precompiled charsmap holds it.
function charsmap(entries) {
    const root = { children: new Map() };
    let pool = '';
    for (const [from, to] of entries) {
        let node = root;
        for (const byte of Buffer.from(from)) {
            if (!node.children.has(byte)) node.children.set(byte, { children: new Map() });
            node = node.children.get(byte);
        }
        node.value = Buffer.byteLength(pool);
        pool += to + '\0';
    }
    const units = [0], taken = new Set([0]), bases = new Set();
    const place = (node, at) => {
        const labels = [...node.children.keys()].sort((a, b) => a - b);
        if (node.value !== undefined) labels.unshift(0);
        let base = 1;
        while (bases.has(base) || labels.some((l) => taken.has(base ^ l)) || (at ^ base) >= 1 << 21) base++;
        bases.add(base);
        labels.forEach((l) => taken.add(base ^ l));
        units[at] = (units[at] || 0) | ((at ^ base) << 10) | (node.value !== undefined ? 1 << 8 : 0);
        if (node.value !== undefined) units[base] = node.value | (1 << 31);
        for (const [label, child] of node.children) units[base ^ label] = label;
        for (const [label, child] of node.children) place(child, base ^ label);
    };
    place(root, 0);
    const size = Math.ceil((units.length + 256) / 256) * 256, head = Buffer.alloc(4 + 4 * size);
    head.writeUInt32LE(4 * size);
    for (let i = 0; i < size; i++) head.writeUInt32LE((units[i] || 0) >>> 0, 4 + 4 * i);
    return Buffer.concat([head, Buffer.from(pool)]);
}
const CHARSMAP = [['\t', ' '], ['\n', ' '], ['\u00a0', ' '], ['\u3000', ' '], ['ﬁ', 'fi'], ['½', '1/2'], ['²', '2'], ['e\u0301', 'é'],
    ['\u0301', ''], ['Ⅷ', 'VIII'], ['\u200b', ''], ['\ufeff', ''], ['A', 'a'], ['クト', 'qt'], ['ク', 'q'], ['\u200d', ' '], ['…', '...'], ['🎉', '\u2581']];

function gguf(directory, name, model, tokens, more) {
    const file = path.join(directory, `${name}.gguf`);
    writeGguf(file, { 'general.architecture': 'llama', 'general.name': name, 'tokenizer.ggml.model': model,
        'tokenizer.ggml.tokens': tokens.map((t) => t[0]), 'tokenizer.ggml.token_type': i32(tokens.map((t) => t[1] || NORMAL)),
        'tokenizer.ggml.scores': tokens.some((t) => t[2] !== undefined) ? f32(tokens.map((t) => t[2] || 0)) : undefined, ...more });
    return { name, file, specials: SPECIALS.map((s) => s[0]), vocab: tokens.map((t) => t[0].replace(/▁/g, ' ')), pre: more['tokenizer.ggml.pre'] };
}

function unique(tokens) {
    const seen = new Set();
    return tokens.filter((t) => !seen.has(t[0]) && seen.add(t[0]));
}

function bpeFiles(directory) {
    const pairs = bytePairs(), merges = pairs.map(([a, b]) => `${a} ${b}`);
    const tokens = byteChar.map((c) => [c]).concat(pairs.map(([a, b]) => [a + b]), SPECIALS);
    const ids = { 'tokenizer.ggml.bos_token_id': tokens.length - SPECIALS.length + 1, 'tokenizer.ggml.eos_token_id': tokens.length - SPECIALS.length + 2 };
    return PRE.map((pre) => gguf(directory, `pre-${pre}`, 'gpt2', tokens, { 'tokenizer.ggml.pre': pre, 'tokenizer.ggml.merges': merges, ...ids }));
}

function rawFiles(directory) {
    const pairs = charPairs(), made = [];
    const bytes = Array.from({ length: 256 }, (_, b) => [byteToken(b), BYTE]);
    const tokens = (some) => unique([...SPECIALS, ...bytes.slice(0, some), ...CHARS.filter((c) => c !== ' ').map((c) => [c]), ...pairs.map(([a, b]) => [a + b])]);
    const merges = pairs.map(([a, b]) => `${a} ${b}`), ids = { 'tokenizer.ggml.bos_token_id': 1, 'tokenizer.ggml.eos_token_id': 2 };
    for (const pre of RAW_PRE) made.push(gguf(directory, `pre-${pre}`, 'gpt2', tokens(256), { 'tokenizer.ggml.pre': pre, 'tokenizer.ggml.merges': merges, ...ids }));
    made.push(gguf(directory, 'model-gemma4', 'gemma4', tokens(256), { 'tokenizer.ggml.pre': 'default', 'tokenizer.ggml.merges': merges, ...ids }));
    made.push(gguf(directory, 'model-gemma4-some-bytes', 'gemma4', tokens(200), { 'tokenizer.ggml.merges': merges, ...ids }));
    const whole = ['the', 'hello', 'world', 'The', '日本'].map((w) => [w]);
    made.push(gguf(directory, 'model-whitespace', 'whitespace', unique([...tokens(256), ...whole]), { 'tokenizer.ggml.pre': 'whitespace', 'tokenizer.ggml.merges': merges, ...ids }));
    made.push(gguf(directory, 'model-whitespace-lower', 'whitespace', unique([...tokens(256), ...whole]),
        { 'tokenizer.ggml.pre': 'whitespace', 'tokenizer.ggml.merges': merges, 'tokenizer.ggml.normalizer.lowercase': true, ...ids }));
    return made;
}

function spmFiles(directory) {
    const bytes = Array.from({ length: 256 }, (_, b) => [byteToken(b), BYTE, 0]);
    const scored = charPairs().map(([a, b], i) => [a + b, NORMAL, -(i >> 2)]); // some are equal
    const specials = SPECIALS.map(([s, t]) => [s, t, 0]);
    const tokens = (list) => unique([...specials, ...list, ...CHARS.filter((c) => c !== ' ').map((c) => [c, NORMAL, -1e6]), ...scored]);
    const make = (name, list, more) => gguf(directory, name, 'llama', list, { 'tokenizer.ggml.unknown_token_id': 0, ...more });
    return [make('model-llama', tokens(bytes), {}),
        make('model-llama-no-prefix', tokens(bytes), { 'tokenizer.ggml.add_space_prefix': false }),
        make('model-llama-phi-3', tokens(bytes), { 'general.name': 'Some Phi-3 or other' })];
}

function bertFiles(directory) {
    const words = ['the', 'hello', 'world', 'a', 'b', 'é', 'e', 'straße', 'naive', 'han'], pieces = ['lo', 'ing', 's', 'e', 'l', 'ss', 'ß'];
    const ascii = [...'!"#$%&\'()*+,-./0123456789:;<=>?@[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~ABCDEF日本中國éσ'];
    const tokens = unique([['[PAD]', CONTROL], ['[UNK]', CONTROL], ['[CLS]', CONTROL], ['[SEP]', CONTROL], ['[MASK]', CONTROL], ['<think>', USER],
        ...words.map((w) => ['▁' + w]), ...pieces.map((w) => [w]), ...ascii.map((c) => ['▁' + c]), ...ascii.map((c) => [c])]);
    const ids = { 'tokenizer.ggml.unknown_token_id': 1, 'tokenizer.ggml.bos_token_id': 2, 'tokenizer.ggml.cls_token_id': 2, 'tokenizer.ggml.seperator_token_id': 3 };
    const made = [];
    for (const [name, more] of [['', {}], ['-cased', { lowercase: false }], ['-cased-bare', { lowercase: false, strip_accents: true }], ['-accents', { strip_accents: false }]]) {
        const flags = {};
        for (const k in more) flags[`tokenizer.ggml.normalizer.${k}`] = more[k];
        made.push(gguf(directory, `model-bert${name}`, 'bert', tokens, { ...ids, ...flags }));
    }
    return made;
}

function t5Files(directory) {
    const random = generator(7), made = [];
    const letters = [...'abcdefhlorstTHE019.,\'<|>é日本中']; // not every character: the rest is unknown
    const tokens = [['<pad>', CONTROL, 0], ['</s>', CONTROL, 0], ['<unk>', UNKNOWN, 0], ['<ab>', USER, 0], ['<abc', USER, 0], ['日本語', USER, -5], ['spare', UNUSED, -3]];
    for (const c of letters) tokens.push([c, NORMAL, -3 - random(500) / 100]);
    tokens.push(['▁', NORMAL, -2.5]);
    for (let i = 0; i < 400; i++) {
        let s = random(3) === 0 ? '▁' : '';
        for (let k = 2 + random(3); k > 0; k--) s += letters[random(letters.length)];
        tokens.push([s, NORMAL, -4 - random(800) / 100]);
    }
    for (const w of ['▁the', '▁hello', '▁world', 'lo', '▁The', '▁▁', '▁1']) tokens.push([w, NORMAL, -4.25]);
    for (const c of SPECIALS.slice(3)) tokens.push([...c, 0]);
    const G = 'tokenizer.ggml.', map = { [`${G}precompiled_charsmap`]: u8(charsmap(CHARSMAP)) };
    const flags = (prefix, merge) => ({ [`${G}add_space_prefix`]: prefix, [`${G}remove_extra_whitespaces`]: merge });
    const list = unique(tokens);
    for (const [name, more] of [['', { ...flags(true, true), ...map }], ['-no-map', flags(true, false)], ['-bare', {}], ['-keep', { ...flags(true, false), ...map }],
        ['-merge', { ...flags(false, true), ...map }]])
        made.push(gguf(directory, `model-t5${name}`, 't5', list, { [`${G}unknown_token_id`]: 2, [`${G}eos_token_id`]: 1, ...more }));
    return made;
}

function ggufComponents(directory) {
    return [...bpeFiles(directory), ...rawFiles(directory), ...spmFiles(directory), ...bertFiles(directory), ...t5Files(directory)];
}

module.exports = { ggufComponents, charsmap, byteToken, NORMAL, CONTROL, USER, UNUSED };
