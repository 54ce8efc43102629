import { Migration } from "@mikro-orm/migrations";

/** Days that are over are sealed; what receipts cost stays in the seals. */
export class Migration20261126000006 extends Migration {
  override name = "Migration20261126000006";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "day_seal" ("number" int not null, "id" uuid not null, "day" int not null, "receipts" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "root" varchar(255) not null, "chain" varchar(255) not null, "at" timestamptz(3) not null, primary key ("number"));`,
    );
    this.addSql(`alter table "day_seal" add constraint "day_seal_id_unique" unique ("id");`);
    this.addSql(`create index "day_seal_day_number_index" on "day_seal" ("day", "number");`);

    this.addSql(
      `create table "sealed_account" ("seal_id" uuid not null, "account_id" uuid not null, "receipts" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "digest" varchar(255) not null, primary key ("seal_id", "account_id"));`,
    );

    this.addSql(
      `create table "sealed_slice" ("seal_id" uuid not null, "slice_id" uuid not null, "cost" bigint not null, primary key ("seal_id", "slice_id"));`,
    );

    this.addSql(`drop table if exists "archived_cost" cascade;`);

    this.addSql(`alter table "sealed_slice" add constraint "sealed_slice_cost" check (cost >= 0);`);
  }
}
