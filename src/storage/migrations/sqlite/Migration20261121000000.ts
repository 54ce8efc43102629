import { Migration } from "@mikro-orm/migrations";

export class Migration20261121000000 extends Migration {
  override name = "Migration20261121000000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`account\` (\`id\` text not null primary key, \`name\` text not null, \`max_keys\` integer not null, \`created_at\` datetime not null, \`paid_total\` bigint check (paid_total >= 0) not null, \`debt\` bigint check (debt >= 0) not null);`,
    );

    this.addSql(
      `create table \`api_key\` (\`id\` text not null primary key, \`account_id\` text not null, \`name\` text not null, \`digest\` blob not null, \`pepper_version\` integer not null, \`prefix\` text not null, \`last4\` text not null, \`rpm\` integer null, \`created_at\` datetime not null, \`expires_at\` datetime null, \`revoked_at\` datetime null, \`last_used_at\` datetime null, \`rotated_to\` text null, \`rotated_from\` text null, constraint \`api_key_account_id_foreign\` foreign key (\`account_id\`) references \`account\` (\`id\`));`,
    );
    this.addSql(`create index \`api_key_account_id_index\` on \`api_key\` (\`account_id\`);`);
    this.addSql(`create unique index \`api_key_digest_unique\` on \`api_key\` (\`digest\`);`);

    this.addSql(
      `create table \`core\` (\`id\` text not null primary key, \`epoch\` integer not null, \`heartbeat_at\` datetime not null);`,
    );

    this.addSql(
      `create table \`payment\` (\`id\` text not null primary key, \`account_id\` text not null, \`kind\` text check (\`kind\` in ('free', 'grant', 'paid', 'refund')) not null, \`amount\` bigint not null, \`reference\` text not null, \`lot_id\` text not null, \`at\` datetime not null, constraint \`payment_account_id_foreign\` foreign key (\`account_id\`) references \`account\` (\`id\`), constraint \`payment_amount\` check (amount > 0 and amount <= 9007199254740991));`,
    );
    this.addSql(`create index \`payment_account_id_index\` on \`payment\` (\`account_id\`);`);
    this.addSql(`create unique index \`payment_reference_unique\` on \`payment\` (\`reference\`);`);
    this.addSql(`create index \`payment_account_id_at_index\` on \`payment\` (\`account_id\`, \`at\`);`);

    this.addSql(
      `create table \`price_version\` (\`id\` integer not null primary key, \`published_at\` datetime not null);`,
    );

    this.addSql(
      `create table \`price\` (\`version_id\` integer not null, \`model\` text not null, \`input\` bigint not null, \`output\` bigint not null, \`base_input\` bigint not null, \`base_output\` bigint not null, \`configured_input\` bigint not null, \`configured_output\` bigint not null, \`pinned\` integer not null, \`introduced_in\` integer not null, primary key (\`version_id\`, \`model\`), constraint \`price_version_id_foreign\` foreign key (\`version_id\`) references \`price_version\` (\`id\`), constraint \`price_amounts\` check (input >= 0 and output >= 0 and base_input >= 0 and base_output >= 0));`,
    );
    this.addSql(`create index \`price_version_id_index\` on \`price\` (\`version_id\`);`);
    this.addSql(`create index \`price_model_version_id_index\` on \`price\` (\`model\`, \`version_id\`);`);

    this.addSql(
      `create table \`lot\` (\`id\` text not null primary key, \`account_id\` text not null, \`kind\` text check (\`kind\` in ('free', 'grant', 'paid')) not null, \`priority\` integer not null, \`granted\` bigint not null, \`spent\` bigint not null, \`leased\` bigint not null, \`refunded\` bigint not null, \`expired\` bigint not null, \`price_version_id\` integer not null, \`created_at\` datetime not null, \`expires_at\` datetime null, \`payment_id\` text not null, constraint \`lot_account_id_foreign\` foreign key (\`account_id\`) references \`account\` (\`id\`), constraint \`lot_price_version_id_foreign\` foreign key (\`price_version_id\`) references \`price_version\` (\`id\`), constraint \`lot_payment_id_foreign\` foreign key (\`payment_id\`) references \`payment\` (\`id\`), constraint \`lot_granted\` check (granted > 0 and granted <= 9007199254740991), constraint \`lot_parts\` check (spent >= 0 and leased >= 0 and refunded >= 0 and expired >= 0), constraint \`lot_sum\` check (spent + leased + refunded + expired <= granted));`,
    );
    this.addSql(`create index \`lot_price_version_id_index\` on \`lot\` (\`price_version_id\`);`);
    this.addSql(`create index \`lot_payment_id_index\` on \`lot\` (\`payment_id\`);`);
    this.addSql(`create unique index \`lot_payment_id_unique\` on \`lot\` (\`payment_id\`);`);
    this.addSql(`create index \`lot_account_id_index\` on \`lot\` (\`account_id\`);`);

    this.addSql(
      `create table \`lot_entry\` (\`id\` text not null primary key, \`lot_id\` text not null, \`kind\` text check (\`kind\` in ('grant', 'refund', 'expire', 'debt')) not null, \`amount\` bigint not null, \`payment_id\` text null, \`at\` datetime not null, constraint \`lot_entry_lot_id_foreign\` foreign key (\`lot_id\`) references \`lot\` (\`id\`), constraint \`lot_entry_amount\` check (amount > 0 and amount <= 9007199254740991));`,
    );
    this.addSql(`create index \`lot_entry_lot_id_index\` on \`lot_entry\` (\`lot_id\`);`);

    this.addSql(`create table \`setting\` (\`name\` text not null primary key, \`value\` text not null);`);

    this.addSql(
      `create table \`slice\` (\`id\` text not null primary key, \`lot_id\` text not null, \`account_id\` text not null, \`core_id\` text not null, \`epoch\` integer not null, \`granted\` bigint not null, \`spent\` bigint not null, \`open\` integer not null, constraint \`slice_lot_id_foreign\` foreign key (\`lot_id\`) references \`lot\` (\`id\`), constraint \`slice_granted\` check (granted >= 0 and granted <= 9007199254740991), constraint \`slice_spent\` check (spent >= 0 and spent <= granted));`,
    );
    this.addSql(`create index \`slice_lot_id_index\` on \`slice\` (\`lot_id\`);`);
    this.addSql(`create index \`slice_core_id_open_index\` on \`slice\` (\`core_id\`, \`open\`);`);

    this.addSql(
      `create table \`usage\` (\`request_id\` text not null primary key, \`account_id\` text not null, \`key_id\` text not null, \`model\` text not null, \`input_tokens\` integer not null, \`output_tokens\` integer not null, \`cost\` bigint not null, \`shortfall\` bigint not null, \`status\` text check (\`status\` in ('completed', 'cancelled', 'failed', 'recovered')) not null, \`settled_at\` datetime not null, constraint \`usage_tokens\` check (input_tokens >= 0 and output_tokens >= 0), constraint \`usage_cost\` check (shortfall >= 0 and shortfall <= cost and cost <= 9007199254740991));`,
    );
    this.addSql(`create index \`usage_account_id_settled_at_index\` on \`usage\` (\`account_id\`, \`settled_at\`);`);
    this.addSql(`create index \`usage_settled_at_index\` on \`usage\` (\`settled_at\`);`);

    this.addSql(
      `create table \`usage_line\` (\`request_id\` text not null, \`seq\` integer not null, \`lot_id\` text not null, \`slice_id\` text not null, \`input_tokens\` integer not null, \`output_tokens\` integer not null, \`input_rate\` bigint not null, \`output_rate\` bigint not null, \`cost\` bigint not null, primary key (\`request_id\`, \`seq\`), constraint \`usage_line_amounts\` check (input_tokens >= 0 and output_tokens >= 0 and cost >= 0 and cost <= 9007199254740991));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists \`account\`;`);
    this.addSql(`drop table if exists \`api_key\`;`);
    this.addSql(`drop table if exists \`core\`;`);
    this.addSql(`drop table if exists \`payment\`;`);
    this.addSql(`drop table if exists \`price_version\`;`);
    this.addSql(`drop table if exists \`price\`;`);
    this.addSql(`drop table if exists \`lot\`;`);
    this.addSql(`drop table if exists \`lot_entry\`;`);
    this.addSql(`drop table if exists \`setting\`;`);
    this.addSql(`drop table if exists \`slice\`;`);
    this.addSql(`drop table if exists \`usage\`;`);
    this.addSql(`drop table if exists \`usage_line\`;`);
  }
}
