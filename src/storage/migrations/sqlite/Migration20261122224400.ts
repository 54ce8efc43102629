import { Migration } from "@mikro-orm/migrations";

/** Sums of usage in slots of several lengths. Those of a database that has rollups are built beside requests. Forward only. */
export class Migration20261122224400 extends Migration {
  override name = "Migration20261122224400";

  override up(): void | Promise<void> {
    // Without row ids the rows lie in the order of the key: what is read together is in the same pages.
    this.addSql(
      `create table \`usage_span\` (\`hours\` integer not null, \`detail\` text check (\`detail\` in ('account', 'key')) not null, \`slot\` integer not null, \`account_id\` text not null, \`key_id\` text not null, \`model\` text not null, \`requests\` bigint not null, \`input_tokens\` bigint not null, \`output_tokens\` bigint not null, \`cost_high\` bigint not null, \`cost_low\` bigint not null, \`shortfall\` bigint not null, primary key (\`hours\`, \`detail\`, \`slot\`, \`account_id\`, \`key_id\`, \`model\`)) without rowid;`,
    );
    this.addSql(
      `create table \`usage_span_build\` (\`account_id\` text not null primary key, \`slot\` integer not null, \`key_id\` text not null, \`model\` text not null);`,
    );
    this.addSql(`insert into usage_span_build (account_id, slot, key_id, model)
      select '00000000-0000-0000-0000-000000000000', 2147483647, '', '' where exists (select 1 from usage_rollup);`);
  }
}
