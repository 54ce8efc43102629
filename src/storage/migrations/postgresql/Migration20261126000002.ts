import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000002 extends Migration {
  override name = "Migration20261126000002";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "api_key" add "manages" boolean not null default false, add "disabled" boolean not null default false, add "updated_at" timestamptz(3) null;`,
    );

    this.addSql(`alter table "audit_event" add "key_id" uuid null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "api_key" drop column "manages", drop column "disabled", drop column "updated_at";`);

    this.addSql(`alter table "audit_event" drop column "key_id";`);
  }
}
