import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { goBackFromDialogs } from "./back-life.ts";
import { closeInSteps } from "./close-life.ts";
import { leaveAccount } from "./leave-life.ts";
import { readNames } from "./names-life.ts";
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

test("a member leaves an account, which is gone from the console, and its only owner is told why that cannot be", async () => {
  const { refused, left, next, accounts, members, owner } = await leaveAccount(stage);
  expect(refused).toBe("The account would have no owner: make another member an owner first, or close it.");
  expect(left).toEqual(["/sign-in", "You have left the account."]);
  expect(next).toBe(0);
  expect(accounts).toEqual([["naomi", "ruth"], []]);
  expect(members).toEqual([["naomi", "ruth"], ["ruth"]]);
  expect(owner).toBe("Owner");
  expect(stage.complaints).toEqual([]);
}, 60_000);

test("Back closes a dialog and stays on its page, keeps what is shown once, and leads out at once without a dialog", async () => {
  expect(await goBackFromDialogs(stage)).toEqual([]);
  expect(stage.complaints).toEqual([]);
}, 120_000);

test("people, keys and accounts go by their names, in whatever script, and their ids are copied", async () => {
  const { request, audit, invitation, copied, faults } = await readNames(stage);
  expect(request).toEqual([
    "\u05d3\u05d1\u05d5\u05e8\u05d4",
    expect.stringMatching(/^\u05de\u05e4\u05ea\u05d7 tg-\w{4}…\w{4}$/),
  ]);
  expect(copied).toEqual(["Copy the account's id", "Copy the key's id"]);
  expect(audit).toEqual(expect.arrayContaining([expect.stringMatching(/^key \u05e8\u05d5\u05d1\u05d5\u05d8 tg-/)]));
  expect(invitation).toEqual({
    Account: "\u05d3\u05d1\u05d5\u05e8\u05d4",
    "Your role": "Developer: keys, too",
    "Invited by": "\u05d3\u05d1\u05d5\u05e8\u05d4",
    Until: expect.stringMatching(/\d/),
  });
  expect(faults).toEqual([]);
}, 120_000);

test("who closes an account is told after a failure what is done and what is left, and goes on", async () => {
  const { failures, farewell } = await closeInSteps(stage);
  expect(failures).toEqual([
    [
      "The payment provider does not answer. Try again in a moment.",
      "Done: no request runs in the account any more.",
      expect.stringMatching(/^Left to do: its keys end and its people lose it\./),
    ],
    [
      expect.stringMatching(/^25\.00 USD could not be paid back and are in the account again: /),
      "Done: no request runs in the account any more.",
      expect.stringMatching(/^Left to do: 25\.00 USD that were paid have to go back; then its keys end/),
    ],
  ]);
  expect(farewell).toBe("The account is closed. 25.00 USD go back to where they came from.");
}, 120_000);
