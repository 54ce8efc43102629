import { Migration } from "@mikro-orm/migrations";

/** Days that are over are sealed; what receipts cost stays in the seals. */
export class Migration20261126000006 extends Migration {
  override name = "Migration20261126000006";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`day_seal\` (\`number\` integer not null primary key, \`id\` text not null, \`day\` integer not null, \`receipts\` bigint not null, \`cost_high\` bigint not null, \`cost_low\` bigint not null, \`root\` text not null, \`chain\` text not null, \`at\` datetime not null);`,
    );
    this.addSql(`create unique index \`day_seal_id_unique\` on \`day_seal\` (\`id\`);`);
    this.addSql(`create index \`day_seal_day_number_index\` on \`day_seal\` (\`day\`, \`number\`);`);

    this.addSql(
      `create table \`sealed_account\` (\`seal_id\` text not null, \`account_id\` text not null, \`receipts\` bigint not null, \`cost_high\` bigint not null, \`cost_low\` bigint not null, \`digest\` text not null, primary key (\`seal_id\`, \`account_id\`));`,
    );

    this.addSql(
      `create table \`sealed_slice\` (\`seal_id\` text not null, \`slice_id\` text not null, \`cost\` bigint not null, primary key (\`seal_id\`, \`slice_id\`), constraint \`sealed_slice_cost\` check (cost >= 0));`,
    );

    this.addSql(`drop table if exists \`archived_cost\`;`);
  }
}
