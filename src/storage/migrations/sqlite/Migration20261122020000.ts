import { Migration } from "@mikro-orm/migrations";

/** The rates of a request's admission, and an index of those who owe. */
export class Migration20261122020000 extends Migration {
  override name = "Migration20261122020000";

  override up(): void | Promise<void> {
    this.addSql(`create index \`account_debt_index\` on \`account\` (\`id\`) where debt > 0;`);
    this.addSql(`alter table \`usage\` add column \`max_input_rate\` bigint null;`);
    this.addSql(`alter table \`usage\` add column \`max_output_rate\` bigint null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index \`account_debt_index\`;`);
    this.addSql(`alter table \`usage\` drop column \`max_input_rate\`;`);
    this.addSql(`alter table \`usage\` drop column \`max_output_rate\`;`);
  }
}
