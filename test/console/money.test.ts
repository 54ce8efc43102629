import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { buyCredit } from "./money-life.ts";
import { comeBack } from "./return-life.ts";
import { openStage, type Stage } from "./stage.ts";

// A Tollgate of its own: an address may sign in 30 times a minute, and the other pages' tests need most of that.

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
}, 120_000);
afterAll(() => stage.close());

test("a stranger goes from the first key to a receipt, buys credit, sets auto top-up and gets a refund", async () => {
  const { refusal, sessions, waiting, added, bought, set, refund, balance, statement, reader, faults } =
    await buyCredit(stage);
  expect(refusal).toBe("A payment must be at least 5.00 USD (payment minimum).");
  expect(sessions).toBe(1);
  expect([waiting, added]).toEqual([
    "Waiting until the payment is confirmed; this page can be left…",
    "25.00 USD added.",
  ]);
  expect(bought).toBe(25n * 10n ** 12n);
  expect(set).toMatch(/^On: below \$5\.00 the saved card is charged \$10\.00, at most \$40\.00 a month/);
  expect(refund).toBe("7.50 USD go back to the card.");
  expect(balance).toBe(bought - 75n * 10n ** 11n);
  expect(statement.map((line) => JSON.parse(line).kind)).toEqual(["account", "opening", "closing"]);
  expect(reader).toEqual(["no way to pay", set]);
  expect([...faults, ...stage.complaints]).toEqual([]);
}, 120_000);

test("who comes back from another site is signed in, hears what is wrong, and gets the money without an event", async () => {
  const { from, lost, late, stays } = await comeBack(stage);
  expect(from).toBe("cross-site");
  expect(lost).toMatch(/is asked again by itself/);
  expect(late).toMatch(/the credit comes by itself/);
  expect(stays).toEqual(["/money", "/people"]);
  expect(stage.complaints).toEqual([]);
}, 120_000);
