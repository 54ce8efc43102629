import { Migration } from "@mikro-orm/migrations";

/**
 * The schema of the first release, under the name of the last migration that it stands for: databases of those are current.
 * Forward only.
 */
export class Migration20261126000018 extends Migration {
  override name = "Migration20261126000018";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "account" ("id" uuid not null, "name" varchar(255) not null, "name_key" bytea not null, "max_keys" int not null, "created_at" timestamptz(3) not null, "request_id" varchar(255) null, "paid_total" bigint not null, "debt" bigint not null, "frozen_at" timestamptz(3) null, "frozen_reason" varchar(255) null, "max_in_flight" int null, "service_class" text null, "low_balance" bigint null, "last_paid" bigint null, "balance_told" text not null default 'ample', "email" varchar(255) null, "credit_line" bigint not null default '0', primary key ("id"));`,
    );
    this.addSql(`alter table "account" add constraint "account_request_id_unique" unique ("request_id");`);
    this.addSql(`create index "account_debt_index" on "account" ("id") where debt > 0;`);
    this.addSql(`create index "account_name_index" on "account" ("name_key", "id");`);
    this.addSql(`create index "account_credit_index" on "account" ("id") where credit_line > 0;`);
    this.addSql(
      `create index "account_low_index" on "account" ("id") where balance_told <> 'ample' and last_paid is not null;`,
    );
    this.addSql(`create index "account_frozen_index" on "account" ("id") where frozen_at is not null;`);
    this.addSql(`alter table "account" add constraint "account_paid_total_check" check (paid_total >= 0);`);
    this.addSql(`alter table "account" add constraint "account_debt_check" check (debt >= 0);`);
    this.addSql(
      `alter table "account" add constraint "account_service_class_check" check ("service_class" in ('flex', 'standard', 'priority'));`,
    );
    this.addSql(
      `alter table "account" add constraint "account_balance_told_check" check ("balance_told" in ('ample', 'low', 'exhausted'));`,
    );
    this.addSql(
      `alter table "account" add constraint "account_credit_line_check" check (credit_line >= 0 and credit_line <= 9007199254740991);`,
    );

    this.addSql(
      `create table "api_key" ("id" uuid not null, "account_id" uuid not null, "name" varchar(255) not null, "digest" bytea not null, "pepper_version" int not null, "prefix" varchar(255) not null, "last4" varchar(255) not null, "rpm" int null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) null, "revoked_at" timestamptz(3) null, "last_used_at" timestamptz(3) null, "rotated_to" uuid null, "rotated_from" uuid null, "request_id" varchar(255) null, "models" jsonb null, "tokens_per_minute" int null, "max_in_flight" int null, "service_class" text null, "budget" bigint null, "budget_period" text null, "limits_of" uuid null, "manages" boolean not null default false, "person_id" uuid null, "disabled" boolean not null default false, "updated_at" timestamptz(3) null, "warn_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "api_key_account_id_index" on "api_key" ("account_id");`);
    this.addSql(`alter table "api_key" add constraint "api_key_digest_unique" unique ("digest");`);
    this.addSql(`create index "api_key_id_index" on "api_key" ("id") where budget is not null;`);
    this.addSql(
      `alter table "api_key" add constraint "api_key_account_id_request_id_unique" unique ("account_id", "request_id");`,
    );
    this.addSql(`create index "api_key_last_used_at_id_index" on "api_key" ("last_used_at", "id");`);
    this.addSql(`create index "api_key_last4_index" on "api_key" ("last4");`);
    this.addSql(`create index "api_key_prefix_index" on "api_key" ("prefix");`);
    this.addSql(`create index "api_key_warn_at_index" on "api_key" ("warn_at") where warn_at is not null;`);
    this.addSql(
      `alter table "api_key" add constraint "api_key_service_class_check" check ("service_class" in ('flex', 'standard', 'priority'));`,
    );
    this.addSql(
      `alter table "api_key" add constraint "api_key_budget_period_check" check ("budget_period" in ('total', 'day', 'week', 'month'));`,
    );

    this.addSql(
      `create table "audit_event" ("id" uuid not null, "at" timestamptz(3) not null, "operator" varchar(255) not null, "operator_id" uuid null, "method" varchar(255) not null, "target" varchar(255) not null, "before" text null, "after" text not null, "address" varchar(255) not null, "key_id" uuid null, "person_id" uuid null, "account_id" uuid null, primary key ("id"));`,
    );
    this.addSql(`create index "audit_event_at_id_index" on "audit_event" ("at", "id");`);
    this.addSql(`create index "audit_event_account_id_at_id_index" on "audit_event" ("account_id", "at", "id");`);
    this.addSql(`create index "audit_event_target_at_id_index" on "audit_event" ("target", "at", "id");`);
    this.addSql(`create index "audit_event_operator_at_id_index" on "audit_event" ("operator", "at", "id");`);

    this.addSql(
      `create table "budget" ("id" uuid not null, "window_name" varchar(255) not null, "account_id" uuid not null, "leased_under" bigint not null, "spent_outside_slices" bigint not null, "leased" bigint not null, "spent" bigint not null, "announced_percent" int not null default 0, primary key ("id", "window_name"));`,
    );
    this.addSql(
      `alter table "budget" add constraint "budget_parts" check (spent_outside_slices >= 0 and leased >= 0 and spent >= 0);`,
    );

    this.addSql(
      `create table "budget_slice" ("id" uuid not null, "budget_id" uuid not null, "window_name" varchar(255) not null, "core_id" uuid not null, "epoch" int not null, "granted" bigint not null, "spent" bigint not null, "open" boolean not null, "step" int not null default 0, primary key ("id"));`,
    );
    this.addSql(`create index "budget_slice_core_id_index" on "budget_slice" ("core_id") where open;`);
    this.addSql(
      `create index "budget_slice_budget_id_window_name_index" on "budget_slice" ("budget_id", "window_name");`,
    );
    this.addSql(
      `alter table "budget_slice" add constraint "budget_slice_amounts" check (granted >= 0 and spent >= 0);`,
    );

    this.addSql(
      `create table "console_session" ("id" uuid not null, "digest" bytea not null, "role" text null, "operator_id" uuid null, "account_id" uuid null, "key_id" uuid null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, "key_ids" jsonb not null, "person_id" uuid null, primary key ("id"));`,
    );
    this.addSql(`alter table "console_session" add constraint "console_session_digest_unique" unique ("digest");`);
    this.addSql(`create index "console_session_expires_at_index" on "console_session" ("expires_at");`);
    this.addSql(`create index "console_session_person_id_index" on "console_session" ("person_id");`);
    this.addSql(`create index "console_session_account_id_index" on "console_session" ("account_id");`);
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
      `create table "payment" ("id" uuid not null, "account_id" uuid not null, "kind" text not null, "amount" bigint not null, "reference" varchar(255) not null, "lot_id" uuid not null, "at" timestamptz(3) not null, "owed" bigint not null default '0', primary key ("id"));`,
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
    this.addSql(`create index "price_version_published_at_index" on "price_version" ("published_at");`);

    this.addSql(
      `create table "price" ("version_id" int not null, "model" varchar(255) not null, "input" bigint not null, "output" bigint not null, "base_input" bigint not null, "base_output" bigint not null, "configured_input" bigint not null, "configured_output" bigint not null, "pinned" boolean not null, "reason" varchar(255) null, "utilisation" double precision null, primary key ("version_id", "model"));`,
    );
    this.addSql(`create index "price_model_version_id_index" on "price" ("model", "version_id");`);
    this.addSql(
      `alter table "price" add constraint "price_amounts" check (input >= 0 and output >= 0 and base_input >= 0 and base_output >= 0);`,
    );

    this.addSql(
      `create table "lot" ("id" uuid not null, "account_id" uuid not null, "kind" text not null, "priority" int not null, "granted" bigint not null, "spent" bigint not null, "leased" bigint not null, "refunded" bigint not null, "expired" bigint not null, "price_version_id" int not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) null, "payment_id" uuid null, "own_prices_id" uuid null, "repaid" bigint not null default '0', primary key ("id"));`,
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
    this.addSql(
      `create index "lot_credit" on "lot" ("account_id", "id") where kind = 'credit' and (repaid <> spent or granted > spent + refunded);`,
    );
    this.addSql(`alter table "lot" add constraint "lot_granted" check (granted > 0 and granted <= 9007199254740991);`);
    this.addSql(
      `alter table "lot" add constraint "lot_parts" check (spent >= 0 and leased >= 0 and refunded >= 0 and expired >= 0);`,
    );
    this.addSql(`alter table "lot" add constraint "lot_sum" check (spent + leased + refunded + expired <= granted);`);
    this.addSql(
      `alter table "lot" add constraint "lot_kind_check" check ("kind" in ('free', 'grant', 'paid', 'credit'));`,
    );
    this.addSql(
      `alter table "lot" add constraint "lot_own_prices" check (own_prices_id is null or kind = 'paid' or kind = 'credit');`,
    );
    this.addSql(
      `alter table "lot" add constraint "lot_repaid" check (repaid >= 0 and repaid <= granted - refunded and (repaid = 0 or kind = 'credit'));`,
    );
    this.addSql(`alter table "lot" add constraint "lot_origin" check ((kind = 'credit') = (payment_id is null));`);

    this.addSql(
      `create table "lot_entry" ("id" uuid not null, "lot_id" uuid not null, "kind" text not null, "amount" bigint not null, "payment_id" uuid null, "at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "lot_entry_lot_id_index" on "lot_entry" ("lot_id");`);
    this.addSql(
      `alter table "lot_entry" add constraint "lot_entry_amount" check (amount > 0 and amount <= 9007199254740991);`,
    );
    this.addSql(
      `alter table "lot_entry" add constraint "lot_entry_kind_check" check ("kind" in ('grant', 'refund', 'expire', 'debt', 'repaid'));`,
    );

    this.addSql(
      `create table "receipt_archive" ("day" int not null, "receipts" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "file" varchar(255) not null, "bytes" bigint not null, "sha256" varchar(255) not null, "at" timestamptz(3) not null, "mark" text null, primary key ("day"));`,
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
      `create table "usage_event" ("request_id" varchar(255) not null, "run_id" uuid not null, "at" timestamptz(3) not null, primary key ("request_id", "run_id"));`,
    );
    this.addSql(
      `create index "usage_event_at_request_id_run_id_index" on "usage_event" ("at", "request_id", "run_id");`,
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
      `create table "usage_tally" ("core_id" uuid not null, "hour" int not null, "account_id" uuid not null, "key_id" varchar(255) not null, "model" varchar(255) not null, "requests" bigint not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "shortfall" bigint not null, "seen" boolean not null default false, "unbudgeted" boolean not null default true, primary key ("core_id", "hour", "account_id", "key_id", "model"));`,
    );
    this.addSql(`create index "usage_tally_account_id_hour_index" on "usage_tally" ("account_id", "hour");`);
    this.addSql(`create index "usage_tally_hour_index" on "usage_tally" ("hour");`);
    this.addSql(`create index "usage_tally_unseen" on "usage_tally" ("hour") where not seen;`);

    this.addSql(
      `create table "webhook" ("id" uuid not null, "url" text not null, "events" text not null, "secret" text not null, "previous_secret" text null, "previous_until" timestamptz(3) null, "created_at" timestamptz(3) not null, "paused_at" timestamptz(3) null, primary key ("id"));`,
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
      `create table "free_grant" ("id" uuid not null, "account_id" uuid not null, "person_id" uuid not null, "at" timestamptz(3) not null, "granted_to" uuid null, "email" varchar(255) null, "network" varchar(255) not null, "day" varchar(255) not null, "ordinal" int null, "refused" text null, primary key ("id"));`,
    );
    this.addSql(`alter table "free_grant" add constraint "free_grant_granted_to_unique" unique ("granted_to");`);
    this.addSql(`alter table "free_grant" add constraint "free_grant_email_unique" unique ("email");`);
    this.addSql(
      `alter table "free_grant" add constraint "free_grant_network_day_ordinal_unique" unique ("network", "day", "ordinal");`,
    );
    this.addSql(
      `alter table "free_grant" add constraint "free_grant_refused_check" check ("refused" in ('identity', 'email', 'network'));`,
    );

    this.addSql(
      `create table "invitation" ("id" uuid not null, "account_id" uuid not null, "role" text not null, "email" varchar(255) null, "digest" bytea not null, "invited_by" uuid null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, "used_at" timestamptz(3) null, "used_by" uuid null, primary key ("id"));`,
    );
    this.addSql(`create index "invitation_account_id_index" on "invitation" ("account_id");`);
    this.addSql(`alter table "invitation" add constraint "invitation_digest_unique" unique ("digest");`);
    this.addSql(
      `alter table "invitation" add constraint "invitation_role_check" check ("role" in ('viewer', 'developer', 'owner'));`,
    );

    this.addSql(
      `create table "person" ("id" uuid not null, "name" varchar(255) not null, "email" varchar(255) null, "email_verified" boolean not null, "created_at" timestamptz(3) not null, "mails" jsonb null, primary key ("id"));`,
    );

    this.addSql(
      `create table "member" ("id" uuid not null, "account_id" uuid not null, "person_id" uuid not null, "role" text not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "member_person_id_index" on "member" ("person_id");`);
    this.addSql(
      `alter table "member" add constraint "member_account_id_person_id_unique" unique ("account_id", "person_id");`,
    );
    this.addSql(
      `alter table "member" add constraint "member_role_check" check ("role" in ('viewer', 'developer', 'owner'));`,
    );

    this.addSql(
      `create table "identity" ("id" uuid not null, "person_id" uuid not null, "issuer" varchar(255) not null, "subject" varchar(255) not null, "created_at" timestamptz(3) not null, "name" varchar(255) null, "public_key" bytea null, "counter" bigint null, "used_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "identity_person_id_index" on "identity" ("person_id");`);
    this.addSql(`alter table "identity" add constraint "identity_issuer_subject_unique" unique ("issuer", "subject");`);

    this.addSql(
      `create table "auto_top_up" ("account_id" uuid not null, "below" bigint not null, "amount" bigint not null, "monthly" bigint not null, "state" text not null, "crossing" int not null, "charging" uuid null, "declines" int not null, "not_before" timestamptz(3) null, primary key ("account_id"));`,
    );
    this.addSql(`create index "auto_top_up_on" on "auto_top_up" ("account_id") where state = 'on';`);
    this.addSql(
      `alter table "auto_top_up" add constraint "auto_top_up_state_check" check ("state" in ('on', 'off', 'declined'));`,
    );

    this.addSql(
      `create table "payment_event" ("id" varchar(255) not null, "type" varchar(255) not null, "reference" varchar(255) not null, "account_id" varchar(255) null, "amount" bigint null, "outcome" text not null, "detail" text not null, "at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "payment_event_at_id_index" on "payment_event" ("at", "id");`);
    this.addSql(`create index "payment_event_unmatched" on "payment_event" ("at", "id") where outcome = 'unmatched';`);
    this.addSql(
      `alter table "payment_event" add constraint "payment_event_outcome_check" check ("outcome" in ('credited', 'withdrawn', 'unmatched', 'refused', 'postponed'));`,
    );

    this.addSql(
      `create table "provider_customer" ("account_id" uuid not null, "customer" varchar(255) not null, primary key ("account_id"));`,
    );

    this.addSql(
      `create table "provider_payment" ("id" uuid not null, "account_id" uuid not null, "origin" text not null, "cause" varchar(255) not null, "amount" bigint not null, "charged" bigint null, "state" text not null, "session" varchar(255) null, "url" text null, "reference" varchar(255) null, "problem" text null, "created_at" timestamptz(3) not null, "ask_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`alter table "provider_payment" add constraint "provider_payment_session_unique" unique ("session");`);
    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_reference_unique" unique ("reference");`,
    );
    this.addSql(
      `create index "provider_payment_account_id_created_at_index" on "provider_payment" ("account_id", "created_at");`,
    );
    this.addSql(`create index "provider_payment_ask" on "provider_payment" ("ask_at") where ask_at is not null;`);
    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_account_id_origin_cause_unique" unique ("account_id", "origin", "cause");`,
    );
    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_amount" check (amount > 0 and amount <= 9007199254740991);`,
    );
    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_origin_check" check ("origin" in ('checkout', 'auto', 'elsewhere'));`,
    );
    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_state_check" check ("state" in ('open', 'paid', 'credited', 'expired', 'declined'));`,
    );

    this.addSql(
      `create table "withdrawal" ("id" uuid not null, "account_id" uuid not null, "payment_id" uuid not null, "kind" text not null, "cause" varchar(255) null, "amount" bigint not null, "paid_back" bigint not null, "state" text not null, "provider_id" varchar(255) null, "problem" text null, "created_at" timestamptz(3) not null, "ask_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "withdrawal_payment_id_index" on "withdrawal" ("payment_id");`);
    this.addSql(`alter table "withdrawal" add constraint "withdrawal_provider_id_unique" unique ("provider_id");`);
    this.addSql(`create index "withdrawal_ask" on "withdrawal" ("ask_at") where ask_at is not null;`);
    this.addSql(
      `alter table "withdrawal" add constraint "withdrawal_account_id_cause_unique" unique ("account_id", "cause");`,
    );
    this.addSql(
      `alter table "withdrawal" add constraint "withdrawal_amount" check (amount >= 0 and amount <= 9007199254740991);`,
    );
    this.addSql(
      `alter table "withdrawal" add constraint "withdrawal_kind_check" check ("kind" in ('refund', 'elsewhere', 'dispute'));`,
    );
    this.addSql(
      `alter table "withdrawal" add constraint "withdrawal_state_check" check ("state" in ('asked', 'withdrawn', 'done', 'refused', 'returned'));`,
    );

    this.addSql(
      `create table "mail" ("id" uuid not null, "kind" varchar(255) not null, "address" varchar(255) not null, "event_id" uuid null, "network" varchar(255) null, "content" text not null, "at" timestamptz(3) not null, "until" timestamptz(3) not null, "status" text not null, "attempts" int not null, "next_at" timestamptz(3) null, "first_at" timestamptz(3) null, "error" text not null, primary key ("id"));`,
    );
    this.addSql(`create index "mail_due" on "mail" ("next_at") where status = 'pending';`);
    this.addSql(`create index "mail_address_at_index" on "mail" ("address", "at");`);
    this.addSql(`create index "mail_network_at_index" on "mail" ("network", "at");`);
    this.addSql(`create index "mail_at_index" on "mail" ("at");`);
    this.addSql(`create index "mail_failed" on "mail" ("at") where status = 'failed';`);
    this.addSql(`alter table "mail" add constraint "mail_event_id_address_unique" unique ("event_id", "address");`);
    this.addSql(
      `alter table "mail" add constraint "mail_status_check" check ("status" in ('pending', 'sent', 'failed'));`,
    );

    this.addSql(
      `create table "model_day" ("day" int not null, "model" varchar(255) not null, "measure" varchar(255) not null, "count" bigint not null, primary key ("day", "model", "measure"));`,
    );

    this.addSql(
      `create table "day_seal" ("number" int not null, "id" uuid not null, "day" int not null, "receipts" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "root" varchar(255) not null, "chain" varchar(255) not null, "at" timestamptz(3) not null, primary key ("number"));`,
    );
    this.addSql(`alter table "day_seal" add constraint "day_seal_id_unique" unique ("id");`);
    this.addSql(`create index "day_seal_day_number_index" on "day_seal" ("day", "number");`);

    this.addSql(
      `create table "sealed_account" ("seal_id" uuid not null, "account_id" uuid not null, "receipts" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "digest" varchar(255) not null, primary key ("seal_id", "account_id"));`,
    );

    this.addSql(
      `create table "sealed_slice" ("seal_id" uuid not null, "slice_id" uuid not null, "cost" bigint not null, primary key ("seal_id", "slice_id"));`,
    );
    this.addSql(`alter table "sealed_slice" add constraint "sealed_slice_cost" check (cost >= 0);`);

    this.addSql(
      `create table "request_record" ("id" bigserial primary key, "request_id" varchar(255) not null, "account_id" uuid null, "key_id" varchar(255) not null, "surface" varchar(255) not null, "model" varchar(255) not null, "reason" varchar(255) not null, "http_status" int not null, "duration_ms" int not null, "server" varchar(255) not null, "left_out" int not null, "at" timestamptz(3) not null);`,
    );
    this.addSql(`create index "request_record_at_id_index" on "request_record" ("at", "id");`);
    this.addSql(`create index "request_record_account_id_at_id_index" on "request_record" ("account_id", "at", "id");`);
    this.addSql(`create index "request_record_key_id_at_id_index" on "request_record" ("key_id", "at", "id");`);
    this.addSql(`create index "request_record_request_id_index" on "request_record" ("request_id");`);

    this.addSql(
      `create table "used_proof" ("id" varchar(255) not null, "until" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "used_proof_until_index" on "used_proof" ("until");`);

    this.addSql(
      `create table "own_prices" ("id" uuid not null, "account_id" uuid not null, "number" int not null, "discount" int not null, "set_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "own_prices" add constraint "own_prices_account_id_number_unique" unique ("account_id", "number");`,
    );
    this.addSql(
      `alter table "own_prices" add constraint "own_prices_discount" check (discount >= 0 and discount < 10000 and number > 0);`,
    );

    this.addSql(
      `create table "own_price" ("own_prices_id" uuid not null, "model" varchar(255) not null, "input" bigint not null, "output" bigint not null, primary key ("own_prices_id", "model"));`,
    );
    this.addSql(`alter table "own_price" add constraint "own_price_amounts" check (input >= 0 and output >= 0);`);

    this.addSql(
      `create table "usage_label" ("account_id" uuid not null, "name" varchar(255) not null, "hour" int not null, "value" varchar(255) not null, "key_id" varchar(255) not null, "model" varchar(255) not null, "core_id" uuid not null, "requests" bigint not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "shortfall" bigint not null, primary key ("account_id", "name", "hour", "value", "key_id", "model", "core_id"));`,
    );
    this.addSql(`create index "usage_label_hour_index" on "usage_label" ("hour");`);

    // Receipts and their lines are partitioned by the day of their run's id; the program makes the days. Other ids have the
    // default partition.
    this.addSql(
      `create table "usage" ("request_id" varchar(255) not null, "run_id" uuid not null, "account_id" uuid not null, "key_id" varchar(255) not null, "model" varchar(255) not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "cost" bigint not null, "shortfall" bigint not null, "status" text not null, "settled_at" timestamptz(3) not null, "max_input_rate" bigint null, "max_output_rate" bigint null, "admitted_input_tokens" bigint null, "admitted_output_tokens" bigint null, "finish" varchar(255) null, "delivery" varchar(255) null, "first_token_ms" bigint null, "duration_ms" bigint null, "reasoning_tokens" bigint null, "cached_input_tokens" bigint null, "server" varchar(255) null, "surface" varchar(255) null, "budget_slice_id" uuid null, "labels" text null, primary key ("request_id", "run_id")) partition by range ("run_id");`,
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
    this.addSql(`create table "usage_default" partition of "usage" default;`);

    this.addSql(
      `create table "usage_line" ("request_id" varchar(255) not null, "run_id" uuid not null, "seq" int not null, "lot_id" uuid not null, "slice_id" uuid not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "input_rate" bigint not null, "output_rate" bigint not null, "cost" bigint not null, primary key ("request_id", "run_id", "seq")) partition by range ("run_id");`,
    );
    this.addSql(
      `alter table "usage_line" add constraint "usage_line_amounts" check (input_tokens >= 0 and output_tokens >= 0 and cost >= 0 and cost <= 9007199254740991);`,
    );
    this.addSql(`create table "usage_line_default" partition of "usage_line" default;`);

    this.addSql(
      `create table "service_step" ("seconds" int not null, "at" int not null, "measure" varchar(255) not null, "count" bigint not null, primary key ("seconds", "at", "measure"));`,
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
      `alter table "lot" add constraint "lot_own_prices_id_foreign" foreign key ("own_prices_id") references "own_prices" ("id") on delete no action;`,
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

    this.addSql(
      `alter table "invitation" add constraint "invitation_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );

    this.addSql(
      `alter table "member" add constraint "member_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );
    this.addSql(
      `alter table "member" add constraint "member_person_id_foreign" foreign key ("person_id") references "person" ("id");`,
    );

    this.addSql(
      `alter table "identity" add constraint "identity_person_id_foreign" foreign key ("person_id") references "person" ("id");`,
    );

    this.addSql(
      `alter table "auto_top_up" add constraint "auto_top_up_account_id_foreign" foreign key ("account_id") references "account" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "provider_customer" add constraint "provider_customer_account_id_foreign" foreign key ("account_id") references "account" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );

    this.addSql(
      `alter table "withdrawal" add constraint "withdrawal_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );
    this.addSql(
      `alter table "withdrawal" add constraint "withdrawal_payment_id_foreign" foreign key ("payment_id") references "provider_payment" ("id");`,
    );

    this.addSql(
      `alter table "own_prices" add constraint "own_prices_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );

    this.addSql(
      `alter table "own_price" add constraint "own_price_own_prices_id_foreign" foreign key ("own_prices_id") references "own_prices" ("id");`,
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
