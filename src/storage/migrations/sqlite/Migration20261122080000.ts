import { Migration } from "@mikro-orm/migrations";

const columns = {
  account: ["frozen_at` datetime", "frozen_reason` text", "max_in_flight` integer", "low_balance` bigint"],
  api_key: [
    "models` json",
    "tokens_per_minute` integer",
    "max_in_flight` integer",
    "budget` bigint",
    "budget_period` text check (`budget_period` in ('total', 'day', 'week', 'month'))",
    "limits_of` text",
  ],
};

/** Limits of keys and accounts, and frozen accounts. */
export class Migration20261122080000 extends Migration {
  override name = "Migration20261122080000";

  override up(): void | Promise<void> {
    this.#each((table, column) => `alter table \`${table}\` add column \`${column} null;`);
  }

  override down(): void | Promise<void> {
    this.#each((table, column) => `alter table \`${table}\` drop column \`${column.replace(/`.*$/, "")}\`;`);
  }

  #each(change: (table: string, column: string) => string): void {
    for (const [table, ofTable] of Object.entries(columns)) {
      for (const column of ofTable) {
        this.addSql(change(table, column));
      }
    }
  }
}
