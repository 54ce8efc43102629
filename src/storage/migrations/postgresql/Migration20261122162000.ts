import { Migration } from "@mikro-orm/migrations";

/** Receipts leave after a time: the files that they are kept in, and what they had cost of each slice. Forward only. */
export class Migration20261122162000 extends Migration {
  override name = "Migration20261122162000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "archived_cost" ("slice_id" uuid not null, "cost" bigint not null, primary key ("slice_id"));`,
    );

    this.addSql(
      `create table "receipt_archive" ("day" int not null, "receipts" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "file" varchar(255) not null, "bytes" bigint not null, "sha256" varchar(255) not null, "at" timestamptz(3) not null, primary key ("day"));`,
    );

    this.addSql(`alter table "archived_cost" add constraint "archived_cost_amount" check (cost >= 0);`);
  }
}
