import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000013 extends Migration {
  override name = "Migration20261126000013";

  override up(): void | Promise<void> {
    this.addSql(
      `create index "account_low_index" on "account" ("id") where balance_told <> 'ample' and last_paid is not null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "account_low_index";`);
  }
}
