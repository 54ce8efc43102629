import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openStage, type Stage } from "../stage/stage.ts";
import { closeInSteps } from "./close-life.ts";
import { comeInvited } from "./invited-life.ts";
import { chooseLowBalance } from "./low-balance-life.ts";
import { readNames } from "./names-life.ts";

// What a customer is told and chooses. A Tollgate of its own: an address signs in 30 times a minute.

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
}, 120_000);
afterAll(() => stage.close());

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

test("an owner says from when on the balance is low and where mail of the account goes, on a phone's width", async () => {
  expect(await chooseLowBalance(stage)).toMatchObject([
    { low_balance_usd: "2.50", email: "bills@example.com" },
    { low_balance_usd: null, email: null },
  ]);
  expect(stage.complaints).toEqual([]);
}, 60_000);

test("who waits for an invitation has a field for it alone, comes in by it though an answer was lost, and is told of the session's end", async () => {
  const invited = await openStage({ config: { sign_up: "invited" } });
  try {
    const { buttons, led, refused, opened, ended, faults } = await comeInvited(invited);
    expect(buttons).toEqual(["Sign out", "Open the invitation"]);
    expect(led).toEqual(led.map(() => "/people"));
    expect(refused).toEqual([]);
    expect(opened).toBe("/overview");
    expect(ended).toBe("Your session has ended. Sign in again to go on.");
    expect([...faults, ...invited.complaints]).toEqual([]);
  } finally {
    await invited.close();
  }
}, 120_000);
