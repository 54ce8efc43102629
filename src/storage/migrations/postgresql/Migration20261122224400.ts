import { Migration } from "@mikro-orm/migrations";

/** Sums of usage in slots of several lengths. Those of a database that has rollups are built beside requests. Forward only. */
export class Migration20261122224400 extends Migration {
  override name = "Migration20261122224400";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "usage_span" ("hours" int not null, "detail" text not null, "slot" int not null, "account_id" uuid not null, "key_id" varchar(255) not null, "model" varchar(255) not null, "requests" bigint not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "shortfall" bigint not null, primary key ("hours", "detail", "slot", "account_id", "key_id", "model"));`,
    );
    this.addSql(
      `alter table "usage_span" add constraint "usage_span_detail_check" check ("detail" in ('account', 'key'));`,
    );
    this.addSql(
      `create table "usage_span_build" ("account_id" uuid not null, "slot" int not null, "key_id" varchar(255) not null, "model" varchar(255) not null, primary key ("account_id"));`,
    );
    this.addSql(`insert into usage_span_build (account_id, slot, key_id, model)
      select '00000000-0000-0000-0000-000000000000', 2147483647, '', '' where exists (select 1 from usage_rollup);`);
  }
}
