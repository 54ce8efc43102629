import { expect, test } from "@jest/globals";
import { decode } from "#src/fleet/sharing/messages/decode.ts";
import { encode, join } from "#src/fleet/sharing/messages/encode.ts";
import { longestMessage } from "#src/fleet/sharing/messages/format.ts";
import type { News } from "#src/fleet/sharing/news.ts";

const core = "00112233445566778899aabbccddeeff";
const load = { inFlight: 3, unreadTokens: 12_000, tokensInFlight: 40_000 };
const news: News[] = [
  { kind: "load", server: "m\n10.0.0.5:8000/m", load },
  { kind: "prompt", server: "m\nß", hashes: Int32Array.of(-1, 2, 3, -4), ends: Int32Array.of(64, 500) },
  { kind: "trouble", server: "m\n1" },
  { kind: "avoided", server: "m\n2" },
  {
    ...{ kind: "head", model: "m", times: { classes: 12.5, accounts: [1, 2, 3] } },
    head: { serviceClass: "priority", rank: 1234.5, waitedMs: 900, prompt: 4000, total: 4256 },
  },
  { kind: "empty", model: "m" },
  { kind: "served", model: "m", serviceClass: "flex", key: "acct_ß", work: -250.5, running: 4000 },
  { kind: "left", server: "m\n1", core: "ff".repeat(16), load, isPassedOn: true },
  { kind: "settled", server: "m\n1", core: "ff".repeat(16), isUnfit: true },
];

test("a message is read as it was written", () => {
  expect(decode(join(core, true, news.map(encode)))).toEqual({ core, isWhole: true, news });
  expect(decode(join(core, false, []))).toEqual({ core, isWhole: false, news: [] });
});

test("a message that is cut off anywhere but between two pieces is not read", () => {
  const pieces = news.map(encode);
  const bytes = join(core, false, pieces);
  const whole = pieces.map((_, at) => join(core, false, pieces.slice(0, at)).length);
  for (let length = 0; length < bytes.length; length++) {
    expect([length, decode(bytes.subarray(0, length)) === undefined]).toEqual([length, !whole.includes(length)]);
  }
});

const prompt = (hashes: number, ends: number[]) =>
  encode({ kind: "prompt", server: "m", hashes: new Int32Array(hashes), ends: Int32Array.from(ends) });

test.each<[string, Uint8Array]>([
  ["nothing", new Uint8Array()],
  ["of another version", Buffer.concat([Buffer.from([2]), join(core, false, []).subarray(1)])],
  ["of an unknown kind", join(core, false, [Buffer.from([9, 0, 0])])],
  ["with a name that is too long", join(core, false, [encode({ kind: "trouble", server: "m".repeat(1025) })])],
  [
    "with more requests than there can be",
    join(core, false, [encode({ kind: "load", server: "m", load: { ...load, inFlight: 2e6 } })]),
  ],
  [
    "with more tokens than there can be",
    join(core, false, [encode({ kind: "load", server: "m", load: { ...load, unreadTokens: 2e9 } })]),
  ],
  ["with blocks that go back", join(core, false, [prompt(4, [500, 64])])],
  ["with a block before the beginning", join(core, false, [prompt(2, [-1])])],
  [
    "with too many blocks",
    join(core, false, [
      prompt(
        2050,
        Array.from({ length: 1025 }, (_, at) => at + 1),
      ),
    ]),
  ],
  ["that is too long", Buffer.alloc(longestMessage + 1, 1)],
])("a message %s is not read", (_, bytes) => {
  expect(decode(bytes)).toBeUndefined();
});
