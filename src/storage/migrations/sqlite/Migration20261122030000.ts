import { Migration } from "@mikro-orm/migrations";

/** Heartbeats are counted, and death is judged by the count. */
export class Migration20261122030000 extends Migration {
  override name = "Migration20261122030000";

  override up(): void | Promise<void> {
    this.addSql(`alter table \`core\` add column \`beats\` integer not null default 0;`);
    this.addSql(`alter table \`core\` add column \`dead_beat\` integer null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table \`core\` drop column \`beats\`;`);
    this.addSql(`alter table \`core\` drop column \`dead_beat\`;`);
  }
}
