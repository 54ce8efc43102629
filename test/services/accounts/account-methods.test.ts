import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { cent } from "#lib/money/cents.ts";
import { maxPicoUsd } from "#lib/money/money.ts";
import { serveAccounts, usd } from "../../identity/accounts/served-accounts.ts";
import { reasonOf } from "../../support/reason-of.ts";

// What closing an account takes out of the books, once the payment provider has paid back what it could.

/** An account that paid, and whose payment provider could still pay something back. */
async function openAccount(paid: readonly bigint[], left: bigint) {
  const served = await serveAccounts({ giveBack: async () => ({ gone: 0n, left }) });
  const accountId = await served.newAccount();
  for (const [index, amountPicoUsd] of paid.entries()) {
    await served.client.topUp({ accountId, amountPicoUsd, reference: `payment-${index}` });
  }
  return { ...served, closeAccount: () => served.client.closeAccount({ accountId, requestId: "one" }) };
}

test.each([
  { what: "all of it", left: 25n * usd },
  { what: "a cent of it", left: BigInt(cent) },
])(
  "money stays in the books while $what goes back through the provider, whoever held it a moment ago",
  async ({ left }) => {
    const { closeAccount, funds, close } = await openAccount([25n * usd], left);
    expect(await reasonOf(closeAccount())).toBe(Reason.REFUND_EXCEEDS_BALANCE);
    expect(funds.refunds).toEqual([]);
    await close();
  },
);

test.each([
  { what: "nothing is left of what came through the provider", paid: 25n * usd, left: 0n },
  { what: "less than a cent is left of the money", paid: BigInt(cent) - 1n, left: 25n * usd },
])("money leaves the books where $what", async ({ paid, left }) => {
  const { closeAccount, funds, close } = await openAccount([paid], left);
  expect((await closeAccount()).refundedPicoUsd).toBe(paid);
  expect(funds.refunds).toMatchObject([{ amount: Number(paid), reference: "close-one" }]);
  await close();
});

test("more money than one movement may have leaves in several, the last under the request's own name", async () => {
  const { closeAccount, funds, close } = await openAccount([maxPicoUsd, maxPicoUsd, usd], 0n);
  expect((await closeAccount()).refundedPicoUsd).toBe(2n * maxPicoUsd + usd);
  expect(funds.refunds.map(({ amount, reference }) => [BigInt(amount), reference])).toEqual([
    [maxPicoUsd, "close-one-2"],
    [maxPicoUsd, "close-one-1"],
    [usd, "close-one"],
  ]);
  await close();
});
