import { expect, test } from "@jest/globals";
import { type Setting, simulate } from "./simulate.ts";
import { assistants, chats, strangers } from "./workloads.ts";

const setting = { servers: 8, minutes: 1.5 };
const compare = (compared: Setting) => [simulate("prefix", compared), simulate("least-load", compared)] as const;

test("conversations find their beginning in the cache at least twice as often, at equal balance", () => {
  const [prefix, leastLoad] = compare({ ...setting, workload: chats });
  expect(prefix.hitRate).toBeGreaterThan(2 * leastLoad.hitRate);
  expect(prefix.imbalance).toBeLessThan(1.3);
  expect(prefix.p50).toBeLessThan(leastLoad.p50);
  expect(prefix.p99).toBeLessThan(leastLoad.p99);
});

test("what many ask does not overrun one server", () => {
  const [prefix, leastLoad] = compare({ ...setting, workload: assistants });
  expect(prefix.hitRate).toBeGreaterThanOrEqual(0.98 * leastLoad.hitRate);
  expect(prefix.imbalance).toBeLessThan(1.3);
});

test("prompts that have nothing in common are none the worse for it", () => {
  const [prefix, leastLoad] = compare({ ...setting, workload: strangers });
  expect(prefix.imbalance).toBeLessThan(1.05 * leastLoad.imbalance);
  expect(prefix.p50).toBeLessThan(1.05 * leastLoad.p50);
  expect(prefix.p99).toBeLessThan(1.05 * leastLoad.p99);
});

test.each([
  ["dies and comes back", { server: 2, from: 30_000, to: 60_000 }],
  ["becomes ten times slower", { server: 2, from: 30_000, to: 60_000, slower: 10 }],
])("a server that %s costs no request and little of the cache", (_, trouble) => {
  const [prefix, leastLoad] = compare({ ...setting, workload: chats, troubles: [trouble] });
  expect(prefix.requests).toBe(leastLoad.requests);
  expect(prefix.hitRate).toBeGreaterThan(2 * leastLoad.hitRate);
  expect(prefix.p99).toBeLessThan(leastLoad.p99);
});
