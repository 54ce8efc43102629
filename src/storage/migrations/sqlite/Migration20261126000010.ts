import { Migration } from "@mikro-orm/migrations";

const isFree = "granted > spent + leased + refunded + expired";

/**
 * SQLite cannot change a check or allow nulls in a table that is there: lots are copied into a new one, and with them the
 * tables that refer to them.
 */
export class Migration20261126000010 extends Migration {
  override name = "Migration20261126000010";

  override up(): void | Promise<void> {
    this.addSql(
      "alter table `account` add column `credit_line` bigint not null default '0' check (credit_line >= 0 and credit_line <= 9007199254740991);",
    );
    this.addSql("create index `account_credit_index` on `account` (`id`) where credit_line > 0;");

    for (const index of [
      "lot_price_version_id_index",
      "lot_payment_id_index",
      "lot_payment_id_unique",
      "lot_account_id_id_index",
      "lot_spending_expiring",
      "lot_spending_lasting",
      "lot_expiry",
      "lot_entry_lot_id_index",
      "slice_lot_id_index",
      "slice_core_id_index",
      "slice_account_id_index",
    ]) {
      this.addSql(`drop index \`${index}\`;`);
    }
    for (const table of ["lot", "lot_entry", "slice"]) {
      this.addSql(`alter table \`${table}\` rename to \`${table}_before\`;`);
    }

    this.addSql(
      "create table `lot` (`id` text not null primary key, `account_id` text not null, `kind` text check (`kind` in ('free', 'grant', 'paid', 'credit')) not null, `priority` integer not null, `granted` bigint not null, `spent` bigint not null, `leased` bigint not null, `refunded` bigint not null, `expired` bigint not null, `repaid` bigint not null default '0', `price_version_id` integer not null, `own_prices_id` text null, `created_at` datetime not null, `expires_at` datetime null, `payment_id` text null, constraint `lot_account_id_foreign` foreign key (`account_id`) references `account` (`id`), constraint `lot_price_version_id_foreign` foreign key (`price_version_id`) references `price_version` (`id`), constraint `lot_own_prices_id_foreign` foreign key (`own_prices_id`) references `own_prices` (`id`) on delete no action, constraint `lot_payment_id_foreign` foreign key (`payment_id`) references `payment` (`id`), constraint `lot_granted` check (granted > 0 and granted <= 9007199254740991), constraint `lot_parts` check (spent >= 0 and leased >= 0 and refunded >= 0 and expired >= 0), constraint `lot_own_prices` check (own_prices_id is null or kind = 'paid' or kind = 'credit'), constraint `lot_repaid` check (repaid >= 0 and repaid <= granted - refunded and (repaid = 0 or kind = 'credit')), constraint `lot_origin` check ((kind = 'credit') = (payment_id is null)), constraint `lot_sum` check (spent + leased + refunded + expired <= granted));",
    );
    this.addSql(
      "insert into `lot` select `id`, `account_id`, `kind`, `priority`, `granted`, `spent`, `leased`, `refunded`, `expired`, 0, `price_version_id`, null, `created_at`, `expires_at`, `payment_id` from `lot_before`;",
    );
    this.addSql("create index `lot_price_version_id_index` on `lot` (`price_version_id`);");
    this.addSql("create index `lot_payment_id_index` on `lot` (`payment_id`);");
    this.addSql("create unique index `lot_payment_id_unique` on `lot` (`payment_id`);");
    this.addSql("create index `lot_account_id_id_index` on `lot` (`account_id`, `id`);");
    this.addSql(
      `create index \`lot_spending_expiring\` on \`lot\` (\`account_id\`, \`priority\`, \`expires_at\`, \`created_at\`, \`id\`) where ${isFree} and expires_at is not null;`,
    );
    this.addSql(
      `create index \`lot_spending_lasting\` on \`lot\` (\`account_id\`, \`priority\`, \`created_at\`, \`id\`) where ${isFree} and expires_at is null;`,
    );
    this.addSql(
      `create index \`lot_expiry\` on \`lot\` (\`expires_at\`, \`id\`) where ${isFree} and expires_at is not null;`,
    );
    this.addSql(
      "create index `lot_credit` on `lot` (`account_id`, `id`) where kind = 'credit' and (repaid <> spent or granted > spent + refunded);",
    );

    this.addSql(
      "create table `lot_entry` (`id` text not null primary key, `lot_id` text not null, `kind` text check (`kind` in ('grant', 'refund', 'expire', 'debt', 'repaid')) not null, `amount` bigint not null, `payment_id` text null, `at` datetime not null, constraint `lot_entry_lot_id_foreign` foreign key (`lot_id`) references `lot` (`id`), constraint `lot_entry_amount` check (amount > 0 and amount <= 9007199254740991));",
    );
    this.addSql("insert into `lot_entry` select * from `lot_entry_before`;");
    this.addSql("create index `lot_entry_lot_id_index` on `lot_entry` (`lot_id`);");

    this.addSql(
      "create table `slice` (`id` text not null primary key, `lot_id` text not null, `account_id` text not null, `core_id` text not null, `epoch` integer not null, `granted` bigint not null, `spent` bigint not null, `open` integer not null, constraint `slice_lot_id_foreign` foreign key (`lot_id`) references `lot` (`id`), constraint `slice_granted` check (granted >= 0 and granted <= 9007199254740991), constraint `slice_spent` check (spent >= 0 and spent <= granted));",
    );
    this.addSql("insert into `slice` select * from `slice_before`;");
    this.addSql("create index `slice_lot_id_index` on `slice` (`lot_id`) where open;");
    this.addSql("create index `slice_core_id_index` on `slice` (`core_id`) where open;");
    this.addSql("create index `slice_account_id_index` on `slice` (`account_id`) where open;");

    for (const table of ["slice", "lot_entry", "lot"]) {
      this.addSql(`drop table \`${table}_before\`;`);
    }
  }
}
