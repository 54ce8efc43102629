import { execFileSync } from "node:child_process";
import { expect, test } from "@jest/globals";
import { ChurningMap } from "#lib/workarounds/churning-map.ts";

const folder = new URL("../../../lib/workarounds/", import.meta.url).href;

/** Prints how many bytes a member of a collection leaves in the old space that is in it for a short time. */
const churn = (made: string) => `
  import { getHeapSpaceStatistics } from "node:v8";
  import { ChurningMap } from "${folder}churning-map.ts";
  import { LinkedList } from "${folder}linked-list.ts";
  const make = (at) => ({ key: "the key of a request " + at, data: [at, at, at, at], list: undefined, earlier: undefined, later: undefined });
  const collection = ${made};
  const inside = Array.from({ length: 64 }, (_, at) => make(at));
  inside.forEach((one) => collection.add(one));
  const old = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space").space_used_size;
  const members = 30_000;
  const exchange = (at) => {
    collection.delete(inside[at % 64]);
    inside[at % 64] = make(at);
    collection.add(inside[at % 64]);
  };
  exchange(64);
  gc({ type: "minor" });
  gc({ type: "minor" });
  const before = old();
  for (let at = 0; at < members; at++) {
    exchange(at);
    globalThis.last = Array.from({ length: 100 }, () => ({}));
  }
  console.log((old() - before) / members);`;

/** No full collection takes away what is counted. */
const flags = ["--expose-gc", "--no-allocation-site-pretenuring", "--initial-old-space-size=1000"];
const left = (made: string) =>
  Number(execFileSync(process.execPath, [...flags, "--input-type=module", "-e", churn(made)], { encoding: "utf8" }));
const asMap = (made: string) => `{
  map: ${made},
  add(one) { this.map.set(one.key, one); },
  delete(one) { this.map.delete(one.key); },
}`;

/** What the rest of the loop leaves. */
const without = left("{ add() {}, delete() {} }");

test("what was in a Map or Set for a short time grows old", () => {
  expect(left(asMap("new Map()")) - without).toBeGreaterThan(100);
  expect(left("new Set()") - without).toBeGreaterThan(100);
});

test("what was in a churning map or a list does not", () => {
  expect(left(asMap("new ChurningMap()")) - without).toBeLessThan(20);
  expect(left("new LinkedList()") - without).toBeLessThan(20);
});

test("answers as a Map does, whatever comes and goes", () => {
  const map = new Map<string, number>();
  const churning = new ChurningMap<number>();
  let state = 7;
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 1;
    return (state >>> 8) % below;
  };
  for (let step = 0; step < 50_000; step++) {
    const key = `k${random(step % 10_000 < 5000 ? 1000 : 40)}`;
    if (random(2) === 0) {
      map.set(key, step);
      churning.set(key, step);
    } else {
      expect(churning.delete(key)).toBe(map.delete(key));
    }
    const other = `k${random(1000)}`;
    expect([churning.get(other), churning.has(other), churning.size]).toEqual([
      map.get(other),
      map.has(other),
      map.size,
    ]);
  }
  expect(churning.values()).toEqual([...map.values()]);
  churning.clear();
  expect([churning.size, churning.values(), churning.get("k1")]).toEqual([0, [], undefined]);
});
