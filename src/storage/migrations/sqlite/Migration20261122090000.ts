import { Migration } from "@mikro-orm/migrations";

/** Operators have tokens of their own. Forward only. */
export class Migration20261122090000 extends Migration {
  override name = "Migration20261122090000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`operator\` (\`id\` text not null primary key, \`name\` text not null, \`role\` text check (\`role\` in ('reader', 'billing', 'owner')) not null, \`digest\` blob not null, \`created_at\` datetime not null, \`revoked_at\` datetime null);`,
    );
    this.addSql(`create unique index \`operator_digest_unique\` on \`operator\` (\`digest\`);`);
    this.addSql(`create index \`operator_live_name\` on \`operator\` (\`name\`) where revoked_at is null;`);
  }
}
