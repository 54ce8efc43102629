import { Migration } from "@mikro-orm/migrations";

/** Sessions of the console and the links that open them. Forward only. */
export class Migration20261122094900 extends Migration {
  override name = "Migration20261122094900";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`console_session\` (\`id\` text not null primary key, \`digest\` blob not null, \`role\` text check (\`role\` in ('reader', 'billing', 'owner')) null, \`operator_id\` text null, \`account_id\` text null, \`key_id\` text null, \`created_at\` datetime not null, \`expires_at\` datetime not null, \`key_ids\` json not null);`,
    );
    this.addSql(`create unique index \`console_session_digest_unique\` on \`console_session\` (\`digest\`);`);
    this.addSql(`create index \`console_session_expires_at_index\` on \`console_session\` (\`expires_at\`);`);

    this.addSql(
      `create table \`sign_in_link\` (\`id\` text not null primary key, \`digest\` blob not null, \`role\` text check (\`role\` in ('reader', 'billing', 'owner')) not null, \`operator_id\` text null, \`expires_at\` datetime not null);`,
    );
    this.addSql(`create unique index \`sign_in_link_digest_unique\` on \`sign_in_link\` (\`digest\`);`);
    this.addSql(`create index \`sign_in_link_expires_at_index\` on \`sign_in_link\` (\`expires_at\`);`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists \`console_session\`;`);
    this.addSql(`drop table if exists \`sign_in_link\`;`);
  }
}
