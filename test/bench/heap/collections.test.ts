import { expect, test } from "@jest/globals";
import { sumCollections } from "./collections.ts";

const none = { small: 0, full: 0, allocated: 0, promoted: 0 };

test("sums up what collections found", () => {
  const output = [
    '[7:0x8601000:0]       13 ms: GC: {"pause":0.9,"gc":"s","allocated":5000,"promoted":20,"end":0}',
    '{"level":"info","msg":"tollgate ready"}',
    '[7:0x8601000:0]       19 ms: GC: {"pause":0.9,"gc":"ms","allocated":700,"promoted":9000}',
    '[7:0x8601000:0]       23 ms: GC: {"pause":0.9,"gc":"s","allocated":1000,"promoted":3}',
  ].join("\n");
  expect(sumCollections(output)).toEqual({ small: 2, full: 1, allocated: 6700, promoted: 23 });
});

test("takes the thread that allocated most", () => {
  const output = [
    '[7:0x8601000:0]       13 ms: GC: {"gc":"s","allocated":5000,"promoted":20}',
    '[7:0x9601000:1]       13 ms: GC: {"gc":"s","allocated":50,"promoted":40}',
  ].join("\n");
  expect(sumCollections(output)).toEqual({ small: 1, full: 0, allocated: 5000, promoted: 20 });
});

test("finds nothing in a log without collections", () => {
  expect(sumCollections('{"level":"info"}\n')).toEqual(none);
});
