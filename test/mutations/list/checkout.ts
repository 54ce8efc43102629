import { within } from "../mutation.ts";

/** Money that comes in and goes back through the payment provider. */
export const checkoutMutations = [
  ...within({ source: "src/checkout", tests: "test/simulation/payments", worlds: ["payments"] }, [
    {
      name: "an event is believed though the provider can be asked",
      file: "payments.ts",
      find: "if (about === undefined || provider === undefined) {",
      replace: "if (about === undefined || provider === undefined || claim !== undefined) {",
      breaks: "what is credited is what Stripe says of a payment when it is asked, never what an event claims",
      tests: ["payments"],
    },
    {
      name: "a charge that was broken off is made anew",
      file: "auto-top-up/charges.ts",
      find: "const order = { id, accountId",
      replace: "const order = { id: this.#deps.random.uuid(), accountId",
      breaks: "Each crossing is charged once, also by several cores and after a crash.",
      tests: ["payments"],
    },
    {
      name: "a charge that does not lift the balance to the bound is followed by another",
      file: "auto-top-up/crossings.ts",
      find: "balance + BigInt(row.amount) >= BigInt(row.below);",
      replace: "balance + BigInt(row.amount) >= 0n;",
      breaks: "is not followed by another one at once",
      tests: ["payments"],
    },
    {
      name: "a refund that the provider refuses does not come back",
      file: "returns/withdrawals.ts",
      find: "      await this.putBack(row, error.message);",
      replace: '      await this.move(id, "withdrawn", { state: "returned", askAt: null });',
      breaks: "If Stripe refuses, or the bank days later, it comes back at the prices that it had",
      tests: ["payments"],
    },
    {
      name: "what went back elsewhere is counted before a refund under way is decided",
      file: "returns/elsewhere.ts",
      find: 'return kind === "refund" && (state === "asked" || state === "withdrawn");',
      replace: 'return kind === "refund" && state === "refused";',
      breaks: "A refund in Stripe's dashboard takes the money out of the account.",
      tests: ["payments"],
    },
  ]),
  // No world loses what the payment provider was asked for, or judges by a balance from before another account's charge.
  ...within({ source: "src/checkout", tests: "test/checkout", worlds: [] }, [
    {
      name: "a charge that was begun is made although its account was frozen since",
      file: "auto-top-up/charges.ts",
      find: "return isOn && !(",
      replace: "return isOn || !(",
      breaks: "A frozen account is not charged",
      tests: ["stale-accounts"],
    },
    {
      name: "a card is charged by a balance from before another account's charge",
      file: "auto-top-up/crossings.ts",
      find: "const balance = (await this.#readBalances([accountId])).get(accountId);",
      replace: "const balance: bigint | undefined = 0n;",
      breaks: "charges the card that was saved at a checkout once the",
      tests: ["stale-accounts"],
    },
    {
      name: "a crossing that a failover has lost charges the card anew",
      file: "payments.ts",
      find: "return v5(`auto top-up ${crossing}`, accountId);",
      replace: "return v5(`auto top-up ${crossing} ${crypto.randomUUID()}`, accountId);",
      breaks: "so that the card is charged once",
      tests: ["lost-orders"],
    },
    {
      name: "a refund that was paid back, and that a failover has lost, stays in the account",
      file: "returns/withdrawals.ts",
      find: 'return returned.some(({ order, state }) => order === id && state === "gone");',
      replace: "return returned.length === 0;",
      breaks: "A refund that was paid back and is lost is taken out again",
      tests: ["lost-orders"],
    },
    {
      name: "a refund that a failover has lost altogether is paid back again",
      file: "returns/refunds.ts",
      find: "return v5(`refund ${cause}`, accountId);",
      replace: "return v5(`refund ${cause} ${crypto.randomUUID()}`, accountId);",
      breaks: "no request pays the same money back a second time",
      tests: ["lost-orders"],
    },
    {
      name: "a refund does not ask what has gone back",
      file: "returns/refunds.ts",
      find: "      await askFor(() => this.#elsewhere.follow(payment));\n",
      replace: "",
      breaks: "the provider is asked first what has gone back",
      tests: ["lost-orders"],
    },
  ]),
];
