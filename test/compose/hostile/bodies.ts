/** The model that is served. */
export const model = "victim/model";
export const messages = [{ role: "user", content: "Hello" }];
/** A request that is answered. */
export const json = JSON.stringify({ model, messages });

const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const deepObject = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

/** Bodies that mean harm to who reads them, by what they are. */
export const harmful: readonly [string, string | Buffer][] = [
  ["100,000 lists in each other", deep(100_000)],
  [
    "an unknown field of 100,000 lists",
    `{"model":"${model}","x":${deep(100_000)},"messages":[{"role":"user","content":"a"}]}`,
  ],
  ["content of 100,000 lists", `{"model":"${model}","messages":[{"role":"user","content":${deep(100_000)}}]}`],
  ["messages of 100,000 lists", `{"model":"${model}","messages":${deep(100_000)}}`],
  [
    "a tool of 100,000 objects",
    `{"model":"${model}","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f","parameters":${deepObject(100_000)}}}]}`,
  ],
  [
    "a schema of 100,000 objects",
    `{"model":"${model}","messages":[{"role":"user","content":"a"}],"response_format":${deepObject(100_000)}}`,
  ],
  [
    "numbers beyond all bounds",
    `{"model":"${model}","messages":[],"max_tokens":1e999,"temperature":-1e999,"seed":${"9".repeat(5000)}}`,
  ],
  [
    "a prototype",
    `{"model":"${model}","__proto__":{"stream":true,"polluted":1},"constructor":{"prototype":{"polluted":1}},"messages":[{"role":"user","content":"a","__proto__":{"role":"system"}}]}`,
  ],
  [
    "200,000 keys",
    `{"model":"${model}","messages":[{"role":"user","content":"a"}],${Array.from({ length: 100_000 }, (_, i) => `"k${i}":1`).join(",")}}`,
  ],
  [
    "the same key often",
    `{"model":"${model}",${'"messages":[],'.repeat(50_000)}"messages":[{"role":"user","content":"a"}]}`,
  ],
  [
    "bytes that are no UTF-8",
    Buffer.concat([
      Buffer.from(`{"model":"${model}","messages":[{"role":"user","content":"`),
      Buffer.from([0xc3, 0x28, 0xff, 0xed, 0xa0, 0x80]),
      Buffer.from('"}]}'),
    ]),
  ],
  ["an overlong slash", Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ["a number alone", "1"],
  ["null", "null"],
];
