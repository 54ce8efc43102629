import { Migration } from "@mikro-orm/migrations";

export class Migration20261125045321 extends Migration {
  override name = "Migration20261125045321";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`auto_top_up\` (\`account_id\` text not null primary key, \`below\` bigint not null, \`amount\` bigint not null, \`monthly\` bigint not null, \`state\` text check (\`state\` in ('on', 'off', 'declined')) not null, \`crossing\` integer not null, \`charging\` text null, \`declines\` integer not null, \`not_before\` datetime null, constraint \`auto_top_up_account_id_foreign\` foreign key (\`account_id\`) references \`account\` (\`id\`) on update no action on delete no action);`,
    );
    this.addSql(`create index \`auto_top_up_on\` on \`auto_top_up\` (\`account_id\`) where state = 'on';`);

    this.addSql(
      `create table \`payment_event\` (\`id\` text not null primary key, \`type\` text not null, \`reference\` text not null, \`account_id\` text null, \`amount\` bigint null, \`outcome\` text check (\`outcome\` in ('credited', 'withdrawn', 'unmatched', 'refused', 'postponed')) not null, \`detail\` text not null, \`at\` datetime not null);`,
    );
    this.addSql(`create index \`payment_event_at_id_index\` on \`payment_event\` (\`at\`, \`id\`);`);
    this.addSql(
      `create index \`payment_event_unmatched\` on \`payment_event\` (\`at\`, \`id\`) where outcome = 'unmatched';`,
    );

    this.addSql(
      `create table \`provider_customer\` (\`account_id\` text not null primary key, \`customer\` text not null, constraint \`provider_customer_account_id_foreign\` foreign key (\`account_id\`) references \`account\` (\`id\`) on update no action on delete no action);`,
    );
    this.addSql(`create index \`provider_customer_account_id_index\` on \`provider_customer\` (\`account_id\`);`);

    this.addSql(
      `create table \`provider_payment\` (\`id\` text not null primary key, \`account_id\` text not null, \`origin\` text check (\`origin\` in ('checkout', 'auto', 'elsewhere')) not null, \`cause\` text not null, \`amount\` bigint not null, \`charged\` bigint null, \`state\` text check (\`state\` in ('open', 'paid', 'credited', 'expired', 'declined')) not null, \`session\` text null, \`url\` text null, \`reference\` text null, \`problem\` text null, \`created_at\` datetime not null, \`ask_at\` datetime null, constraint \`provider_payment_account_id_foreign\` foreign key (\`account_id\`) references \`account\` (\`id\`), constraint \`provider_payment_amount\` check (amount > 0 and amount <= 9007199254740991));`,
    );
    this.addSql(`create unique index \`provider_payment_session_unique\` on \`provider_payment\` (\`session\`);`);
    this.addSql(`create unique index \`provider_payment_reference_unique\` on \`provider_payment\` (\`reference\`);`);
    this.addSql(
      `create index \`provider_payment_account_id_created_at_index\` on \`provider_payment\` (\`account_id\`, \`created_at\`);`,
    );
    this.addSql(`create index \`provider_payment_ask\` on \`provider_payment\` (\`ask_at\`) where ask_at is not null;`);
    this.addSql(
      `create unique index \`provider_payment_account_id_origin_cause_unique\` on \`provider_payment\` (\`account_id\`, \`origin\`, \`cause\`);`,
    );

    this.addSql(
      `create table \`withdrawal\` (\`id\` text not null primary key, \`account_id\` text not null, \`payment_id\` text not null, \`kind\` text check (\`kind\` in ('refund', 'elsewhere', 'dispute')) not null, \`cause\` text null, \`amount\` bigint not null, \`paid_back\` bigint not null, \`state\` text check (\`state\` in ('asked', 'withdrawn', 'done', 'refused', 'returned')) not null, \`provider_id\` text null, \`problem\` text null, \`created_at\` datetime not null, \`ask_at\` datetime null, constraint \`withdrawal_account_id_foreign\` foreign key (\`account_id\`) references \`account\` (\`id\`), constraint \`withdrawal_payment_id_foreign\` foreign key (\`payment_id\`) references \`provider_payment\` (\`id\`), constraint \`withdrawal_amount\` check (amount >= 0 and amount <= 9007199254740991));`,
    );
    this.addSql(`create index \`withdrawal_payment_id_index\` on \`withdrawal\` (\`payment_id\`);`);
    this.addSql(`create unique index \`withdrawal_provider_id_unique\` on \`withdrawal\` (\`provider_id\`);`);
    this.addSql(`create index \`withdrawal_ask\` on \`withdrawal\` (\`ask_at\`) where ask_at is not null;`);
    this.addSql(
      `create unique index \`withdrawal_account_id_cause_unique\` on \`withdrawal\` (\`account_id\`, \`cause\`);`,
    );

    this.addSql(`alter table \`payment\` add column \`owed\` bigint not null default '0';`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists \`auto_top_up\`;`);
    this.addSql(`drop table if exists \`payment_event\`;`);
    this.addSql(`drop table if exists \`provider_customer\`;`);
    this.addSql(`drop table if exists \`provider_payment\`;`);
    this.addSql(`drop table if exists \`withdrawal\`;`);

    this.addSql(`alter table \`payment\` drop column \`owed\`;`);
  }
}
