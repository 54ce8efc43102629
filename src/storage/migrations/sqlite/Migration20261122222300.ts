import { Migration } from "@mikro-orm/migrations";

/** Keys with budgets are found without looking at the others. */
export class Migration20261122222300 extends Migration {
  override name = "Migration20261122222300";

  override up(): void | Promise<void> {
    this.addSql(`create index \`api_key_id_index\` on \`api_key\` (\`id\`) where budget is not null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index \`api_key_id_index\`;`);
  }
}
