import { Migration } from "@mikro-orm/migrations";

/** Versions of prices have marks. */
export class Migration20261122140000 extends Migration {
  override name = "Migration20261122140000";

  override up(): void | Promise<void> {
    this.addSql(`alter table \`price_version\` add column \`mark\` text not null default '';`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table \`price_version\` drop column \`mark\`;`);
  }
}
