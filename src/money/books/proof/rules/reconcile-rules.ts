import { withCredit } from "#src/storage/entities/metering/lot-conditions.ts";
import { fittingSum } from "#src/storage/reads/exact-sum.ts";
import { ownRate } from "../../../model/prices/own-prices.ts";
import { priorities } from "../../../model/spending-order.ts";
import { accountTotals } from "../../../store/spans.ts";
import type { SlotCondition } from "../scope.ts";

/** An invariant: a query for the rows that break it, as id, expected and found. It names tables of `inScope`. */
export interface Rule {
  readonly name: string;
  readonly table: string;
  /** A function makes it, where it looks at no more sums than those in scope. */
  readonly sql: string | ((isInScope: SlotCondition) => string);
  /** The parts of a day that keep it by themselves: a day is sealed once they all did. Absent: it is about all days. */
  readonly ofDay?: "receipts" | "hours" | "sums";
  /**
   * A query for what receipts in scope add to the sums that the rule compares, as id and amounts: whole numbers with a space
   * between them, as in what it expects and finds. With it, the rule may be proved in parts. Absent: it reads no receipt,
   * or each by itself.
   */
  readonly addends?: string;
  /** The database that the rule is for. Undefined: both. */
  readonly only?: "postgresql" | "sqlite";
}

/** The column of a parent must be the sum over its children. `parents`: those that are looked at. */
const sums = (name: string, table: string, id: string, column: string, children: string, parents = table): Rule => ({
  name,
  table,
  sql: `
    select ${table}.${id} as id, coalesce(children.amount, 0) as expected, ${column} as found
    from ${parents} ${table} left join (${children}) children on children.id = ${table}.${id}
    where ${column} <> coalesce(children.amount, 0)`,
});

/** The same for parents of which only near ones are looked at. */
const nearSums = (name: string, table: string, column: string, children: string): Rule =>
  sums(name, table, "id", column, children, `near_${table}`);

/** What a near slice has spent must be the cost of its receipts. `receipts`: a query for slice_id and cost, whatever their day. */
export const spentOfReceipts = (name: string, table: string, receipts: string): Rule => ({
  ...nearSums(
    name,
    table,
    `${table}.spent`,
    `select slice_id as id, sum(cost) as amount from (
       ${receipts} union all select slice_id, cost from sealed_cost) costs group by slice_id`,
  ),
  addends: `
    select cast(slice_id as text) as id, cast(sum(cost) as text) as amounts from (${receipts}) costs group by slice_id`,
});

/** Other cores reclaim a dead core's leases long before ten minutes, which allow for a clock that is set anew. */
export const heldByACore = (name: string, table: string): Rule => ({
  name,
  table,
  sql: `
    select ${table}.id as id, 'a heartbeat' as expected, coalesce(core.heartbeat_at::text, 'no core') as found
    from ${table} left join core on core.id = ${table}.core_id and core.epoch = ${table}.epoch
    where ${table}.open and (core.id is null or core.heartbeat_at < now() - interval '10 minutes')`,
  only: "postgresql",
});

/** The column of a run's receipt must be the sum over the receipt's lines. */
const receipts = (name: string, column: string, ofLine: string): Rule => ({
  name,
  table: "usage",
  ofDay: "receipts",
  sql: `
    select receipt.request_id as id, coalesce(children.amount, 0) as expected, ${column} as found
    from receipt left join (
      select request_id, run_id, sum(${ofLine}) as amount from line group by request_id, run_id) children
      on children.request_id = receipt.request_id and children.run_id = receipt.run_id
    where ${column} <> coalesce(children.amount, 0)`,
});
/** The lower of a value and a bound. A null bound: no bound. */
const lower = (value: string, bound: string) => `case when ${bound} < ${value} then ${bound} else ${value} end`;

const lotEntries = (kind: string) =>
  `select lot_id as id, sum(amount) as amount from lot_entry where kind = '${kind}' group by lot_id`;

export const rules: readonly Rule[] = [
  sums("a lot is worth what its grants say", "lot", "id", "lot.granted", lotEntries("grant")),
  sums("a lot's refunds are its refund entries", "lot", "id", "lot.refunded", lotEntries("refund")),
  sums("a lot's expiry is its expiry entries", "lot", "id", "lot.expired", lotEntries("expire")),
  sums("what a credit lot was repaid is its entries of that", "lot", "id", "lot.repaid", lotEntries("repaid")),
  {
    name: "a credit lot is repaid no more than was spent of it",
    table: "lot",
    sql: `
      select lot.id as id, spent + coalesce(lent.amount, 0) as expected, repaid as found
      from lot left join (select lot_id, sum(spent) as amount from slice where open group by lot_id) lent on lent.lot_id = lot.id
      where repaid > 0 and repaid > spent + coalesce(lent.amount, 0)`,
  },
  {
    name: "nothing can be drawn beyond a credit line",
    table: "account",
    sql: `
      select account.id as id, account.credit_line as expected, drawable.amount as found
      from account join (
        select account_id, sum(granted - refunded - repaid) as amount,
          sum(case when expires_at is null then granted - spent - leased - refunded else 0 end) as free
        from lot where ${withCredit} group by account_id) drawable on drawable.account_id = account.id
      where drawable.free > 0 and drawable.amount > account.credit_line`,
  },
  {
    name: "the credit line is spent last",
    table: "lot",
    sql: `
      select id, ${priorities.credit} as expected, priority as found
      from lot where kind = 'credit' and priority <> ${priorities.credit}`,
  },
  // All slices of a near lot are near. What older lots have spent, the sums of their accounts tell.
  nearSums(
    "a lot's spending is that of its closed slices and the debt it paid",
    "lot",
    "lot.spent",
    `select id, sum(amount) as amount from (
       select lot_id as id, spent as amount from near_slice where not open
       union all select lot_id, amount from lot_entry where kind = 'debt') spending group by id`,
  ),
  sums(
    "a lot has lent what its open slices were granted",
    "lot",
    "id",
    "lot.leased",
    "select lot_id as id, sum(granted) as amount from slice where open group by lot_id",
  ),
  spentOfReceipts("a slice has spent what its receipt lines say", "slice", "select slice_id, cost from line"),
  receipts("a receipt costs what its lines say and what is owed", "receipt.cost - receipt.shortfall", "cost"),
  receipts(
    "a receipt that nothing is owed for has its tokens in its lines",
    "case when receipt.shortfall = 0 and receipt.cost > 0 then receipt.input_tokens + receipt.output_tokens else coalesce(children.amount, 0) end",
    "input_tokens + output_tokens",
  ),
  {
    name: "what is owed for a receipt is the tokens that no line has at the rates of its admission, but for a shared token",
    table: "usage",
    ofDay: "receipts",
    sql: `
      select request_id as id, owed as expected, shortfall as found from (
        select receipt.request_id, receipt.shortfall, receipt.max_input_rate, receipt.max_output_rate,
          (receipt.input_tokens - coalesce(paid.input, 0)) * receipt.max_input_rate
            + (receipt.output_tokens - coalesce(paid.output, 0)) * receipt.max_output_rate as owed
        from receipt left join (
          select request_id, run_id, sum(input_tokens) as input, sum(output_tokens) as output
          from line group by request_id, run_id) paid
          on paid.request_id = receipt.request_id and paid.run_id = receipt.run_id
        where receipt.shortfall > 0 and receipt.max_input_rate is not null) owing
      where owed < shortfall
        or owed - shortfall > case when max_input_rate > max_output_rate then max_input_rate else max_output_rate end`,
  },
  {
    name: "a receipt costs no more than its tokens at the rates of its admission",
    table: "usage",
    ofDay: "receipts",
    sql: `
      select request_id as id, input_tokens * max_input_rate + output_tokens * max_output_rate as expected, cost as found
      from receipt where cost > input_tokens * max_input_rate + output_tokens * max_output_rate`,
  },
  {
    name: "a line costs its tokens at its rates, but for a token shared with another lot",
    table: "usage_line",
    ofDay: "receipts",
    sql: `
      select request_id as id, input_tokens * input_rate + output_tokens * output_rate as expected, cost as found
      from line
      where abs(cost - (input_tokens * input_rate + output_tokens * output_rate)) >
        case when input_rate > output_rate then input_rate else output_rate end`,
  },
  {
    name: "a line pays at its lot's price (that of its version, or the first later one that lists the model, by the own prices that it locked in), or at that of the request's admission if it is lower",
    table: "usage_line",
    ofDay: "receipts",
    sql: `
      select line.request_id as id, ${ownRate("input")} as expected, line.input_rate as found
      from line
      join receipt on receipt.request_id = line.request_id and receipt.run_id = line.run_id
      join lot on lot.id = line.lot_id
      left join own_prices on own_prices.id = lot.own_prices_id
      left join own_price on own_price.own_prices_id = lot.own_prices_id and own_price.model = receipt.model
      left join price on price.model = receipt.model and price.version_id = coalesce(
        (select max(version_id) from price listed where listed.model = receipt.model and listed.version_id <= lot.price_version_id),
        (select min(version_id) from price listed where listed.model = receipt.model and listed.version_id > lot.price_version_id))
      where price.model is null
        or ${lower(ownRate("input"), "receipt.max_input_rate")} <> line.input_rate
        or ${lower(ownRate("output"), "receipt.max_output_rate")} <> line.output_rate`,
  },
  {
    name: "the own prices of a lot are those of its account",
    table: "lot",
    sql: `
      select lot.id as id, lot.account_id as expected, own_prices.account_id as found
      from lot join own_prices on own_prices.id = lot.own_prices_id
      where own_prices.account_id <> lot.account_id`,
  },
  {
    name: "a lot has no older own prices than money that came in at an older price version",
    table: "lot",
    sql: `
      select id, before as expected, number as found from (
        select lot.id, own_prices.number, max(own_prices.number) over (
          partition by lot.account_id order by lot.price_version_id
          groups between unbounded preceding and 1 preceding) as before
        from lot join own_prices on own_prices.id = lot.own_prices_id) lots
      where number < before`,
  },
  {
    name: "a line, its slice, its lot and its receipt are of one account",
    table: "usage_line",
    ofDay: "receipts",
    sql: `
      select line.request_id as id, receipt.account_id as expected, lot.account_id as found
      from line left join receipt on receipt.request_id = line.request_id and receipt.run_id = line.run_id
      left join slice on slice.id = line.slice_id left join lot on lot.id = line.lot_id
      where receipt.account_id is null or slice.lot_id is null or slice.lot_id <> line.lot_id
        or slice.account_id <> receipt.account_id or lot.account_id <> receipt.account_id`,
  },
  heldByACore("an open slice belongs to a core that lives or has just died", "slice"),
  {
    // One process at a time uses the file, and takes over all open slices when it begins an epoch.
    name: "an open slice belongs to the last epoch of its core",
    table: "slice",
    sql: `
      select slice.id as id, coalesce(last.epoch, 0) as expected, slice.epoch as found
      from slice left join (select id, max(epoch) as epoch from core group by id) last on last.id = slice.core_id
      where slice.open and slice.epoch is not last.epoch`,
    only: "sqlite",
  },
  sums(
    "an account owes, beside its credit line, what its receipts and its refunds fell short of and no lot has paid",
    "account",
    "id",
    "account.debt",
    `select id, ${fittingSum("amount")} as amount from (
       select account_id as id, shortfall as amount from (${accountTotals}) totals where shortfall > 0
       union all select account_id, owed from payment where owed > 0
       union all select lot.account_id, case lot_entry.kind when 'debt' then -lot_entry.amount else lot_entry.amount end
       from lot_entry join lot on lot.id = lot_entry.lot_id
       where lot_entry.kind in ('debt', 'repaid')) owed group by id`,
  ),
  sums(
    "an account has paid what its payments less its refunds say",
    "account",
    "id",
    "account.paid_total",
    `select id, ${fittingSum("amount")} as amount from (
       select account_id as id, case kind when 'paid' then amount when 'refund' then -amount else 0 end as amount
       from payment) paid group by id`,
  ),
  sums(
    "a payment is in the lots, but for what is owed of a refund",
    "payment",
    "id",
    "(payment.amount - payment.owed)",
    `select payment_id as id, sum(amount) as amount from lot_entry where kind in ('grant', 'refund') group by payment_id`,
  ),
];
