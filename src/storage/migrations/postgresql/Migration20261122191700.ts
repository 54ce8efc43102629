import { Migration } from "@mikro-orm/migrations";

export class Migration20261122191700 extends Migration {
  override name = "Migration20261122191700";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "claim" ("kind" varchar(255) not null, "name" varchar(255) not null, "account_id" uuid not null, primary key ("kind", "name"));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "claim" cascade;`);
  }
}
