import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000004 extends Migration {
  override name = "Migration20261126000004";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`mail\` (\`id\` text not null primary key, \`kind\` text not null, \`address\` text not null, \`event_id\` text null, \`network\` text null, \`content\` text not null, \`at\` datetime not null, \`until\` datetime not null, \`status\` text check (\`status\` in ('pending', 'sent', 'failed')) not null, \`attempts\` integer not null, \`next_at\` datetime null, \`first_at\` datetime null, \`error\` text not null);`,
    );
    this.addSql(`create index \`mail_due\` on \`mail\` (\`next_at\`) where status = 'pending';`);
    this.addSql(`create index \`mail_address_at_index\` on \`mail\` (\`address\`, \`at\`);`);
    this.addSql(`create index \`mail_network_at_index\` on \`mail\` (\`network\`, \`at\`);`);
    this.addSql(`create index \`mail_at_index\` on \`mail\` (\`at\`);`);
    this.addSql(`create index \`mail_failed\` on \`mail\` (\`at\`) where status = 'failed';`);
    this.addSql(`create unique index \`mail_event_id_address_unique\` on \`mail\` (\`event_id\`, \`address\`);`);

    this.addSql(
      `create table \`model_day\` (\`day\` integer not null, \`model\` text not null, \`measure\` text not null, \`count\` bigint not null, primary key (\`day\`, \`model\`, \`measure\`));`,
    );

    this.addSql(`alter table \`account\` add column \`email\` text null;`);

    this.addSql(`create index \`price_version_published_at_index\` on \`price_version\` (\`published_at\`);`);
  }
}
