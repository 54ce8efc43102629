import { priorities } from "../../../model/spending-order.ts";
import type { Rule } from "./reconcile-rules.ts";

/** The place of a payment's kind of money in the order of spending. */
const priorityOf = `case payment.kind ${Object.entries(priorities)
  .map(([kind, priority]) => `when '${kind}' then ${priority}`)
  .join(" ")} end`;

/**
 * Rules about the kind and the owner of money, according to its origin. The sums can be right although one of these is
 * broken: when a lot is spent, or when the receipts of a slice have left the books.
 */
export const originRules: readonly Rule[] = [
  {
    name: "a lot is of the account and the kind of its payment, and is spent in the order of that kind",
    table: "lot",
    sql: `
      select lot.id as id,
        ${told("payment.account_id", "payment.kind", `coalesce(${priorityOf}, 0)`)} as expected,
        ${told("lot.account_id", "lot.kind", "lot.priority")} as found
      from lot join payment on payment.id = lot.payment_id
      where lot.account_id <> payment.account_id or lot.kind <> payment.kind or lot.priority <> coalesce(${priorityOf}, 0)`,
  },
  {
    name: "a payment names a lot that its money came into, or was taken back from unless all of it is owed",
    table: "payment",
    sql: `
      select payment.id as id, 'an entry' as expected, 'none in lot ' || cast(payment.lot_id as text) as found
      from payment
      where payment.owed < payment.amount and not exists (
        select 1 from lot_entry where lot_entry.lot_id = payment.lot_id and lot_entry.payment_id = payment.id)`,
  },
  {
    name: "a slice is of its lot's account",
    table: "slice",
    sql: `
      select slice.id as id, lot.account_id as expected, slice.account_id as found
      from near_slice slice join lot on lot.id = slice.lot_id where slice.account_id <> lot.account_id`,
  },
  {
    name: "a budget is of its key's account",
    table: "budget",
    sql: `
      select budget.id as id, api_key.account_id as expected, budget.account_id as found
      from budget join api_key on api_key.id = budget.id where budget.account_id <> api_key.account_id`,
  },
];

/** Columns as the text that a finding shows. */
function told(...columns: readonly string[]): string {
  return columns.map((column) => `cast(${column} as text)`).join(" || ' ' || ");
}
