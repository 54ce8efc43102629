import { Migration } from "@mikro-orm/migrations";

/** Operators have tokens of their own. Forward only. */
export class Migration20261122090000 extends Migration {
  override name = "Migration20261122090000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "operator" ("id" uuid not null, "name" varchar(255) not null, "role" text not null, "digest" bytea not null, "created_at" timestamptz(3) not null, "revoked_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`alter table "operator" add constraint "operator_digest_unique" unique ("digest");`);
    this.addSql(`create index "operator_live_name" on "operator" ("name") where revoked_at is null;`);

    this.addSql(
      `alter table "operator" add constraint "operator_role_check" check ("role" in ('reader', 'billing', 'owner'));`,
    );
  }
}
