import { Migration } from "@mikro-orm/migrations";

const hour = "floor(extract(epoch from settled_at) / 3600)::int";
const tokens = (column: string) => `sum(case when ${column} > 1099511627776 then 1099511627776 else ${column} end)`;

const sumUp = (span: string, slot: string, of: { readonly account: string; readonly key: string }) => `
  insert into usage_rollup (account_id, span, slot, key_id, model,
    requests, input_tokens, output_tokens, cost_high, cost_low, shortfall)
  select ${of.account}, '${span}', ${slot}, ${of.key}, model,
    count(*), ${tokens("input_tokens")}, ${tokens("output_tokens")},
    sum(cost / 1000000), sum(cost % 1000000), sum(shortfall)
  from usage group by 1, 3, 4, model;`;

/** Sums of usage by the hour and by the day, begun with those of the receipts that are there. Forward only. */
export class Migration20261122110000 extends Migration {
  override name = "Migration20261122110000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "usage_rollup" ("account_id" uuid not null, "span" text not null, "slot" int not null, "key_id" varchar(255) not null, "model" varchar(255) not null, "requests" bigint not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "shortfall" bigint not null, primary key ("account_id", "span", "slot", "key_id", "model"));`,
    );
    this.addSql(`create index "usage_rollup_span_slot_index" on "usage_rollup" ("span", "slot");`);

    this.addSql(
      `create table "usage_tally" ("core_id" uuid not null, "hour" int not null, "account_id" uuid not null, "key_id" varchar(255) not null, "model" varchar(255) not null, "requests" bigint not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "shortfall" bigint not null, primary key ("core_id", "hour", "account_id", "key_id", "model"));`,
    );
    this.addSql(`create index "usage_tally_account_id_hour_index" on "usage_tally" ("account_id", "hour");`);
    this.addSql(`create index "usage_tally_hour_index" on "usage_tally" ("hour");`);

    this.addSql(`drop index "budget_slice_budget_id_window_name_index";`);
    this.addSql(
      `create index "budget_slice_budget_id_window_name_index" on "budget_slice" ("budget_id", "window_name");`,
    );

    this.addSql(
      `alter table "usage_rollup" add constraint "usage_rollup_span_check" check ("span" in ('hour', 'day'));`,
    );

    // What was charged so far, by the hour and the day, of each account and of all.
    for (const [span, hours] of [
      ["hour", 1],
      ["day", 24],
    ] as const) {
      const slot = `${hour} / ${hours}`;
      const nobody = "'00000000-0000-0000-0000-000000000000'::uuid";
      this.addSql(sumUp(span, slot, { account: "account_id", key: "key_id" }));
      this.addSql(sumUp(span, slot, { account: nobody, key: "''" }));
    }
  }
}
