import { Migration } from "@mikro-orm/migrations";

/** Accounts that move from one database to another. */
export class Migration20261122230000 extends Migration {
  override name = "Migration20261122230000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`account_move\` (\`id\` text not null primary key, \`account_id\` text not null, \`kind\` text check (\`kind\` in ('account', 'rest')) not null, \`generation\` integer not null, \`from_shard\` integer not null, \`to_shard\` integer not null, \`incoming\` integer not null, \`state\` text check (\`state\` in ('closing', 'sent', 'done', 'cancelled', 'arrived')) not null, \`money\` bigint not null, \`debt\` bigint not null, \`paid_total\` bigint not null, \`payload\` text null, \`until\` datetime not null, \`changed_at\` datetime not null);`,
    );
    this.addSql(`create index \`account_move_account_id_index\` on \`account_move\` (\`account_id\`);`);
    this.addSql(`create index \`account_move_changed_at_index\` on \`account_move\` (\`changed_at\`);`);
    this.addSql(`create index \`account_move_open\` on \`account_move\` (\`id\`) where state in ('closing', 'sent');`);

    this.addSql(
      `create table \`lot_move\` (\`move_id\` text not null, \`lot_id\` text not null, \`carried\` bigint not null, \`refunded\` bigint not null, primary key (\`move_id\`, \`lot_id\`), constraint \`lot_move_carried\` check (carried > 0));`,
    );
    this.addSql(`create index \`lot_move_lot_id_index\` on \`lot_move\` (\`lot_id\`);`);

    this.addSql(`alter table \`account\` add column \`move_id\` text null;`);
    this.addSql(`create index \`account_moved_index\` on \`account\` (\`id\`) where move_id is not null;`);

    this.addSql(`alter table \`budget\` add column \`carried\` bigint not null default '0';`);

    this.addSql(`alter table \`payment\` add column \`copied\` integer not null default false;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists \`account_move\`;`);
    this.addSql(`drop table if exists \`lot_move\`;`);

    this.addSql(`drop index \`account_moved_index\`;`);
    this.addSql(`alter table \`account\` drop column \`move_id\`;`);

    this.addSql(`alter table \`budget\` drop column \`carried\`;`);

    this.addSql(`alter table \`payment\` drop column \`copied\`;`);
  }
}
