import { Migration } from "@mikro-orm/migrations";

/** Accounts that move from one database to another. */
export class Migration20261122230000 extends Migration {
  override name = "Migration20261122230000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "account_move" ("id" uuid not null, "account_id" uuid not null, "kind" text not null, "generation" int not null, "from_shard" int not null, "to_shard" int not null, "incoming" boolean not null, "state" text not null, "money" bigint not null, "debt" bigint not null, "paid_total" bigint not null, "payload" text null, "until" timestamptz(3) not null, "changed_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "account_move_account_id_index" on "account_move" ("account_id");`);
    this.addSql(`create index "account_move_changed_at_index" on "account_move" ("changed_at");`);
    this.addSql(`create index "account_move_open" on "account_move" ("id") where state in ('closing', 'sent');`);

    this.addSql(
      `create table "lot_move" ("move_id" uuid not null, "lot_id" uuid not null, "carried" bigint not null, "refunded" bigint not null, primary key ("move_id", "lot_id"));`,
    );
    this.addSql(`create index "lot_move_lot_id_index" on "lot_move" ("lot_id");`);

    this.addSql(`alter table "account" add "move_id" uuid null;`);
    this.addSql(`create index "account_moved_index" on "account" ("id") where move_id is not null;`);

    this.addSql(`alter table "budget" add "carried" bigint not null default '0';`);

    this.addSql(`alter table "payment" add "copied" boolean not null default false;`);

    this.addSql(
      `alter table "account_move" add constraint "account_move_kind_check" check ("kind" in ('account', 'rest'));`,
    );
    this.addSql(
      `alter table "account_move" add constraint "account_move_state_check" check ("state" in ('closing', 'sent', 'done', 'cancelled', 'arrived'));`,
    );

    this.addSql(`alter table "lot_move" add constraint "lot_move_carried" check (carried > 0);`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "account_move" cascade;`);
    this.addSql(`drop table if exists "lot_move" cascade;`);

    this.addSql(`drop index "account_moved_index";`);
    this.addSql(`alter table "account" drop column "move_id";`);

    this.addSql(`alter table "budget" drop column "carried";`);

    this.addSql(`alter table "payment" drop column "copied";`);
  }
}
