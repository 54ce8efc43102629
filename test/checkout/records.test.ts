import { createClient } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { databases, dialects } from "../money/databases.ts";
import { eventually } from "../support/eventually.ts";
import { usd } from "./shop.ts";
import { useTill } from "./till.ts";

// What is written down of payments: the list of events, the audit log, Stripe's invoices.

const newDatabase = databases();
describe.each(dialects)("on %s", (dialect) => {
  const till = useTill(() => newDatabase(dialect));

  test("the list of events says how much of a payment has gone back, not how much it was", async () => {
    const accountId = await till.shop.account();
    const reference = await till.buy(accountId);
    const isOfReturn = ({ type }: { readonly type: string }) => type === "charge.refunded";
    for (const [part, gone] of [
      [5, 5],
      [2, 7],
    ] as const) {
      const requestId = `part-${part}`;
      await till.shop.payments.refundPayment({ accountId, reference, amountPicoUsd: usd(part), requestId });
      await eventually(`${gone} USD have gone back`, async () => {
        const [newest] = (await till.shop.payments.listPaymentEvents({})).paymentEvents.filter(isOfReturn);
        return newest?.reference === reference && newest.amountPicoUsd === usd(gone);
      });
    }
  }, 60_000);

  test("who changes what of payments is in the audit log", async () => {
    const accountId = await till.shop.account();
    const reference = await till.buy(accountId);
    const { payments } = till.shop;
    await payments.createPortalSession({ accountId });
    const bounds = { belowPicoUsd: usd(5), amountPicoUsd: usd(10), monthlyPicoUsd: usd(50) };
    await payments.setAutoTopUp({ accountId, ...bounds });
    await payments.refundPayment({ accountId, reference, amountPicoUsd: usd(1), requestId: "back" });
    await till.shop.accounts.closeAccount({ accountId, requestId: "close" });
    const { auditEvents } = await createClient(AuditService, till.shop.operator).listAuditEvents({ pageSize: 100 });
    const noted = auditEvents.filter(({ target }) => target === accountId).map(({ method }) => method.split("/")[1]);
    expect(noted).toEqual(
      expect.arrayContaining([
        "CreateCheckout",
        "CreatePortalSession",
        "SetAutoTopUp",
        "RefundPayment",
        "CloseAccount",
      ]),
    );
  });

  test("invoices and the portal are Stripe's", async () => {
    const accountId = await till.shop.account();
    expect((await till.shop.payments.listInvoices({ accountId })).invoices).toEqual([]);
    await till.buy(accountId);
    const { invoices } = await till.shop.payments.listInvoices({ accountId });
    expect(invoices).toMatchObject([{ number: "SIM-0001", totalPicoUsd: usd(25), status: "paid" }]);
    const portal = await till.shop.payments.createPortalSession({
      accountId,
      returnUrl: "http://127.0.0.1:1/accounts",
    });
    expect(await (await fetch(portal.url)).text()).toContain("No money moves");
  }, 60_000);
});
