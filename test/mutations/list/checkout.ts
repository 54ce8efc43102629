import { within } from "../mutation.ts";

/** Money that comes in and goes back through the payment provider. */
export const checkoutMutations = within({ source: "src/checkout", tests: "test/simulation/payments" }, [
  {
    name: "an event is believed though the provider can be asked",
    file: "payments.ts",
    find: "if (about === undefined || provider === undefined) {",
    replace: "if (about === undefined || provider === undefined || claim !== undefined) {",
    breaks: "what is credited is what Stripe says of a payment when it is asked, never what an event claims",
    tests: ["payments"],
  },
  {
    name: "two cores charge at one crossing",
    file: "auto-top-up/crossings.ts",
    find: "row.crossing !== crossing || row.charging !== null || ",
    replace: "",
    breaks: "Each crossing is charged once, also by several cores and after a crash.",
    tests: ["payments"],
  },
  {
    name: "a refund that the provider refuses does not come back",
    file: "returns/withdrawals.ts",
    find: "      await this.putBack(row, error.message);",
    replace: '      await this.move(id, "withdrawn", { state: "returned", askAt: null });',
    breaks: "If Stripe refuses, it comes back, at the prices that it had",
    tests: ["payments"],
  },
  {
    name: "what went back elsewhere is counted before a refund under way is decided",
    file: "returns/elsewhere.ts",
    find: "await (isUnderWay(row) && this.#withdrawals.carryOn(row.id));",
    replace: "isUnderWay(row);",
    breaks: "A refund in Stripe's dashboard takes the money out of the account.",
    tests: ["payments"],
  },
]);
