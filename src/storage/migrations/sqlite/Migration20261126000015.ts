import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000015 extends Migration {
  override name = "Migration20261126000015";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`service_step\` (\`seconds\` integer not null, \`at\` integer not null, \`measure\` text not null, \`count\` bigint not null, primary key (\`seconds\`, \`at\`, \`measure\`));`,
    );

    this.addSql(`create index \`account_frozen_index\` on \`account\` (\`id\`) where frozen_at is not null;`);
  }
}
