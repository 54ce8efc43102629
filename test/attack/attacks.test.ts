import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { eventually } from "../support/eventually.ts";
import { attacks } from "./attacks.ts";
import { type Attacked, startTarget } from "./target.ts";
import { endConnections } from "./wire.ts";

// Each attack of `npm run attack`, for some bursts: a customer is served meanwhile, and each bound that stops the attack
// counts what it refused, so that the test fails where one is taken out.

let service: Attacked;
beforeAll(async () => {
  // How much a busy machine sheds is no fact about an attack.
  service = await startTarget({ max_lag_ms: 60_000, max_wait_ms: 60_000 });
}, 60_000);
afterAll(async () => {
  endConnections();
  await service[Symbol.asyncDispose]();
});

test.each(attacks)(
  "$name: $what; a customer is served, and it is seen",
  async ({ shown, burst }) => {
    const before = await service.measure();
    let isOver = false;
    const attack = (async () => {
      while (!isOver) {
        await burst(service.target);
      }
    })();
    const statuses = [];
    for (let requests = 0; requests < 20; requests += 1) {
      statuses.push(await service.honest());
    }
    await eventually("each of its bounds has been reached", async () => {
      const now = await service.measure();
      return shown.every((one) => now.count(one) > before.count(one));
    });
    isOver = true;
    await attack;
    expect(statuses).toEqual(Array(20).fill(200));
  },
  60_000,
);

test("each attack has a name of its own and is seen in a metric of docs/observability.md", () => {
  expect(new Set(attacks.map(({ name }) => name)).size).toBe(attacks.length);
  const page = readFileSync("docs/observability.md", "utf8");
  expect(attacks.flatMap(({ shown }) => shown.filter(({ metric }) => !page.includes(`| \`${metric}\``)))).toEqual([]);
});
