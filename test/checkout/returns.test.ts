import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { RefundState } from "#gen/tollgate/payments/v1/refund_payment_pb.js";
import { databases, dialects } from "../money/databases.ts";
import { eventually } from "../support/eventually.ts";
import { reasonOf } from "../support/reason-of.ts";
import { hasBalance, usd } from "./shop.ts";
import { useTill } from "./till.ts";

// Money that goes back because it is asked for here: refunds, and what is left of an account that is closed.

const newDatabase = databases();
describe.each(dialects)("on %s", (dialect) => {
  const till = useTill(() => newDatabase(dialect));

  test("an account that is closed gets back through the provider what it paid there and did not spend", async () => {
    const accountId = await till.shop.account();
    const reference = await till.buy(accountId);
    const spent = await till.shop.spend(accountId);
    const unspent = usd(25) - spent;
    const { refundedPicoUsd } = await till.shop.accounts.closeAccount({ accountId, requestId: "close" });
    expect(refundedPicoUsd).toBe(unspent);
    const cents = Number(unspent / usd(0.01));
    const refunds = [...till.stripe.state.refunds.values()];
    expect(refunds).toMatchObject([{ payment_intent: reference, amount: cents }]);
    expect(await till.shop.balance(accountId)).toBe(0n);
    const again = await till.shop.accounts.closeAccount({ accountId, requestId: "close" });
    expect(again.account).toMatchObject({ frozen: true });
    expect(unspent - again.refundedPicoUsd < usd(0.01)).toBe(true); // what went back through Stripe is told again
    expect([...till.stripe.state.refunds.values()]).toHaveLength(1);
  });

  test("what Stripe does not pay back keeps an account open to its people and the money in it, and closing goes on", async () => {
    const accountId = await till.shop.account();
    await till.buy(accountId);
    const { key } = await till.shop.accounts.createKey({ accountId });
    const isKept = async () => (await till.shop.accounts.getKey({ keyId: key?.id ?? "" })).key?.revokedAt === undefined;
    const close = () => till.shop.accounts.closeAccount({ accountId, requestId: "close" });
    till.stripe.bank.isEmpty = true;
    await expect(close()).rejects.toThrow(
      /^\[unavailable\] 25\.00 USD could not be paid back and are in the account again: /,
    );
    expect(await till.shop.balance(accountId)).toBe(usd(25));
    expect((await till.shop.accounts.getAccount({ accountId })).account?.frozen).toBe(true);
    expect(await isKept()).toBe(true);
    till.stripe.bank.isEmpty = false;
    expect((await close()).refundedPicoUsd).toBe(usd(25));
    expect([...till.stripe.state.refunds.values()].map(({ status }) => status)).toEqual(["succeeded"]);
    expect(await till.shop.balance(accountId)).toBe(0n);
    expect(await isKept()).toBe(false);
  }, 60_000);

  test("closing that Stripe does not answer goes on with the refund that it began, by whatever request", async () => {
    const accountId = await till.shop.account();
    await till.buy(accountId);
    till.stripe.events.faults.lose = true;
    Object.assign(till.stripe.faults, { failing: Number.POSITIVE_INFINITY, path: "/v1/refunds" });
    const close = (requestId: string) => till.shop.accounts.closeAccount({ accountId, requestId });
    expect(await reasonOf(close("first"))).toBe(Reason.PAYMENT_PROVIDER_FAILED);
    expect(await till.shop.balance(accountId)).toBe(0n);
    till.stripe.faults.failing = 0;
    // Who carries refunds on may have been faster.
    expect([0n, usd(25)]).toContain((await close("second")).refundedPicoUsd);
    expect([...till.stripe.state.refunds.values()].map(({ amount }) => amount)).toEqual([2500]);
  }, 60_000);

  test("a refund goes back through Stripe, once however often it is asked for", async () => {
    const accountId = await till.shop.account();
    const reference = await till.buy(accountId);
    const [first] = await till.refund(reference, 10);
    expect(first).toMatchObject({ reference, amountPicoUsd: usd(10), state: RefundState.DONE });
    expect(await till.refund(reference, 10)).toEqual([first]);
    expect(await till.shop.balance(accountId)).toBe(usd(15));
    expect([...till.stripe.state.refunds.values()].map(({ amount }) => amount)).toEqual([1000]);
    await eventually("Stripe's own event is answered", () => till.shop.answers.length >= 4);
    expect(await till.shop.balance(accountId)).toBe(usd(15));
  }, 60_000);

  test("a refund's name is not another one's: another amount or payment under it is refused", async () => {
    const accountId = await till.shop.account();
    const [reference, other] = [await till.buy(accountId), await till.buy(accountId)];
    const [first] = await till.refund(reference, 10, "named");
    expect(await reasonOf(till.refund(reference, 11, "named"))).toBe(Reason.PAYMENT_REFERENCE_CONFLICT);
    expect(await reasonOf(till.refund(other, 10, "named"))).toBe(Reason.PAYMENT_REFERENCE_CONFLICT);
    expect(await till.refund(reference, 10, "named")).toEqual([first]);
    const [rest] = await till.refund(other, 0, "rest");
    expect(await till.refund(other, 0, "rest")).toEqual([rest]);
    expect(await till.shop.balance(accountId)).toBe(usd(15));
  }, 60_000);

  test("no more goes back than is left of a payment, and than is unspent", async () => {
    const accountId = await till.shop.account();
    const reference = await till.buy(accountId);
    await till.buy(accountId, 40);
    expect(await reasonOf(till.refund(reference, 26, "too-much"))).toBe(Reason.REFUND_EXCEEDS_BALANCE);
    await till.takeByHand(accountId, 60);
    expect(await reasonOf(till.refund(reference, 25, "spent"))).toBe(Reason.REFUND_EXCEEDS_BALANCE);
    expect(await till.refund(reference)).toMatchObject([{ amountPicoUsd: usd(5) }]);
    expect(await reasonOf(till.refund(reference, 0, "again"))).toBe(Reason.REFUND_EXCEEDS_BALANCE);
    expect(await reasonOf(till.refund("pi_nobody", 0, "x"))).toBe(Reason.PAYMENT_NOT_FOUND);
  }, 60_000);

  test("an account's payments go back in the order in which they came", async () => {
    const accountId = await till.shop.account();
    const references = [await till.buy(accountId, 10), await till.buy(accountId, 20)];
    const refunds = await till.refund("", 15, "both", accountId);
    expect(refunds.map((one) => [one.reference, one.amountPicoUsd])).toEqual([
      [references[0], usd(10)],
      [references[1], usd(5)],
    ]);
  }, 60_000);

  test("two refunds at once take no more than the payment", async () => {
    const accountId = await till.shop.account();
    const reference = await till.buy(accountId);
    await Promise.allSettled([till.refund(reference, 20, "one"), till.refund(reference, 20, "two")]);
    expect([...till.stripe.state.refunds.values()].map(({ amount }) => amount)).toEqual([2000]);
    expect(await till.shop.balance(accountId)).toBe(usd(5));
  }, 60_000);

  test("a refund that Stripe refuses is put back, at the same prices", async () => {
    const accountId = await till.shop.account();
    const reference = await till.buy(accountId);
    till.stripe.bank.isEmpty = true;
    const [failed] = await till.refund(reference, 10);
    expect(failed).toMatchObject({ state: RefundState.FAILED });
    expect(failed?.problem).toContain("Insufficient funds");
    expect(await till.shop.balance(accountId)).toBe(usd(25));
  }, 60_000);

  test("a refund that Stripe refuses since the dashboard was faster leaves no credit for money that went back", async () => {
    const accountId = await till.shop.account();
    const reference = await till.buy(accountId);
    // Who carries refunds on may ask as well.
    till.stripe.faults.failing = Number.POSITIVE_INFINITY;
    expect(await reasonOf(till.refund(reference, 10))).toBe(Reason.PAYMENT_PROVIDER_FAILED);
    till.stripe.faults.failing = 0;
    till.stripe.bank.refund(reference, undefined);
    await hasBalance(till.shop, accountId, 0n);
    expect((await till.refund(reference, 10))[0]).toMatchObject({ state: RefundState.FAILED });
    expect(await till.shop.balance(accountId)).toBe(0n);
  }, 60_000);

  test("a refund whose answer is lost is carried on after a restart, and made once", async () => {
    const accountId = await till.shop.account();
    const reference = await till.buy(accountId);
    // Who carries refunds on may ask before this request, and between its two tries: it must not find what was made.
    Object.assign(till.stripe.faults, { silent: Number.POSITIVE_INFINITY, path: "/v1/refunds", hides: true });
    till.stripe.events.faults.lose = true; // an event would tell what the answers did not
    expect(await reasonOf(till.refund(reference, 10))).toBe(Reason.PAYMENT_PROVIDER_FAILED);
    expect(await till.shop.balance(accountId)).toBe(usd(15));
    await till.shop.stop();
    till.stripe.faults.silent = 0;
    await till.start();
    await eventually("it is done", async () => (await till.refund(reference, 10))[0]?.state === RefundState.DONE);
    expect(till.stripe.state.refunds.size).toBe(1);
    expect(await till.shop.balance(accountId)).toBe(usd(15));
  }, 60_000);

  test("taxes go back with the credit, to the cent", async () => {
    await till.shop.stop();
    await till.start({ automatic_tax: true });
    const reference = await till.buy(await till.shop.account(), 10.01);
    for (const requestId of ["a", "b"]) {
      await till.refund(reference, 3.33, requestId);
    }
    await till.refund(reference, 0, "rest");
    const amounts = [...till.stripe.state.refunds.values()].map(({ amount }) => amount);
    expect(amounts.reduce((sum, amount) => sum + amount, 0)).toBe(till.stripe.state.intents.get(reference)?.amount);
  }, 60_000);
});
