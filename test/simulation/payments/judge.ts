import type { PaymentWorld } from "./world.ts";

/** What is credited is what the provider says was paid, once, less what it says went back. */
export function judgePayments({ bank, ledger, history }: Pick<PaymentWorld, "bank" | "ledger" | "history">): void {
  const payments = [...bank.payments.values()];
  for (const { reference, accountId, currency, amount } of payments) {
    const credited = ledger.movements.get(reference);
    const due = currency === "usd" ? BigInt(amount) : undefined;
    if (credited?.amount !== due || (credited !== undefined && credited.accountId !== accountId)) {
      history.violation("payments", `${reference} paid ${due} and is credited ${credited?.amount}`);
    }
  }
  for (const accountId of ledger.accounts.keys()) {
    const mine = payments.filter((one) => one.accountId === accountId && one.currency === "usd");
    const has = mine.reduce((sum, one) => sum + BigInt(Math.max(0, bank.left(one))), 0n);
    const says = ledger.paid(accountId);
    if (has !== says) {
      history.violation("payments", `of ${accountId} the provider has ${has}, and the ledger ${says}`);
    }
  }
}
