import { Migration } from "@mikro-orm/migrations";

const columns = {
  finish: "text",
  delivery: "text",
  first_token_ms: "bigint",
  duration_ms: "bigint",
  reasoning_tokens: "bigint",
  cached_input_tokens: "bigint",
  server: "text",
  surface: "text",
};

/** What receipts tell of a run beside its cost: null for those of before. */
export class Migration20261122080100 extends Migration {
  override name = "Migration20261122080100";

  override up(): void | Promise<void> {
    for (const [name, type] of Object.entries(columns)) {
      this.addSql(`alter table \`usage\` add column \`${name}\` ${type} null;`);
    }
  }

  override down(): void | Promise<void> {
    for (const name of Object.keys(columns)) {
      this.addSql(`alter table \`usage\` drop column \`${name}\`;`);
    }
  }
}
