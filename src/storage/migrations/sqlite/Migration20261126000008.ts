import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000008 extends Migration {
  override name = "Migration20261126000008";

  override up(): void | Promise<void> {
    this.addSql(`create table \`used_proof\` (\`id\` text not null primary key, \`until\` datetime not null);`);
    this.addSql(`create index \`used_proof_until_index\` on \`used_proof\` (\`until\`);`);

    this.addSql(`alter table \`identity\` add column \`name\` text null;`);
    this.addSql(`alter table \`identity\` add column \`public_key\` blob null;`);
    this.addSql(`alter table \`identity\` add column \`counter\` bigint null;`);
    this.addSql(`alter table \`identity\` add column \`used_at\` datetime null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists \`used_proof\`;`);

    this.addSql(`alter table \`identity\` drop column \`name\`;`);
    this.addSql(`alter table \`identity\` drop column \`public_key\`;`);
    this.addSql(`alter table \`identity\` drop column \`counter\`;`);
    this.addSql(`alter table \`identity\` drop column \`used_at\`;`);
  }
}
