import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000014 extends Migration {
  override name = "Migration20261126000014";

  override up(): void | Promise<void> {
    this.addSql(`alter table \`person\` add column \`mails\` json null;`);
    this.addSql(`alter table \`api_key\` add column \`warn_at\` datetime null;`);
    this.addSql(`create index \`api_key_warn_at_index\` on \`api_key\` (\`warn_at\`) where warn_at is not null;`);
  }
}
