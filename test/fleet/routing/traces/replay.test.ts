import { expect, test } from "@jest/globals";
import { card8B, card70B } from "./batching-server.ts";
import { makeAgents, makeConversations } from "./likeness.ts";
import { CacheAware } from "./peers.ts";
import { type Replay, replay } from "./replay.ts";

// Short pieces of what the benchmark replays at length.

const agents = {
  ...{ trace: makeAgents(40), servers: 2, card: card70B, cores: 1, atOnce: 22, ms: 600_000, warmMs: 120_000, seed: 1 },
  good: { firstMs: 5000, eachMs: 100 },
} satisfies Omit<Replay, "routing">;

test("agents find their beginning in the cache as often as under SMG's policy, and wait less", async () => {
  const own = await replay({ ...agents, routing: "prefix" });
  const peer = await replay({ ...agents, routing: (truth) => new CacheAware(truth) });
  expect(own.hits).toBeGreaterThan(peer.hits - 0.02);
  expect(own.good).toBeGreaterThan(peer.good - 0.02);
  expect(own.imbalance).toBeLessThan(1.3);
});

test("cores that tell each other find as much in the caches as one", async () => {
  const one = await replay({ ...agents, routing: "prefix" });
  const four = await replay({ ...agents, routing: "prefix", cores: 4, sharing: { delayMs: 10, lost: 0.01 } });
  expect(four.hits).toBeGreaterThan(one.hits - 0.03);
  expect(four.good).toBeGreaterThan(one.good - 0.03);
});

test("conversations find more in the cache than under least load, and are answered as often in time", async () => {
  const conversations = {
    ...{
      trace: makeConversations(4.4, 0.06),
      servers: 8,
      card: card8B,
      cores: 1,
      atOnce: 0,
      ms: 70_000,
      warmMs: 0,
      seed: 1,
    },
    good: { firstMs: 2000, eachMs: 50 },
  };
  const own = await replay({ ...conversations, routing: "prefix" });
  const leastLoad = await replay({ ...conversations, routing: "least-load" });
  expect(own.hits).toBeGreaterThan(leastLoad.hits);
  expect(own.good).toBeGreaterThan(leastLoad.good - 0.02);
  expect(own.p50).toBeLessThan(leastLoad.p50);
});
