import { Migration } from "@mikro-orm/migrations";

/**
 * Every run of a request has a receipt of its own. Receipts of before are those of run zero. Forward only: two runs do
 * not fit under one id.
 */
export class Migration20261122040000 extends Migration {
  override name = "Migration20261122040000";

  override up(): void | Promise<void> {
    for (const [table, key] of [
      ["usage", `"request_id", "run_id"`],
      ["usage_line", `"request_id", "run_id", "seq"`],
    ]) {
      this.addSql(`alter table "${table}" drop constraint "${table}_pkey";`);
      this.addSql(`alter table "${table}" add "run_id" uuid not null default '00000000-0000-0000-0000-000000000000';`);
      this.addSql(`alter table "${table}" alter column "run_id" drop default;`);
      this.addSql(`alter table "${table}" add primary key (${key});`);
    }
  }
}
