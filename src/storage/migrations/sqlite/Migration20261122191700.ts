import { Migration } from "@mikro-orm/migrations";

export class Migration20261122191700 extends Migration {
  override name = "Migration20261122191700";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`claim\` (\`kind\` text not null, \`name\` text not null, \`account_id\` text not null, primary key (\`kind\`, \`name\`));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists \`claim\`;`);
  }
}
