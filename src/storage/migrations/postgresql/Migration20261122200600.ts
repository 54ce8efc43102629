import { Migration } from "@mikro-orm/migrations";

/** Classes of requests, of accounts and keys. */
export class Migration20261122200600 extends Migration {
  override name = "Migration20261122200600";

  override up(): void | Promise<void> {
    for (const table of ["account", "api_key"]) {
      this.addSql(`alter table "${table}" add "service_class" text null;`);
      this.addSql(
        `alter table "${table}" add constraint "${table}_service_class_check" check ("service_class" in ('flex', 'standard', 'priority'));`,
      );
    }
  }

  override down(): void | Promise<void> {
    for (const table of ["account", "api_key"]) {
      this.addSql(`alter table "${table}" drop constraint "${table}_service_class_check";`);
      this.addSql(`alter table "${table}" drop column "service_class";`);
    }
  }
}
