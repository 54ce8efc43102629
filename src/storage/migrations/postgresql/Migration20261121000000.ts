import { Migration } from "@mikro-orm/migrations";

export class Migration20261121000000 extends Migration {
  override name = "Migration20261121000000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "account" ("id" uuid not null, "name" varchar(255) not null, "max_keys" int not null, "created_at" timestamptz(3) not null, "paid_total" bigint not null, "debt" bigint not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "api_key" ("id" uuid not null, "account_id" uuid not null, "name" varchar(255) not null, "digest" bytea not null, "pepper_version" int not null, "prefix" varchar(255) not null, "last4" varchar(255) not null, "rpm" int null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) null, "revoked_at" timestamptz(3) null, "last_used_at" timestamptz(3) null, "rotated_to" uuid null, "rotated_from" uuid null, primary key ("id"));`,
    );
    this.addSql(`create index "api_key_account_id_index" on "api_key" ("account_id");`);
    this.addSql(`alter table "api_key" add constraint "api_key_digest_unique" unique ("digest");`);

    this.addSql(
      `create table "core" ("id" uuid not null, "epoch" int not null, "heartbeat_at" timestamptz(3) not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "payment" ("id" uuid not null, "account_id" uuid not null, "kind" text not null, "amount" bigint not null, "reference" varchar(255) not null, "lot_id" uuid not null, "at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "payment" add constraint "payment_reference_unique" unique ("reference");`);
    this.addSql(`create index "payment_account_id_at_index" on "payment" ("account_id", "at");`);

    this.addSql(
      `create table "price_version" ("id" int not null, "published_at" timestamptz(3) not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "price" ("version_id" int not null, "model" varchar(255) not null, "input" bigint not null, "output" bigint not null, "base_input" bigint not null, "base_output" bigint not null, "configured_input" bigint not null, "configured_output" bigint not null, "pinned" boolean not null, "introduced_in" int not null, primary key ("version_id", "model"));`,
    );
    this.addSql(`create index "price_model_version_id_index" on "price" ("model", "version_id");`);

    this.addSql(
      `create table "lot" ("id" uuid not null, "account_id" uuid not null, "kind" text not null, "priority" int not null, "granted" bigint not null, "spent" bigint not null, "leased" bigint not null, "refunded" bigint not null, "expired" bigint not null, "price_version_id" int not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) null, "payment_id" uuid not null, primary key ("id"));`,
    );
    this.addSql(`alter table "lot" add constraint "lot_payment_id_unique" unique ("payment_id");`);
    this.addSql(`create index "lot_account_id_index" on "lot" ("account_id");`);

    this.addSql(
      `create table "lot_entry" ("id" uuid not null, "lot_id" uuid not null, "kind" text not null, "amount" bigint not null, "payment_id" uuid null, "at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "lot_entry_lot_id_index" on "lot_entry" ("lot_id");`);

    this.addSql(`create table "setting" ("name" varchar(255) not null, "value" text not null, primary key ("name"));`);

    this.addSql(
      `create table "slice" ("id" uuid not null, "lot_id" uuid not null, "account_id" uuid not null, "core_id" uuid not null, "epoch" int not null, "granted" bigint not null, "spent" bigint not null, "open" boolean not null, primary key ("id"));`,
    );
    this.addSql(`create index "slice_lot_id_index" on "slice" ("lot_id");`);
    this.addSql(`create index "slice_core_id_open_index" on "slice" ("core_id", "open");`);

    this.addSql(
      `create table "usage" ("request_id" varchar(255) not null, "account_id" uuid not null, "key_id" varchar(255) not null, "model" varchar(255) not null, "input_tokens" int not null, "output_tokens" int not null, "cost" bigint not null, "shortfall" bigint not null, "status" text not null, "settled_at" timestamptz(3) not null, primary key ("request_id"));`,
    );
    this.addSql(`create index "usage_account_id_settled_at_index" on "usage" ("account_id", "settled_at");`);
    this.addSql(`create index "usage_settled_at_index" on "usage" ("settled_at");`);

    this.addSql(
      `create table "usage_line" ("request_id" varchar(255) not null, "seq" int not null, "lot_id" uuid not null, "slice_id" uuid not null, "input_tokens" int not null, "output_tokens" int not null, "input_rate" bigint not null, "output_rate" bigint not null, "cost" bigint not null, primary key ("request_id", "seq"));`,
    );

    this.addSql(`alter table "account" add constraint "account_paid_total_check" check (paid_total >= 0);`);
    this.addSql(`alter table "account" add constraint "account_debt_check" check (debt >= 0);`);

    this.addSql(
      `alter table "api_key" add constraint "api_key_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );

    this.addSql(
      `alter table "payment" add constraint "payment_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );
    this.addSql(
      `alter table "payment" add constraint "payment_amount" check (amount > 0 and amount <= 9007199254740991);`,
    );
    this.addSql(
      `alter table "payment" add constraint "payment_kind_check" check ("kind" in ('free', 'grant', 'paid', 'refund'));`,
    );

    this.addSql(
      `alter table "price" add constraint "price_version_id_foreign" foreign key ("version_id") references "price_version" ("id");`,
    );
    this.addSql(
      `alter table "price" add constraint "price_amounts" check (input >= 0 and output >= 0 and base_input >= 0 and base_output >= 0);`,
    );

    this.addSql(
      `alter table "lot" add constraint "lot_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );
    this.addSql(
      `alter table "lot" add constraint "lot_price_version_id_foreign" foreign key ("price_version_id") references "price_version" ("id");`,
    );
    this.addSql(
      `alter table "lot" add constraint "lot_payment_id_foreign" foreign key ("payment_id") references "payment" ("id");`,
    );
    this.addSql(`alter table "lot" add constraint "lot_granted" check (granted > 0 and granted <= 9007199254740991);`);
    this.addSql(
      `alter table "lot" add constraint "lot_parts" check (spent >= 0 and leased >= 0 and refunded >= 0 and expired >= 0);`,
    );
    this.addSql(`alter table "lot" add constraint "lot_sum" check (spent + leased + refunded + expired <= granted);`);
    this.addSql(`alter table "lot" add constraint "lot_kind_check" check ("kind" in ('free', 'grant', 'paid'));`);

    this.addSql(
      `alter table "lot_entry" add constraint "lot_entry_lot_id_foreign" foreign key ("lot_id") references "lot" ("id");`,
    );
    this.addSql(
      `alter table "lot_entry" add constraint "lot_entry_amount" check (amount > 0 and amount <= 9007199254740991);`,
    );
    this.addSql(
      `alter table "lot_entry" add constraint "lot_entry_kind_check" check ("kind" in ('grant', 'refund', 'expire', 'debt'));`,
    );

    this.addSql(
      `alter table "slice" add constraint "slice_lot_id_foreign" foreign key ("lot_id") references "lot" ("id");`,
    );
    this.addSql(
      `alter table "slice" add constraint "slice_granted" check (granted >= 0 and granted <= 9007199254740991);`,
    );
    this.addSql(`alter table "slice" add constraint "slice_spent" check (spent >= 0 and spent <= granted);`);

    this.addSql(`alter table "usage" add constraint "usage_tokens" check (input_tokens >= 0 and output_tokens >= 0);`);
    this.addSql(
      `alter table "usage" add constraint "usage_cost" check (shortfall >= 0 and shortfall <= cost and cost <= 9007199254740991);`,
    );
    this.addSql(
      `alter table "usage" add constraint "usage_status_check" check ("status" in ('completed', 'cancelled', 'failed', 'recovered'));`,
    );

    this.addSql(
      `alter table "usage_line" add constraint "usage_line_amounts" check (input_tokens >= 0 and output_tokens >= 0 and cost >= 0 and cost <= 9007199254740991);`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "api_key" drop constraint "api_key_account_id_foreign";`);
    this.addSql(`alter table "payment" drop constraint "payment_account_id_foreign";`);
    this.addSql(`alter table "lot" drop constraint "lot_account_id_foreign";`);
    this.addSql(`alter table "lot" drop constraint "lot_payment_id_foreign";`);
    this.addSql(`alter table "price" drop constraint "price_version_id_foreign";`);
    this.addSql(`alter table "lot" drop constraint "lot_price_version_id_foreign";`);
    this.addSql(`alter table "lot_entry" drop constraint "lot_entry_lot_id_foreign";`);
    this.addSql(`alter table "slice" drop constraint "slice_lot_id_foreign";`);

    this.addSql(`drop table if exists "account" cascade;`);
    this.addSql(`drop table if exists "api_key" cascade;`);
    this.addSql(`drop table if exists "core" cascade;`);
    this.addSql(`drop table if exists "payment" cascade;`);
    this.addSql(`drop table if exists "price_version" cascade;`);
    this.addSql(`drop table if exists "price" cascade;`);
    this.addSql(`drop table if exists "lot" cascade;`);
    this.addSql(`drop table if exists "lot_entry" cascade;`);
    this.addSql(`drop table if exists "setting" cascade;`);
    this.addSql(`drop table if exists "slice" cascade;`);
    this.addSql(`drop table if exists "usage" cascade;`);
    this.addSql(`drop table if exists "usage_line" cascade;`);
  }
}
