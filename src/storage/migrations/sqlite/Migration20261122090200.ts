import { Migration } from "@mikro-orm/migrations";

/** Events, the endpoints that are told of them, and their deliveries. Forward only. */
export class Migration20261122090200 extends Migration {
  override name = "Migration20261122090200";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`event\` (\`id\` text not null primary key, \`type\` text not null, \`account_id\` text null, \`body\` text not null, \`at\` datetime not null, \`spread\` integer not null default false);`,
    );
    this.addSql(`create index \`event_at_id_index\` on \`event\` (\`at\`, \`id\`);`);
    this.addSql(`create index \`event_not_spread\` on \`event\` (\`at\`, \`id\`) where not spread;`);

    this.addSql(
      `create table \`webhook\` (\`id\` text not null primary key, \`url\` text not null, \`events\` text not null, \`secret\` text not null, \`previous_secret\` text null, \`previous_until\` datetime null, \`created_at\` datetime not null);`,
    );

    this.addSql(
      `create table \`delivery\` (\`id\` text not null primary key, \`webhook_id\` text not null, \`event_id\` text not null, \`type\` text not null, \`lane\` text not null, \`at\` datetime not null, \`status\` text check (\`status\` in ('pending', 'delivered', 'failed')) not null, \`attempts\` integer not null, \`next_at\` datetime null, \`first_at\` datetime null, \`delivered_at\` datetime null, \`response_status\` integer null, \`error\` text not null, constraint \`delivery_webhook_id_foreign\` foreign key (\`webhook_id\`) references \`webhook\` (\`id\`));`,
    );
    this.addSql(
      `create index \`delivery_due\` on \`delivery\` (\`next_at\`) where status = 'pending' and next_at is not null;`,
    );
    this.addSql(
      `create index \`delivery_lane\` on \`delivery\` (\`webhook_id\`, \`lane\`, \`at\`, \`event_id\`) where status = 'pending';`,
    );
    this.addSql(
      `create index \`delivery_webhook_id_at_event_id_index\` on \`delivery\` (\`webhook_id\`, \`at\`, \`event_id\`);`,
    );
    this.addSql(`create index \`delivery_at_index\` on \`delivery\` (\`at\`);`);
    this.addSql(
      `create unique index \`delivery_webhook_id_event_id_unique\` on \`delivery\` (\`webhook_id\`, \`event_id\`);`,
    );

    this.addSql(
      `create table \`work_lease\` (\`name\` text not null primary key, \`holder\` text not null, \`until\` datetime not null);`,
    );
  }
}
