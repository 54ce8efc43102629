import { Migration } from "@mikro-orm/migrations";

/** Sessions of the console and the links that open them. Forward only. */
export class Migration20261122094900 extends Migration {
  override name = "Migration20261122094900";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "console_session" ("id" uuid not null, "digest" bytea not null, "role" text null, "operator_id" uuid null, "account_id" uuid null, "key_id" uuid null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, "key_ids" jsonb not null, primary key ("id"));`,
    );
    this.addSql(`alter table "console_session" add constraint "console_session_digest_unique" unique ("digest");`);
    this.addSql(`create index "console_session_expires_at_index" on "console_session" ("expires_at");`);

    this.addSql(
      `create table "sign_in_link" ("id" uuid not null, "digest" bytea not null, "role" text not null, "operator_id" uuid null, "expires_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "sign_in_link" add constraint "sign_in_link_digest_unique" unique ("digest");`);
    this.addSql(`create index "sign_in_link_expires_at_index" on "sign_in_link" ("expires_at");`);

    this.addSql(
      `alter table "console_session" add constraint "console_session_role_check" check ("role" in ('reader', 'billing', 'owner'));`,
    );

    this.addSql(
      `alter table "sign_in_link" add constraint "sign_in_link_role_check" check ("role" in ('reader', 'billing', 'owner'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "console_session" cascade;`);
    this.addSql(`drop table if exists "sign_in_link" cascade;`);
  }
}
