import { expect, test } from "@jest/globals";
import { failOver, failOverLagging } from "./failover.ts";

test("a primary that dies loses nothing that its synchronous standby has, charges nothing twice, and cuts no stream", async () => {
  const delays = [0, 300, 700];
  const { rounds, acknowledged, ...books } = await failOver(delays);
  expect(books).toEqual({ lost: [], double: 0, proved: true });
  expect(rounds.map(({ cut, strayed }) => ({ cut, strayed }))).toEqual(delays.map(() => ({ cut: 0, strayed: 0 })));
  expect(acknowledged).toBeGreaterThan(100);
}, 240_000);

test("what an asynchronous standby lacked is told and made again by cores that live, and they refuse the old primary, even as new processes", async () => {
  const { putBack, refusal, most, acknowledged, ...books } = await failOverLagging(40);
  expect(books).toEqual({ lost: [], double: 0, proved: true });
  expect(putBack.size).toBeGreaterThanOrEqual(40);
  expect(putBack.size).toBeLessThanOrEqual(most);
  expect(acknowledged).toBeGreaterThan(80);
  expect(refusal).toMatch(/timeline 1, and this core has written to timeline 2/);
}, 240_000);
