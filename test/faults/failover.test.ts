import { expect, test } from "@jest/globals";
import { failOver } from "./failover.ts";

test("a primary that dies loses nothing that its synchronous standby has, charges nothing twice, and cuts no stream", async () => {
  const delays = [0, 300, 700];
  const { rounds, acknowledged, ...books } = await failOver(delays);
  expect(books).toEqual({ lost: [], double: 0, proved: true });
  expect(rounds.map(({ cut, strayed }) => ({ cut, strayed }))).toEqual(delays.map(() => ({ cut: 0, strayed: 0 })));
  expect(acknowledged).toBeGreaterThan(100);
}, 240_000);
