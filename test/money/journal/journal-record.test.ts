import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { decode, encode } from "#src/money/journal/journal-record.ts";
import { fuzzing } from "../../support/fuzz.ts";

const keys = fc.array(fc.string({ unit: "grapheme", maxLength: 20 }), { minLength: 1, maxLength: 12 });
/** Where each line ends in a file of all. */
function endsOf(lines: readonly Buffer[]): number[] {
  return lines.map((_, index) => Buffer.concat(lines.slice(0, index + 1)).length);
}

test("any bytes are read as a file, whatever they are", () => {
  const line = keys.map((all) => Buffer.from(encode(all.map((forget) => ({ forget })))));
  const piece = fc.oneof(
    line,
    fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom("\n", "[{", '00000000 [{"forget":"a"}]\n', "}]").map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
      const { records, unusable } = decode(Buffer.concat(pieces));
      expect(records.length + unusable.length).toBeLessThanOrEqual(200);
    }),
    fuzzing(500),
  );
});

test("a damaged byte costs the line that it is in, and that line is kept aside", () => {
  fc.assert(
    fc.property(keys, fc.nat(), fc.integer({ min: 1, max: 255 }), (all, place, change) => {
      const lines = all.map((forget) => Buffer.from(encode([{ forget }])));
      const bytes = Buffer.concat(lines);
      const at = place % bytes.length;
      const damaged = endsOf(lines).findIndex((end) => end > at);
      const offset = at - (endsOf(lines)[damaged - 1] ?? 0);
      fc.pre(bytes[at] !== 10 && ((bytes[at] ?? 0) ^ change) !== 10); // a line's end is another matter
      fc.pre(offset !== 8); // the space after the checksum means nothing
      bytes[at] = (bytes[at] ?? 0) ^ change;
      const { records, unusable, torn } = decode(bytes);
      expect(records).toEqual(all.filter((_, index) => index !== damaged).map((forget) => ({ forget })));
      expect({ unusable: unusable.length, torn }).toEqual({ unusable: 1, torn: false });
    }),
    fuzzing(500),
  );
});

test("a file that ends anywhere loses no line before its last", () => {
  fc.assert(
    fc.property(keys, fc.nat(), (all, place) => {
      const lines = all.map((forget) => Buffer.from(encode([{ forget }])));
      const bytes = Buffer.concat(lines);
      const length = place % (bytes.length + 1);
      const whole = endsOf(lines).filter((end) => end <= length).length;
      const { records } = decode(bytes.subarray(0, length));
      expect(records.slice(0, whole)).toEqual(all.slice(0, whole).map((forget) => ({ forget })));
      expect(records.length).toBeLessThanOrEqual(whole + 1); // a last line may lack its end alone
    }),
    fuzzing(500),
  );
});

test("labels that no receipt can have are left out, and their charge is made all the same", () => {
  const run = { requestId: "r", runId: "u", accountId: "a", keyId: "", model: "m" };
  const tokens = { inputTokens: 1, outputTokens: 1 };
  const labelled = (labels: unknown) =>
    decode(Buffer.from(encode([{ note: { ...run, tokens, labels } }, { promise: { ...run, labels } }] as never)));
  const read = (labels: unknown) =>
    labelled(labels).records.map((record) => ("note" in record ? record.note : "promise" in record && record.promise));
  const good = '{"app":"Cline"}';
  expect(read(good)).toMatchObject([{ labels: good }, { labels: good }]);
  for (const bad of ["{", "null", "[1]", 5, {}, '{"App":"x"}', '{"app":"\\u0000"}', '{"app":"\\ud800"}', '{"app":5}']) {
    const records = read(bad);
    expect(records).toMatchObject([run, run]);
    expect({ bad, labels: records.map((record) => (record || undefined)?.labels) }).toEqual({
      bad,
      labels: [undefined, undefined],
    });
  }
});
