import { describe, expect, test } from "@jest/globals";
import { CheckoutState } from "#gen/tollgate/payments/v1/checkout_pb.js";
import { PaymentOutcome } from "#gen/tollgate/payments/v1/payment_event_pb.js";
import { databases, dialects } from "../money/databases.ts";
import { eventually } from "../support/eventually.ts";
import { hasBalance, press, usd } from "./shop.ts";
import { useTill } from "./till.ts";

// Money that goes back, or comes again, at the other end: in Stripe's dashboard, by a bank, after an account was closed.

const newDatabase = databases();
describe.each(dialects)("on %s", (dialect) => {
  const till = useTill(() => newDatabase(dialect));

  /** What was told of money that came in, newest first. */
  const topUps = async () =>
    (await till.eventsOf("account.topped_up")).map(({ data = {} }) => {
      const { amount_usd, undoes } = data;
      return { amount_usd, ...(undoes !== undefined && { undoes }) };
    });

  test("a refund in the dashboard takes the money out, into debt where it is spent", async () => {
    const accountId = await till.shop.account();
    const reference = await till.buy(accountId);
    till.stripe.bank.refund(reference, 1000);
    await hasBalance(till.shop, accountId, usd(15));
    const spent = await till.shop.spend(accountId);
    till.stripe.bank.refund(reference, undefined);
    await hasBalance(till.shop, accountId, -spent);
    expect((await till.shop.accounts.getAccount({ accountId })).account?.frozen).toBe(false);
  }, 60_000);

  test("a refund that fails at the bank after all comes back, and the operator is told once", async () => {
    const accountId = await till.shop.account();
    const reference = await till.buy(accountId);
    await till.refund(reference, 10);
    till.stripe.events.faults.times = 2;
    till.stripe.bank.failRefund([...till.stripe.state.refunds.keys()][0] ?? "");
    await hasBalance(till.shop, accountId, usd(25));
    expect(await till.toldFailures()).toMatchObject([{ data: { amount_usd: "10.00", reference } }]);
    const undoes = expect.stringMatching(/^refund:/);
    expect(await topUps()).toEqual([{ amount_usd: "10.00", undoes }, { amount_usd: "25.00" }]);
  }, 60_000);

  test("a refund that fails at the bank after its account was closed is told to the operator", async () => {
    const accountId = await till.shop.account();
    const reference = await till.buy(accountId);
    await till.shop.accounts.closeAccount({ accountId, requestId: "close" });
    till.stripe.bank.failRefund([...till.stripe.state.refunds.keys()][0] ?? "");
    await hasBalance(till.shop, accountId, usd(25));
    expect(await till.toldFailures()).toMatchObject([{ accountId, data: { amount_usd: "25.00", reference } }]);
  }, 60_000);

  test.each([
    ["closed", false],
    ["closed, and frozen since", true],
  ])(
    "a checkout that is paid after its account was %s is told as refused, is in no balance, and goes back at Stripe",
    async (_, isFrozen) => {
      const accountId = await till.shop.account();
      const { url: page, checkoutId } = await till.shop.payments.createCheckout({
        ...{ accountId, amountPicoUsd: usd(25), requestId: "late" },
      });
      await till.shop.accounts.closeAccount({ accountId, requestId: "close" });
      if (isFrozen) {
        await till.shop.accounts.freezeAccount({ accountId, reason: "A payment of this account is disputed." });
      }
      await press(page, "paid");
      const events = async () => (await till.shop.payments.listPaymentEvents({})).paymentEvents;
      const told = await eventually("both events are told", async () => {
        const found = await events();
        return found.length === 2 ? found : undefined;
      });
      const refused = { accountId, outcome: PaymentOutcome.REFUSED, detail: expect.stringContaining("was closed") };
      expect(told).toMatchObject([refused, refused]);
      const problem = expect.stringContaining("was closed");
      expect(await till.shop.payments.getCheckout({ checkoutId })).toMatchObject({
        state: CheckoutState.PAID,
        problem,
      });
      till.stripe.bank.refund([...till.stripe.state.intents.keys()][0] ?? "", undefined);
      await eventually("the refund is told", async () => (await events()).length > 2);
      expect(await till.shop.balance(accountId)).toBe(0n);
    },
    60_000,
  );

  test("a dispute takes the money out, freezes the account once and tells the operator; won, it comes back", async () => {
    const accountId = await till.shop.account();
    const reference = await till.buy(accountId);
    const spent = await till.shop.spend(accountId);
    till.stripe.events.faults.times = 2;
    const { id } = till.stripe.bank.dispute(reference);
    expect(spent > 0n).toBe(true);
    await hasBalance(till.shop, accountId, -spent);
    expect((await till.shop.accounts.getAccount({ accountId })).account?.frozen).toBe(true);
    const told = async () => (await till.eventsOf("payment.disputed")).length;
    await eventually("the operator is told", async () => (await told()) > 0);
    await till.shop.accounts.unfreezeAccount({ accountId });
    till.stripe.bank.decide(id, "won");
    await hasBalance(till.shop, accountId, usd(25) - spent);
    expect(await told()).toBe(1);
    expect(await topUps()).toEqual([{ amount_usd: "25.00", undoes: id }, { amount_usd: "25.00" }]);
    expect((await till.shop.accounts.getAccount({ accountId })).account?.frozen).toBe(false);
  }, 60_000);

  test("a dispute that is told before its payment credits first, and takes out then", async () => {
    const accountId = await till.shop.account();
    till.stripe.events.faults.hold = true;
    const { url: page } = await till.shop.payments.createCheckout({
      accountId,
      amountPicoUsd: usd(25),
      requestId: "x",
    });
    await press(page, "paid");
    till.stripe.bank.dispute([...till.stripe.state.intents.keys()][0] ?? "");
    till.stripe.events.release("reversed");
    await eventually("all are answered", () => till.shop.answers.length >= 3);
    await hasBalance(till.shop, accountId, 0n);
    expect((await till.shop.accounts.getAccount({ accountId })).account?.paidTotalPicoUsd).toBe(0n);
  }, 60_000);
});
