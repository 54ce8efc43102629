import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000005 extends Migration {
  override name = "Migration20261126000005";

  override up(): void | Promise<void> {
    this.addSql(`create index \`console_session_account_id_index\` on \`console_session\` (\`account_id\`);`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index \`console_session_account_id_index\`;`);
  }
}
