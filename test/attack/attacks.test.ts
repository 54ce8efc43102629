import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { eventually } from "../support/eventually.ts";
import { attacks } from "./attacks.ts";
import { type Attacked, startTarget } from "./target.ts";
import { endConnections } from "./wire.ts";

// Each attack of `npm run attack`, for some bursts: a customer is served meanwhile, and a metric shows what was refused.

let service: Attacked;
beforeAll(async () => {
  service = await startTarget();
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
    if (shown !== undefined) {
      await eventually("it is counted", async () => (await service.measure()).refused(shown) > before.refused(shown));
    }
    isOver = true;
    await attack;
    expect(statuses).toEqual(Array(20).fill(200));
  },
  60_000,
);
