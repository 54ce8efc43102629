import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openStage, type Stage } from "../stage/stage.ts";
import { listManyKeys } from "./keys-life.ts";
import { buyCredit } from "./money-life.ts";
import { agreeOnPrices } from "./prices-life.ts";
import { buyForCustomer, comeBack } from "./return-life.ts";

// A Tollgate of its own: an address may sign in 30 times a minute, and the other pages' tests need most of that.

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
}, 120_000);
afterAll(() => stage.close());

test("a stranger goes from the first key to a receipt, buys credit, sets auto top-up and gets a refund", async () => {
  const { refusal, silent, sessions, waiting, added, bought, set, refund, balance, statement, reader, faults } =
    await buyCredit(stage);
  expect(refusal).toBe("A payment must be at least 5.00 USD (payment minimum).");
  expect(silent).toEqual(["The payment provider does not answer. Try again in a moment.", false]);
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

test("who buys credit on an account's page comes back to its payments, as who looks at the card does", async () => {
  expect(await buyForCustomer(stage)).toEqual(["/accounts/ID tab,checkout payments", "/accounts/ID tab payments"]);
  expect(stage.complaints).toEqual([]);
}, 60_000);

test("an operator gives an account own prices after a preview, ends them, and gives it a credit line", async () => {
  const { preview, refusal, said, credits, customer, line, drawn, faults } = await agreeOnPrices(stage);
  const discount = "12.5\u00a0%\u00a0off";
  const own = `${discount} the general prices, and a fixed price of 1 model`;
  expect(preview).toEqual(
    expect.arrayContaining([
      "tollgate-sim/reasoner-on$0.175general $0.20$0.21875general $0.25",
      "tollgate-sim/plainfixed$0.18general $0.20$0.22general $0.25",
    ]),
  );
  expect(refusal).toBe("The discount has to be a per cent from 0 to 99.99 with at most two decimals, such as 12.5.");
  expect(said).toEqual([
    `Own prices are set: payments lock in ${own} from now on.`,
    "Own prices have ended: payments lock in the general prices from now on.",
  ]);
  expect(credits).toEqual(["Free tier", "Payment", `Paymentown prices 1, ${discount}`, "Payment"]);
  expect(customer).toEqual({ read: expect.stringContaining(`: ${own}. Payments keep them`), buttons: 0 });
  expect(line).toEqual(["Credit line\n$500.00\n$500.00 of it is left", "Limits of its own: It may owe $500.00."]);
  expect(drawn).toEqual(["Debt$NPaid first from the next top-up", "$5.00"]);
  expect([...faults, ...stage.complaints]).toEqual([]);
}, 120_000);

test("of more keys than fit a page the newest come first, and revoked ones last", async () => {
  const { first, more } = await listManyKeys(stage);
  expect(first).toEqual({ names: ["key 100", "key 99"], count: "100 keys so far" });
  expect(more).toEqual({ names: ["key 1", "key 0"], count: "101 keys" });
}, 60_000);
