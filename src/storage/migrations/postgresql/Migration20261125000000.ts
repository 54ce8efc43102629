import { Migration } from "@mikro-orm/migrations";

/** The schema of the first release. Forward only. */
export class Migration20261125000000 extends Migration {
  override name = "Migration20261125000000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "account" ("id" uuid not null, "name" varchar(255) not null, "name_key" bytea null, "max_keys" int not null, "created_at" timestamptz(3) not null, "request_id" varchar(255) null, "paid_total" bigint not null, "debt" bigint not null, "frozen_at" timestamptz(3) null, "frozen_reason" varchar(255) null, "max_in_flight" int null, "service_class" text null, "low_balance" bigint null, "last_paid" bigint null, "balance_told" text not null default 'ample', primary key ("id"));`,
    );
    this.addSql(`alter table "account" add constraint "account_request_id_unique" unique ("request_id");`);
    this.addSql(`create index "account_debt_index" on "account" ("id") where debt > 0;`);
    this.addSql(`create index "account_name_index" on "account" ("name_key", "id");`);
    this.addSql(`alter table "account" add constraint "account_paid_total_check" check (paid_total >= 0);`);
    this.addSql(`alter table "account" add constraint "account_debt_check" check (debt >= 0);`);
    this.addSql(
      `alter table "account" add constraint "account_service_class_check" check ("service_class" in ('flex', 'standard', 'priority'));`,
    );
    this.addSql(
      `alter table "account" add constraint "account_balance_told_check" check ("balance_told" in ('ample', 'low', 'exhausted'));`,
    );

    this.addSql(
      `create table "api_key" ("id" uuid not null, "account_id" uuid not null, "name" varchar(255) not null, "digest" bytea not null, "pepper_version" int not null, "prefix" varchar(255) not null, "last4" varchar(255) not null, "rpm" int null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) null, "revoked_at" timestamptz(3) null, "last_used_at" timestamptz(3) null, "rotated_to" uuid null, "rotated_from" uuid null, "request_id" varchar(255) null, "models" jsonb null, "tokens_per_minute" int null, "max_in_flight" int null, "service_class" text null, "budget" bigint null, "budget_period" text null, "limits_of" uuid null, "manages" boolean not null default false, "disabled" boolean not null default false, "updated_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "api_key_account_id_index" on "api_key" ("account_id");`);
    this.addSql(`alter table "api_key" add constraint "api_key_digest_unique" unique ("digest");`);
    this.addSql(`create index "api_key_id_index" on "api_key" ("id") where budget is not null;`);
    this.addSql(
      `alter table "api_key" add constraint "api_key_account_id_request_id_unique" unique ("account_id", "request_id");`,
    );
    this.addSql(
      `alter table "api_key" add constraint "api_key_service_class_check" check ("service_class" in ('flex', 'standard', 'priority'));`,
    );
    this.addSql(
      `alter table "api_key" add constraint "api_key_budget_period_check" check ("budget_period" in ('total', 'day', 'week', 'month'));`,
    );

    this.addSql(
      `create table "archived_cost" ("slice_id" uuid not null, "cost" bigint not null, primary key ("slice_id"));`,
    );
    this.addSql(`alter table "archived_cost" add constraint "archived_cost_amount" check (cost >= 0);`);

    this.addSql(
      `create table "audit_event" ("id" uuid not null, "at" timestamptz(3) not null, "operator" varchar(255) not null, "operator_id" uuid null, "key_id" uuid null, "method" varchar(255) not null, "target" varchar(255) not null, "before" text null, "after" text not null, "address" varchar(255) not null, primary key ("id"));`,
    );
    this.addSql(`create index "audit_event_at_id_index" on "audit_event" ("at", "id");`);

    this.addSql(
      `create table "budget" ("id" uuid not null, "window_name" varchar(255) not null, "account_id" uuid not null, "leased_under" bigint not null, "spent_outside_slices" bigint not null, "leased" bigint not null, "spent" bigint not null, "announced_percent" int not null default 0, primary key ("id", "window_name"));`,
    );
    this.addSql(
      `alter table "budget" add constraint "budget_parts" check (spent_outside_slices >= 0 and leased >= 0 and spent >= 0);`,
    );

    this.addSql(
      `create table "budget_slice" ("id" uuid not null, "budget_id" uuid not null, "window_name" varchar(255) not null, "core_id" uuid not null, "epoch" int not null, "granted" bigint not null, "spent" bigint not null, "open" boolean not null, primary key ("id"));`,
    );
    this.addSql(`create index "budget_slice_core_id_index" on "budget_slice" ("core_id") where open;`);
    this.addSql(
      `create index "budget_slice_budget_id_window_name_index" on "budget_slice" ("budget_id", "window_name");`,
    );
    this.addSql(
      `alter table "budget_slice" add constraint "budget_slice_amounts" check (granted >= 0 and spent >= 0);`,
    );

    this.addSql(
      `create table "console_session" ("id" uuid not null, "digest" bytea not null, "role" text null, "operator_id" uuid null, "account_id" uuid null, "key_id" uuid null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, "key_ids" jsonb not null, primary key ("id"));`,
    );
    this.addSql(`alter table "console_session" add constraint "console_session_digest_unique" unique ("digest");`);
    this.addSql(`create index "console_session_expires_at_index" on "console_session" ("expires_at");`);
    this.addSql(
      `alter table "console_session" add constraint "console_session_role_check" check ("role" in ('reader', 'billing', 'owner'));`,
    );

    this.addSql(
      `create table "core" ("id" uuid not null, "epoch" int not null, "instance" varchar(255) null, "beats" int not null default 0, "dead_beat" int null, "heartbeat_at" timestamptz(3) not null, primary key ("id", "epoch"));`,
    );

    this.addSql(
      `create table "dead_letter" ("id" varchar(255) not null, "charge" text not null, "reason" text not null, "core_id" varchar(255) not null, "at" timestamptz(3) not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "event" ("id" uuid not null, "type" varchar(255) not null, "account_id" uuid null, "body" text not null, "at" timestamptz(3) not null, "spread" boolean not null default false, primary key ("id"));`,
    );
    this.addSql(`create index "event_at_id_index" on "event" ("at", "id");`);
    this.addSql(`create index "event_type_at_id_index" on "event" ("type", "at", "id");`);
    this.addSql(`create index "event_not_spread" on "event" ("at", "id") where not spread;`);

    this.addSql(
      `create table "operator" ("id" uuid not null, "name" varchar(255) not null, "role" text not null, "digest" bytea not null, "created_at" timestamptz(3) not null, "revoked_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`alter table "operator" add constraint "operator_digest_unique" unique ("digest");`);
    this.addSql(`create index "operator_live_name" on "operator" ("name") where revoked_at is null;`);
    this.addSql(
      `alter table "operator" add constraint "operator_role_check" check ("role" in ('reader', 'billing', 'owner'));`,
    );

    this.addSql(
      `create table "payment" ("id" uuid not null, "account_id" uuid not null, "kind" text not null, "amount" bigint not null, "reference" varchar(255) not null, "lot_id" uuid not null, "at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "payment" add constraint "payment_reference_unique" unique ("reference");`);
    this.addSql(`create index "payment_account_id_at_index" on "payment" ("account_id", "at");`);
    this.addSql(
      `alter table "payment" add constraint "payment_amount" check (amount > 0 and amount <= 9007199254740991);`,
    );
    this.addSql(
      `alter table "payment" add constraint "payment_kind_check" check ("kind" in ('free', 'grant', 'paid', 'refund'));`,
    );

    this.addSql(
      `create table "price_version" ("id" int not null, "published_at" timestamptz(3) not null, "mark" varchar(255) not null default '', primary key ("id"));`,
    );

    this.addSql(
      `create table "price" ("version_id" int not null, "model" varchar(255) not null, "input" bigint not null, "output" bigint not null, "base_input" bigint not null, "base_output" bigint not null, "configured_input" bigint not null, "configured_output" bigint not null, "pinned" boolean not null, "reason" varchar(255) null, "utilisation" double precision null, primary key ("version_id", "model"));`,
    );
    this.addSql(`create index "price_model_version_id_index" on "price" ("model", "version_id");`);
    this.addSql(
      `alter table "price" add constraint "price_amounts" check (input >= 0 and output >= 0 and base_input >= 0 and base_output >= 0);`,
    );

    this.addSql(
      `create table "lot" ("id" uuid not null, "account_id" uuid not null, "kind" text not null, "priority" int not null, "granted" bigint not null, "spent" bigint not null, "leased" bigint not null, "refunded" bigint not null, "expired" bigint not null, "price_version_id" int not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) null, "payment_id" uuid not null, primary key ("id"));`,
    );
    this.addSql(`alter table "lot" add constraint "lot_payment_id_unique" unique ("payment_id");`);
    this.addSql(`create index "lot_account_id_id_index" on "lot" ("account_id", "id");`);
    this.addSql(
      `create index "lot_spending_expiring" on "lot" ("account_id", "priority", "expires_at", "created_at", "id") where granted > spent + leased + refunded + expired and expires_at is not null;`,
    );
    this.addSql(
      `create index "lot_spending_lasting" on "lot" ("account_id", "priority", "created_at", "id") where granted > spent + leased + refunded + expired and expires_at is null;`,
    );
    this.addSql(
      `create index "lot_expiry" on "lot" ("expires_at", "id") where granted > spent + leased + refunded + expired and expires_at is not null;`,
    );
    this.addSql(`alter table "lot" add constraint "lot_granted" check (granted > 0 and granted <= 9007199254740991);`);
    this.addSql(
      `alter table "lot" add constraint "lot_parts" check (spent >= 0 and leased >= 0 and refunded >= 0 and expired >= 0);`,
    );
    this.addSql(`alter table "lot" add constraint "lot_sum" check (spent + leased + refunded + expired <= granted);`);
    this.addSql(`alter table "lot" add constraint "lot_kind_check" check ("kind" in ('free', 'grant', 'paid'));`);

    this.addSql(
      `create table "lot_entry" ("id" uuid not null, "lot_id" uuid not null, "kind" text not null, "amount" bigint not null, "payment_id" uuid null, "at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "lot_entry_lot_id_index" on "lot_entry" ("lot_id");`);
    this.addSql(
      `alter table "lot_entry" add constraint "lot_entry_amount" check (amount > 0 and amount <= 9007199254740991);`,
    );
    this.addSql(
      `alter table "lot_entry" add constraint "lot_entry_kind_check" check ("kind" in ('grant', 'refund', 'expire', 'debt'));`,
    );

    this.addSql(
      `create table "receipt_archive" ("day" int not null, "receipts" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "file" varchar(255) not null, "bytes" bigint not null, "sha256" varchar(255) not null, "at" timestamptz(3) not null, primary key ("day"));`,
    );

    this.addSql(`create table "setting" ("name" varchar(255) not null, "value" text not null, primary key ("name"));`);

    this.addSql(
      `create table "sign_in_link" ("id" uuid not null, "digest" bytea not null, "role" text not null, "operator_id" uuid null, "expires_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "sign_in_link" add constraint "sign_in_link_digest_unique" unique ("digest");`);
    this.addSql(`create index "sign_in_link_expires_at_index" on "sign_in_link" ("expires_at");`);
    this.addSql(
      `alter table "sign_in_link" add constraint "sign_in_link_role_check" check ("role" in ('reader', 'billing', 'owner'));`,
    );

    this.addSql(
      `create table "slice" ("id" uuid not null, "lot_id" uuid not null, "account_id" uuid not null, "core_id" uuid not null, "epoch" int not null, "granted" bigint not null, "spent" bigint not null, "open" boolean not null, primary key ("id"));`,
    );
    this.addSql(`create index "slice_lot_id_index" on "slice" ("lot_id") where open;`);
    this.addSql(`create index "slice_core_id_index" on "slice" ("core_id") where open;`);
    this.addSql(`create index "slice_account_id_index" on "slice" ("account_id") where open;`);
    this.addSql(
      `alter table "slice" add constraint "slice_granted" check (granted >= 0 and granted <= 9007199254740991);`,
    );
    this.addSql(`alter table "slice" add constraint "slice_spent" check (spent >= 0 and spent <= granted);`);

    this.addSql(
      `create table "usage" ("request_id" varchar(255) not null, "run_id" uuid not null, "account_id" uuid not null, "key_id" varchar(255) not null, "model" varchar(255) not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "cost" bigint not null, "shortfall" bigint not null, "status" text not null, "settled_at" timestamptz(3) not null, "max_input_rate" bigint null, "max_output_rate" bigint null, "admitted_input_tokens" bigint null, "admitted_output_tokens" bigint null, "finish" varchar(255) null, "delivery" varchar(255) null, "first_token_ms" bigint null, "duration_ms" bigint null, "reasoning_tokens" bigint null, "cached_input_tokens" bigint null, "server" varchar(255) null, "surface" varchar(255) null, "budget_slice_id" uuid null, primary key ("request_id", "run_id"));`,
    );
    this.addSql(`create index "usage_account_id_settled_at_index" on "usage" ("account_id", "settled_at");`);
    this.addSql(`create index "usage_settled_at_index" on "usage" ("settled_at");`);
    this.addSql(`alter table "usage" add constraint "usage_tokens" check (input_tokens >= 0 and output_tokens >= 0);`);
    this.addSql(
      `alter table "usage" add constraint "usage_cost" check (shortfall >= 0 and shortfall <= cost and cost <= 9007199254740991);`,
    );
    this.addSql(
      `alter table "usage" add constraint "usage_status_check" check ("status" in ('completed', 'cancelled', 'failed', 'recovered'));`,
    );

    this.addSql(
      `create table "usage_event" ("request_id" varchar(255) not null, "run_id" uuid not null, "at" timestamptz(3) not null, primary key ("request_id", "run_id"));`,
    );
    this.addSql(
      `create index "usage_event_at_request_id_run_id_index" on "usage_event" ("at", "request_id", "run_id");`,
    );

    this.addSql(
      `create table "usage_line" ("request_id" varchar(255) not null, "run_id" uuid not null, "seq" int not null, "lot_id" uuid not null, "slice_id" uuid not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "input_rate" bigint not null, "output_rate" bigint not null, "cost" bigint not null, primary key ("request_id", "run_id", "seq"));`,
    );
    this.addSql(
      `alter table "usage_line" add constraint "usage_line_amounts" check (input_tokens >= 0 and output_tokens >= 0 and cost >= 0 and cost <= 9007199254740991);`,
    );

    this.addSql(
      `create table "usage_rollup" ("account_id" uuid not null, "span" text not null, "slot" int not null, "key_id" varchar(255) not null, "model" varchar(255) not null, "requests" bigint not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "shortfall" bigint not null, primary key ("account_id", "span", "slot", "key_id", "model"));`,
    );
    this.addSql(`create index "usage_rollup_span_slot_index" on "usage_rollup" ("span", "slot");`);
    this.addSql(
      `alter table "usage_rollup" add constraint "usage_rollup_span_check" check ("span" in ('hour', 'day'));`,
    );

    this.addSql(
      `create table "usage_span" ("hours" int not null, "detail" text not null, "slot" int not null, "account_id" uuid not null, "key_id" varchar(255) not null, "model" varchar(255) not null, "requests" bigint not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "shortfall" bigint not null, primary key ("hours", "detail", "slot", "account_id", "key_id", "model"));`,
    );
    this.addSql(
      `alter table "usage_span" add constraint "usage_span_detail_check" check ("detail" in ('account', 'key'));`,
    );

    this.addSql(
      `create table "usage_span_build" ("account_id" uuid not null, "slot" int not null, "key_id" varchar(255) not null, "model" varchar(255) not null, primary key ("account_id"));`,
    );

    this.addSql(
      `create table "usage_tally" ("core_id" uuid not null, "hour" int not null, "account_id" uuid not null, "key_id" varchar(255) not null, "model" varchar(255) not null, "requests" bigint not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "shortfall" bigint not null, "seen" boolean not null default false, "unbudgeted" boolean not null default true, primary key ("core_id", "hour", "account_id", "key_id", "model"));`,
    );
    this.addSql(`create index "usage_tally_account_id_hour_index" on "usage_tally" ("account_id", "hour");`);
    this.addSql(`create index "usage_tally_hour_index" on "usage_tally" ("hour");`);
    this.addSql(`create index "usage_tally_unseen" on "usage_tally" ("hour") where not seen;`);

    this.addSql(
      `create table "webhook" ("id" uuid not null, "url" text not null, "events" text not null, "secret" text not null, "previous_secret" text null, "previous_until" timestamptz(3) null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "delivery" ("id" uuid not null, "webhook_id" uuid not null, "event_id" uuid not null, "type" varchar(255) not null, "lane" varchar(255) not null, "at" timestamptz(3) not null, "status" text not null, "attempts" int not null, "next_at" timestamptz(3) null, "first_at" timestamptz(3) null, "delivered_at" timestamptz(3) null, "response_status" int null, "error" text not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "delivery_due" on "delivery" ("next_at") where status = 'pending' and next_at is not null;`,
    );
    this.addSql(
      `create index "delivery_lane" on "delivery" ("webhook_id", "lane", "at", "event_id") where status = 'pending';`,
    );
    this.addSql(`create index "delivery_webhook_id_at_event_id_index" on "delivery" ("webhook_id", "at", "event_id");`);
    this.addSql(`create index "delivery_at_index" on "delivery" ("at");`);
    this.addSql(
      `alter table "delivery" add constraint "delivery_webhook_id_event_id_unique" unique ("webhook_id", "event_id");`,
    );
    this.addSql(
      `alter table "delivery" add constraint "delivery_status_check" check ("status" in ('pending', 'delivered', 'failed'));`,
    );

    this.addSql(
      `create table "work_lease" ("name" varchar(255) not null, "holder" varchar(255) not null, "until" timestamptz(3) not null, primary key ("name"));`,
    );

    this.addSql(
      `alter table "api_key" add constraint "api_key_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );

    this.addSql(
      `alter table "payment" add constraint "payment_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );

    this.addSql(
      `alter table "price" add constraint "price_version_id_foreign" foreign key ("version_id") references "price_version" ("id");`,
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

    this.addSql(
      `alter table "lot_entry" add constraint "lot_entry_lot_id_foreign" foreign key ("lot_id") references "lot" ("id");`,
    );

    this.addSql(
      `alter table "slice" add constraint "slice_lot_id_foreign" foreign key ("lot_id") references "lot" ("id");`,
    );

    this.addSql(
      `alter table "delivery" add constraint "delivery_webhook_id_foreign" foreign key ("webhook_id") references "webhook" ("id");`,
    );

    // Operators' changes are neither changed nor deleted.
    this.addSql(
      `create function audit_event_append_only() returns trigger language plpgsql as 'begin raise exception ''the audit log is append-only''; end';`,
    );
    this.addSql(
      `create trigger audit_event_append_only before update or delete or truncate on "audit_event" for each statement execute function audit_event_append_only();`,
    );
  }
}
