import { Migration } from "@mikro-orm/migrations";

/** A place for charges that cannot be made, and a heart for each run of a core. */
export class Migration20261122010000 extends Migration {
  override name = "Migration20261122010000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`dead_letter\` (\`id\` text not null primary key, \`charge\` text not null, \`reason\` text not null, \`core_id\` text not null, \`at\` datetime not null);`,
    );
    this.addSql(`alter table \`core\` rename to \`core_before\`;`);
    this.addSql(
      `create table \`core\` (\`id\` text not null, \`epoch\` integer not null, \`instance\` text null, \`heartbeat_at\` datetime not null, primary key (\`id\`, \`epoch\`));`,
    );
    this.addSql(
      `insert into \`core\` (\`id\`, \`epoch\`, \`heartbeat_at\`) select \`id\`, \`epoch\`, \`heartbeat_at\` from \`core_before\`;`,
    );
    this.addSql(`drop table \`core_before\`;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists \`dead_letter\`;`);
    this.addSql(`alter table \`core\` rename to \`core_after\`;`);
    this.addSql(
      `create table \`core\` (\`id\` text not null primary key, \`epoch\` integer not null, \`heartbeat_at\` datetime not null);`,
    );
    this.addSql(
      `insert into \`core\` (\`id\`, \`epoch\`, \`heartbeat_at\`) select \`id\`, max(\`epoch\`), \`heartbeat_at\` from \`core_after\` group by \`id\`;`,
    );
    this.addSql(`drop table \`core_after\`;`);
  }
}
