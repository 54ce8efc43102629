import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { liveWithPasskeys } from "./passkey-life.ts";
import { openStage, type Stage } from "./stage.ts";

// A Tollgate of its own: an address signs in 30 times a minute, which the other tests of the console nearly use up.

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
}, 120_000);
afterAll(() => stage.close());

test("somebody signs up with a passkey, signs in with it, adds another and keeps the last one", async () => {
  const { steps, passkeys, kept, opened, refused, byName } = await liveWithPasskeys(stage);
  expect(byName).toBe("/sign-in");
  expect(steps).toEqual(["Credit", "A key and a request", "The first receipt"]);
  expect(opened).toBe("/overview");
  expect(refused).toContain("No passkey was used");
  expect(passkeys).toEqual([["Hedy", "phone"], ["Hedy"]]);
  expect(kept).toContain("You could not sign in any more");
  expect(stage.complaints).toEqual([]);
}, 60_000);
