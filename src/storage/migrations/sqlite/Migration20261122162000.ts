import { Migration } from "@mikro-orm/migrations";

/** Receipts leave after a time: the files that they are kept in, and what they had cost of each slice. Forward only. */
export class Migration20261122162000 extends Migration {
  override name = "Migration20261122162000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`archived_cost\` (\`slice_id\` text not null primary key, \`cost\` bigint not null, constraint \`archived_cost_amount\` check (cost >= 0));`,
    );

    this.addSql(
      `create table \`receipt_archive\` (\`day\` integer not null primary key, \`receipts\` bigint not null, \`cost_high\` bigint not null, \`cost_low\` bigint not null, \`file\` text not null, \`bytes\` bigint not null, \`sha256\` text not null, \`at\` datetime not null);`,
    );
  }
}
