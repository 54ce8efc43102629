import { Migration } from "@mikro-orm/migrations";

/** Accounts and keys know the request that made them, so that sent again it makes no other. Forward only. */
export class Migration20261122060000 extends Migration {
  override name = "Migration20261122060000";

  override up(): void | Promise<void> {
    this.addSql(`alter table \`account\` add column \`request_id\` text null;`);
    this.addSql(`create unique index \`account_request_id_unique\` on \`account\` (\`request_id\`);`);

    this.addSql(`alter table \`api_key\` add column \`request_id\` text null;`);
    this.addSql(
      `create unique index \`api_key_account_id_request_id_unique\` on \`api_key\` (\`account_id\`, \`request_id\`);`,
    );
  }
}
