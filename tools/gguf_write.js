// Writes GGUF files that hold a vocabulary and nothing else, by the format's specification (ggml's
// docs/gguf.md), for the conformance tools.
//
//     writeGguf(path, { 'tokenizer.ggml.model': 'gpt2', 'tokenizer.ggml.tokens': [...], ... });
//
// Strings are strings, booleans flags, integers u32; lists are strings, or numbers wrapped by
// i32([..]), f32([..]), u8(bytes).
'use strict';
const fs = require('fs');

const i32 = (list) => ({ type: 5, list }), f32 = (list) => ({ type: 6, list }), u8 = (list) => ({ type: 0, list });

function writeGguf(path, values) {
    const parts = [];
    const u32 = (v) => { const b = Buffer.alloc(4); b.writeUInt32LE(v >>> 0); parts.push(b); };
    const u64 = (v) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(v)); parts.push(b); };
    const text = (s) => { const b = Buffer.from(s, 'utf8'); u64(b.length); parts.push(b); };
    const numbers = ({ type, list }) => {
        if (type === 0) { parts.push(Buffer.from(list)); return; }
        const b = Buffer.alloc(4 * list.length);
        list.forEach((v, i) => (type === 6 ? b.writeFloatLE(v, 4 * i) : b.writeInt32LE(v, 4 * i)));
        parts.push(b);
    };
    const keys = Object.keys(values).filter((k) => values[k] !== undefined);
    parts.push(Buffer.from('GGUF')); u32(3); u64(0); u64(keys.length);
    for (const key of keys) {
        const v = values[key];
        text(key);
        if (typeof v === 'string') { u32(8); text(v); }
        else if (typeof v === 'boolean') { u32(7); parts.push(Buffer.from([v ? 1 : 0])); }
        else if (typeof v === 'number') { u32(4); u32(v); }
        else if (Array.isArray(v)) { u32(9); u32(8); u64(v.length); v.forEach(text); }
        else { u32(9); u32(v.type); u64(v.list.length); numbers(v); }
    }
    fs.writeFileSync(path, Buffer.concat(parts));
}

module.exports = { writeGguf, i32, f32, u8 };
