import { Migration } from "@mikro-orm/migrations";

/** Budgets of keys, leased to cores like lots, and the slice that a receipt counts in. Forward only. */
export class Migration20261122071000 extends Migration {
  override name = "Migration20261122071000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`budget\` (\`id\` text not null, \`window_name\` text not null, \`account_id\` text not null, \`bound\` bigint not null, \`prior\` bigint not null, \`leased\` bigint not null, \`spent\` bigint not null, primary key (\`id\`, \`window_name\`), constraint \`budget_parts\` check (prior >= 0 and leased >= 0 and spent >= 0));`,
    );

    this.addSql(
      `create table \`budget_slice\` (\`id\` text not null primary key, \`budget_id\` text not null, \`window_name\` text not null, \`core_id\` text not null, \`epoch\` integer not null, \`granted\` bigint not null, \`spent\` bigint not null, \`open\` integer not null, constraint \`budget_slice_amounts\` check (granted >= 0 and spent >= 0));`,
    );
    this.addSql(`create index \`budget_slice_core_id_index\` on \`budget_slice\` (\`core_id\`) where open;`);
    this.addSql(
      `create index \`budget_slice_budget_id_window_name_index\` on \`budget_slice\` (\`budget_id\`, \`window_name\`) where open;`,
    );

    this.addSql(`alter table \`usage\` add column \`budget_slice_id\` text null;`);
  }
}
