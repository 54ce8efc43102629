import type { Rule } from "./reconcile-rules.ts";

/** The rules that budgets of keys must keep. A row is named by the first key of its chain, or by its slice. */
export const budgetRules: readonly Rule[] = [
  {
    name: "a budget has lent what its open slices were granted",
    table: "budget",
    sql: `
      select budget.id as id, coalesce(lent.amount, 0) as expected, leased as found
      from budget left join (
        select budget_id, window_name, sum(granted) as amount from budget_slice where open group by budget_id, window_name) lent
        on lent.budget_id = budget.id and lent.window_name = budget.window_name
      where leased <> coalesce(lent.amount, 0)`,
  },
  {
    name: "a budget's spending is that before its limit and that of its closed slices",
    table: "budget",
    sql: `
      select budget.id as id, prior + coalesce(closed.amount, 0) as expected, budget.spent as found
      from budget left join (
        select budget_id, window_name, sum(spent) as amount from budget_slice where not open group by budget_id, window_name) closed
        on closed.budget_id = budget.id and closed.window_name = budget.window_name
      where budget.spent <> prior + coalesce(closed.amount, 0)`,
  },
  {
    name: "a budget's slice has spent what its receipts cost",
    table: "budget_slice",
    sql: `
      select budget_slice.id as id, coalesce(receipts.amount, 0) as expected, spent as found
      from budget_slice left join (
        select budget_slice_id, sum(cost) as amount from (
          select budget_slice_id, cost from usage where budget_slice_id is not null
          union all select slice_id, cost from archived_cost) costs group by budget_slice_id) receipts
        on receipts.budget_slice_id = budget_slice.id
      where spent <> coalesce(receipts.amount, 0)`,
  },
  {
    name: "an open slice of a budget belongs to a core that lives or has just died",
    table: "budget_slice",
    sql: `
      select budget_slice.id as id, 'a heartbeat' as expected, coalesce(core.heartbeat_at::text, 'no core') as found
      from budget_slice left join core on core.id = budget_slice.core_id and core.epoch = budget_slice.epoch
      where budget_slice.open and (core.id is null or core.heartbeat_at < now() - interval '10 minutes')`,
    only: "postgresql",
  },
];
