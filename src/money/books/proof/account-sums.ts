import { sumColumns, textColumns } from "#src/storage/reads/exact-sum.ts";
import { accountTotals } from "../../store/spans.ts";

/**
 * The sums of each account, in the form that `readSum` reads. `granted` and `refunded` are summed from payments, each
 * other sum from the table that keeps it. The balance is `unspent` less `lent`, the part that open slices have spent; credit
 * lines are no part of it: `drawn` is what is owed on them. Receipts are counted by the sums of usage.
 */
export const accountSums = `
  select account.id, account.debt, coalesce(requests.count, 0) as receipts,
    ${[
      ...[textColumns("granted", "paid_in"), textColumns("refunded", "paid_back"), textColumns("expired", "lots")],
      ...[textColumns("unspent", "lots"), textColumns("lent", "slices"), textColumns("spent", "requests")],
      ...[textColumns("drawn", "lots"), textColumns("drawing", "slices")],
    ].join(", ")}
  from account
  left join (select account_id, ${sumColumns("amount", "granted")} from payment where kind <> 'refund' group by account_id) paid_in
    on paid_in.account_id = account.id
  left join (select account_id, ${sumColumns("amount", "refunded")} from payment where kind = 'refund' group by account_id) paid_back
    on paid_back.account_id = account.id
  left join (select account_id, ${sumColumns("expired", "expired")},
      ${sumColumns("case when kind = 'credit' then 0 else granted - spent - refunded - expired end", "unspent")},
      ${sumColumns("case when kind = 'credit' then spent - repaid else 0 end", "drawn")}
    from lot group by account_id) lots
    on lots.account_id = account.id
  left join (select slice.account_id, ${sumColumns("case when lot.kind = 'credit' then 0 else slice.spent end", "lent")},
      ${sumColumns("case when lot.kind = 'credit' then slice.spent else 0 end", "drawing")}
    from slice join lot on lot.id = slice.lot_id where slice.open group by slice.account_id) slices
    on slices.account_id = account.id
  left join (
    select account_id, sum(requests) as count, sum(cost_high) as spent_high, sum(cost_low) as spent_low
    from (${accountTotals}) totals group by account_id) requests
    on requests.account_id = account.id
  order by account.id`;
