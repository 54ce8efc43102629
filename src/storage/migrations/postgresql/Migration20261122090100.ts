import { Migration } from "@mikro-orm/migrations";

/** The record of operators' changes, which are neither changed nor deleted. Forward only. */
export class Migration20261122090100 extends Migration {
  override name = "Migration20261122090100";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "audit_event" ("id" uuid not null, "at" timestamptz(3) not null, "operator" varchar(255) not null, "operator_id" uuid null, "method" varchar(255) not null, "target" varchar(255) not null, "before" text null, "after" text not null, "address" varchar(255) not null, primary key ("id"));`,
    );
    this.addSql(`create index "audit_event_at_id_index" on "audit_event" ("at", "id");`);
    this.addSql(
      `create function audit_event_append_only() returns trigger language plpgsql as 'begin raise exception ''the audit log is append-only''; end';`,
    );
    this.addSql(
      `create trigger audit_event_append_only before update or delete or truncate on "audit_event" for each statement execute function audit_event_append_only();`,
    );
  }
}
