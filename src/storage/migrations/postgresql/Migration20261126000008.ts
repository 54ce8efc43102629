import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000008 extends Migration {
  override name = "Migration20261126000008";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "used_proof" ("id" varchar(255) not null, "until" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "used_proof_until_index" on "used_proof" ("until");`);

    this.addSql(
      `alter table "identity" add "name" varchar(255) null, add "public_key" bytea null, add "counter" bigint null, add "used_at" timestamptz(3) null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "used_proof" cascade;`);

    this.addSql(
      `alter table "identity" drop column "name", drop column "public_key", drop column "counter", drop column "used_at";`,
    );
  }
}
