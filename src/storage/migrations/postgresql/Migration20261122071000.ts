import { Migration } from "@mikro-orm/migrations";

/** Budgets of keys, leased to cores like lots, and the slice that a receipt counts in. Forward only. */
export class Migration20261122071000 extends Migration {
  override name = "Migration20261122071000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "budget" ("id" uuid not null, "window_name" varchar(255) not null, "account_id" uuid not null, "bound" bigint not null, "prior" bigint not null, "leased" bigint not null, "spent" bigint not null, primary key ("id", "window_name"));`,
    );

    this.addSql(
      `create table "budget_slice" ("id" uuid not null, "budget_id" uuid not null, "window_name" varchar(255) not null, "core_id" uuid not null, "epoch" int not null, "granted" bigint not null, "spent" bigint not null, "open" boolean not null, primary key ("id"));`,
    );
    this.addSql(`create index "budget_slice_core_id_index" on "budget_slice" ("core_id") where open;`);
    this.addSql(
      `create index "budget_slice_budget_id_window_name_index" on "budget_slice" ("budget_id", "window_name") where open;`,
    );

    this.addSql(`alter table "usage" add "budget_slice_id" uuid null;`);

    this.addSql(
      `alter table "budget" add constraint "budget_parts" check (prior >= 0 and leased >= 0 and spent >= 0);`,
    );

    this.addSql(
      `alter table "budget_slice" add constraint "budget_slice_amounts" check (granted >= 0 and spent >= 0);`,
    );
  }
}
