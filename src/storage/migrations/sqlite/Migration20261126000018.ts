import { Migration } from "@mikro-orm/migrations";

/**
 * The schema of the first release, under the name of the last migration that it stands for: databases of those are current.
 * Forward only.
 */
export class Migration20261126000018 extends Migration {
  override name = "Migration20261126000018";

  override up(): void | Promise<void> {
    this.addSql(
      "create table `account` (`id` text not null primary key, `name` text not null, `name_key` blob not null, `max_keys` integer not null, `created_at` datetime not null, `request_id` text null, `paid_total` bigint check (paid_total >= 0) not null, `debt` bigint check (debt >= 0) not null, `frozen_at` datetime null, `frozen_reason` text null, `max_in_flight` integer null, `service_class` text check (`service_class` in ('flex', 'standard', 'priority')) null, `low_balance` bigint null, `last_paid` bigint null, `balance_told` text check (`balance_told` in ('ample', 'low', 'exhausted')) not null default 'ample', `email` text null, `credit_line` bigint not null default '0' check (credit_line >= 0 and credit_line <= 9007199254740991));",
    );
    this.addSql("create unique index `account_request_id_unique` on `account` (`request_id`);");
    this.addSql("create index `account_debt_index` on `account` (`id`) where debt > 0;");
    this.addSql("create index `account_name_index` on `account` (`name_key`, `id`);");
    this.addSql("create index `account_credit_index` on `account` (`id`) where credit_line > 0;");
    this.addSql(
      "create index `account_low_index` on `account` (`id`) where balance_told <> 'ample' and last_paid is not null;",
    );
    this.addSql("create index `account_frozen_index` on `account` (`id`) where frozen_at is not null;");

    this.addSql(
      "create table `api_key` (`id` text not null primary key, `account_id` text not null, `name` text not null, `digest` blob not null, `pepper_version` integer not null, `prefix` text not null, `last4` text not null, `rpm` integer null, `created_at` datetime not null, `expires_at` datetime null, `revoked_at` datetime null, `last_used_at` datetime null, `rotated_to` text null, `rotated_from` text null, `request_id` text null, `models` json null, `tokens_per_minute` integer null, `max_in_flight` integer null, `service_class` text check (`service_class` in ('flex', 'standard', 'priority')) null, `budget` bigint null, `budget_period` text check (`budget_period` in ('total', 'day', 'week', 'month')) null, `limits_of` text null, `manages` integer not null default false, `person_id` text null, `disabled` integer not null default false, `updated_at` datetime null, `warn_at` datetime null, constraint `api_key_account_id_foreign` foreign key (`account_id`) references `account` (`id`));",
    );
    this.addSql("create index `api_key_account_id_index` on `api_key` (`account_id`);");
    this.addSql("create unique index `api_key_digest_unique` on `api_key` (`digest`);");
    this.addSql("create index `api_key_id_index` on `api_key` (`id`) where budget is not null;");
    this.addSql(
      "create unique index `api_key_account_id_request_id_unique` on `api_key` (`account_id`, `request_id`);",
    );
    this.addSql("create index `api_key_last_used_at_id_index` on `api_key` (`last_used_at`, `id`);");
    this.addSql("create index `api_key_last4_index` on `api_key` (`last4`);");
    this.addSql("create index `api_key_prefix_index` on `api_key` (`prefix`);");
    this.addSql("create index `api_key_warn_at_index` on `api_key` (`warn_at`) where warn_at is not null;");

    this.addSql(
      "create table `audit_event` (`id` text not null primary key, `at` datetime not null, `operator` text not null, `operator_id` text null, `method` text not null, `target` text not null, `before` text null, `after` text not null, `address` text not null, `key_id` text null, `person_id` text null, `account_id` text null);",
    );
    this.addSql("create index `audit_event_at_id_index` on `audit_event` (`at`, `id`);");
    this.addSql("create index `audit_event_account_id_at_id_index` on `audit_event` (`account_id`, `at`, `id`);");
    this.addSql("create index `audit_event_target_at_id_index` on `audit_event` (`target`, `at`, `id`);");
    this.addSql("create index `audit_event_operator_at_id_index` on `audit_event` (`operator`, `at`, `id`);");

    this.addSql(
      "create table `budget` (`id` text not null, `window_name` text not null, `account_id` text not null, `leased_under` bigint not null, `spent_outside_slices` bigint not null, `leased` bigint not null, `spent` bigint not null, `announced_percent` integer not null default 0, primary key (`id`, `window_name`), constraint `budget_parts` check (spent_outside_slices >= 0 and leased >= 0 and spent >= 0));",
    );

    this.addSql(
      "create table `budget_slice` (`id` text not null primary key, `budget_id` text not null, `window_name` text not null, `core_id` text not null, `epoch` integer not null, `granted` bigint not null, `spent` bigint not null, `open` integer not null, `step` integer not null default 0, constraint `budget_slice_amounts` check (granted >= 0 and spent >= 0));",
    );
    this.addSql("create index `budget_slice_core_id_index` on `budget_slice` (`core_id`) where open;");
    this.addSql(
      "create index `budget_slice_budget_id_window_name_index` on `budget_slice` (`budget_id`, `window_name`);",
    );

    this.addSql(
      "create table `console_session` (`id` text not null primary key, `digest` blob not null, `role` text check (`role` in ('reader', 'billing', 'owner')) null, `operator_id` text null, `account_id` text null, `key_id` text null, `created_at` datetime not null, `expires_at` datetime not null, `key_ids` json not null, `person_id` text null);",
    );
    this.addSql("create unique index `console_session_digest_unique` on `console_session` (`digest`);");
    this.addSql("create index `console_session_expires_at_index` on `console_session` (`expires_at`);");
    this.addSql("create index `console_session_person_id_index` on `console_session` (`person_id`);");
    this.addSql("create index `console_session_account_id_index` on `console_session` (`account_id`);");

    this.addSql(
      "create table `core` (`id` text not null, `epoch` integer not null, `instance` text null, `beats` integer not null default 0, `dead_beat` integer null, `heartbeat_at` datetime not null, primary key (`id`, `epoch`));",
    );

    this.addSql(
      "create table `dead_letter` (`id` text not null primary key, `charge` text not null, `reason` text not null, `core_id` text not null, `at` datetime not null);",
    );

    this.addSql(
      "create table `event` (`id` text not null primary key, `type` text not null, `account_id` text null, `body` text not null, `at` datetime not null, `spread` integer not null default false);",
    );
    this.addSql("create index `event_at_id_index` on `event` (`at`, `id`);");
    this.addSql("create index `event_type_at_id_index` on `event` (`type`, `at`, `id`);");
    this.addSql("create index `event_not_spread` on `event` (`at`, `id`) where not spread;");

    this.addSql(
      "create table `operator` (`id` text not null primary key, `name` text not null, `role` text check (`role` in ('reader', 'billing', 'owner')) not null, `digest` blob not null, `created_at` datetime not null, `revoked_at` datetime null);",
    );
    this.addSql("create unique index `operator_digest_unique` on `operator` (`digest`);");
    this.addSql("create index `operator_live_name` on `operator` (`name`) where revoked_at is null;");

    this.addSql(
      "create table `payment` (`id` text not null primary key, `account_id` text not null, `kind` text check (`kind` in ('free', 'grant', 'paid', 'refund')) not null, `amount` bigint not null, `reference` text not null, `lot_id` text not null, `at` datetime not null, `owed` bigint not null default '0', constraint `payment_account_id_foreign` foreign key (`account_id`) references `account` (`id`), constraint `payment_amount` check (amount > 0 and amount <= 9007199254740991));",
    );
    this.addSql("create index `payment_account_id_index` on `payment` (`account_id`);");
    this.addSql("create unique index `payment_reference_unique` on `payment` (`reference`);");
    this.addSql("create index `payment_account_id_at_index` on `payment` (`account_id`, `at`);");

    this.addSql(
      "create table `price_version` (`id` integer not null primary key, `published_at` datetime not null, `mark` text not null default '');",
    );
    this.addSql("create index `price_version_published_at_index` on `price_version` (`published_at`);");

    this.addSql(
      "create table `price` (`version_id` integer not null, `model` text not null, `input` bigint not null, `output` bigint not null, `base_input` bigint not null, `base_output` bigint not null, `configured_input` bigint not null, `configured_output` bigint not null, `pinned` integer not null, `reason` text null, `utilisation` double null, primary key (`version_id`, `model`), constraint `price_version_id_foreign` foreign key (`version_id`) references `price_version` (`id`), constraint `price_amounts` check (input >= 0 and output >= 0 and base_input >= 0 and base_output >= 0));",
    );
    this.addSql("create index `price_version_id_index` on `price` (`version_id`);");
    this.addSql("create index `price_model_version_id_index` on `price` (`model`, `version_id`);");

    this.addSql(
      "create table `receipt_archive` (`day` integer not null primary key, `receipts` bigint not null, `cost_high` bigint not null, `cost_low` bigint not null, `file` text not null, `bytes` bigint not null, `sha256` text not null, `at` datetime not null, `mark` text null);",
    );

    this.addSql("create table `setting` (`name` text not null primary key, `value` text not null);");

    this.addSql(
      "create table `sign_in_link` (`id` text not null primary key, `digest` blob not null, `role` text check (`role` in ('reader', 'billing', 'owner')) not null, `operator_id` text null, `expires_at` datetime not null);",
    );
    this.addSql("create unique index `sign_in_link_digest_unique` on `sign_in_link` (`digest`);");
    this.addSql("create index `sign_in_link_expires_at_index` on `sign_in_link` (`expires_at`);");

    this.addSql(
      "create table `usage` (`request_id` text not null, `run_id` text not null, `account_id` text not null, `key_id` text not null, `model` text not null, `input_tokens` bigint not null, `output_tokens` bigint not null, `cost` bigint not null, `shortfall` bigint not null, `status` text check (`status` in ('completed', 'cancelled', 'failed', 'recovered')) not null, `settled_at` datetime not null, `max_input_rate` bigint null, `max_output_rate` bigint null, `admitted_input_tokens` bigint null, `admitted_output_tokens` bigint null, `finish` text null, `delivery` text null, `first_token_ms` bigint null, `duration_ms` bigint null, `reasoning_tokens` bigint null, `cached_input_tokens` bigint null, `server` text null, `surface` text null, `budget_slice_id` text null, `labels` text null, primary key (`request_id`, `run_id`), constraint `usage_tokens` check (input_tokens >= 0 and output_tokens >= 0), constraint `usage_cost` check (shortfall >= 0 and shortfall <= cost and cost <= 9007199254740991));",
    );
    this.addSql("create index `usage_account_id_settled_at_index` on `usage` (`account_id`, `settled_at`);");
    this.addSql("create index `usage_settled_at_index` on `usage` (`settled_at`);");

    this.addSql(
      "create table `usage_event` (`request_id` text not null, `run_id` text not null, `at` datetime not null, primary key (`request_id`, `run_id`));",
    );
    this.addSql(
      "create index `usage_event_at_request_id_run_id_index` on `usage_event` (`at`, `request_id`, `run_id`);",
    );

    this.addSql(
      "create table `usage_line` (`request_id` text not null, `run_id` text not null, `seq` integer not null, `lot_id` text not null, `slice_id` text not null, `input_tokens` bigint not null, `output_tokens` bigint not null, `input_rate` bigint not null, `output_rate` bigint not null, `cost` bigint not null, primary key (`request_id`, `run_id`, `seq`), constraint `usage_line_amounts` check (input_tokens >= 0 and output_tokens >= 0 and cost >= 0 and cost <= 9007199254740991));",
    );

    this.addSql(
      "create table `usage_rollup` (`account_id` text not null, `span` text check (`span` in ('hour', 'day')) not null, `slot` integer not null, `key_id` text not null, `model` text not null, `requests` bigint not null, `input_tokens` bigint not null, `output_tokens` bigint not null, `cost_high` bigint not null, `cost_low` bigint not null, `shortfall` bigint not null, primary key (`account_id`, `span`, `slot`, `key_id`, `model`));",
    );
    this.addSql("create index `usage_rollup_span_slot_index` on `usage_rollup` (`span`, `slot`);");

    // Without row ids the rows lie in the order of the key: what is read together is in the same pages.
    this.addSql(
      "create table `usage_span` (`hours` integer not null, `detail` text check (`detail` in ('account', 'key')) not null, `slot` integer not null, `account_id` text not null, `key_id` text not null, `model` text not null, `requests` bigint not null, `input_tokens` bigint not null, `output_tokens` bigint not null, `cost_high` bigint not null, `cost_low` bigint not null, `shortfall` bigint not null, primary key (`hours`, `detail`, `slot`, `account_id`, `key_id`, `model`)) without rowid;",
    );

    this.addSql(
      "create table `usage_tally` (`core_id` text not null, `hour` integer not null, `account_id` text not null, `key_id` text not null, `model` text not null, `requests` bigint not null, `input_tokens` bigint not null, `output_tokens` bigint not null, `cost_high` bigint not null, `cost_low` bigint not null, `shortfall` bigint not null, `seen` integer not null default false, `unbudgeted` integer not null default true, primary key (`core_id`, `hour`, `account_id`, `key_id`, `model`));",
    );
    this.addSql("create index `usage_tally_account_id_hour_index` on `usage_tally` (`account_id`, `hour`);");
    this.addSql("create index `usage_tally_hour_index` on `usage_tally` (`hour`);");
    this.addSql("create index `usage_tally_unseen` on `usage_tally` (`hour`) where not seen;");

    this.addSql(
      "create table `webhook` (`id` text not null primary key, `url` text not null, `events` text not null, `secret` text not null, `previous_secret` text null, `previous_until` datetime null, `created_at` datetime not null, `paused_at` datetime null);",
    );

    this.addSql(
      "create table `delivery` (`id` text not null primary key, `webhook_id` text not null, `event_id` text not null, `type` text not null, `lane` text not null, `at` datetime not null, `status` text check (`status` in ('pending', 'delivered', 'failed')) not null, `attempts` integer not null, `next_at` datetime null, `first_at` datetime null, `delivered_at` datetime null, `response_status` integer null, `error` text not null, constraint `delivery_webhook_id_foreign` foreign key (`webhook_id`) references `webhook` (`id`));",
    );
    this.addSql(
      "create index `delivery_due` on `delivery` (`next_at`) where status = 'pending' and next_at is not null;",
    );
    this.addSql(
      "create index `delivery_lane` on `delivery` (`webhook_id`, `lane`, `at`, `event_id`) where status = 'pending';",
    );
    this.addSql("create index `delivery_webhook_id_at_event_id_index` on `delivery` (`webhook_id`, `at`, `event_id`);");
    this.addSql("create index `delivery_at_index` on `delivery` (`at`);");
    this.addSql("create unique index `delivery_webhook_id_event_id_unique` on `delivery` (`webhook_id`, `event_id`);");

    this.addSql(
      "create table `work_lease` (`name` text not null primary key, `holder` text not null, `until` datetime not null);",
    );

    this.addSql(
      "create table `free_grant` (`id` text not null primary key, `account_id` text not null, `person_id` text not null, `at` datetime not null, `granted_to` text null, `email` text null, `network` text not null, `day` text not null, `ordinal` integer null, `refused` text check (`refused` in ('identity', 'email', 'network')) null);",
    );
    this.addSql("create unique index `free_grant_granted_to_unique` on `free_grant` (`granted_to`);");
    this.addSql("create unique index `free_grant_email_unique` on `free_grant` (`email`);");
    this.addSql(
      "create unique index `free_grant_network_day_ordinal_unique` on `free_grant` (`network`, `day`, `ordinal`);",
    );

    this.addSql(
      "create table `invitation` (`id` text not null primary key, `account_id` text not null, `role` text check (`role` in ('viewer', 'developer', 'owner')) not null, `email` text null, `digest` blob not null, `invited_by` text null, `created_at` datetime not null, `expires_at` datetime not null, `used_at` datetime null, `used_by` text null, constraint `invitation_account_id_foreign` foreign key (`account_id`) references `account` (`id`));",
    );
    this.addSql("create index `invitation_account_id_index` on `invitation` (`account_id`);");
    this.addSql("create unique index `invitation_digest_unique` on `invitation` (`digest`);");

    this.addSql(
      "create table `person` (`id` text not null primary key, `name` text not null, `email` text null, `email_verified` integer not null, `created_at` datetime not null, `mails` json null);",
    );

    this.addSql(
      "create table `member` (`id` text not null primary key, `account_id` text not null, `person_id` text not null, `role` text check (`role` in ('viewer', 'developer', 'owner')) not null, `created_at` datetime not null, constraint `member_account_id_foreign` foreign key (`account_id`) references `account` (`id`), constraint `member_person_id_foreign` foreign key (`person_id`) references `person` (`id`));",
    );
    this.addSql("create index `member_account_id_index` on `member` (`account_id`);");
    this.addSql("create index `member_person_id_index` on `member` (`person_id`);");
    this.addSql("create unique index `member_account_id_person_id_unique` on `member` (`account_id`, `person_id`);");

    this.addSql(
      "create table `identity` (`id` text not null primary key, `person_id` text not null, `issuer` text not null, `subject` text not null, `created_at` datetime not null, `name` text null, `public_key` blob null, `counter` bigint null, `used_at` datetime null, constraint `identity_person_id_foreign` foreign key (`person_id`) references `person` (`id`));",
    );
    this.addSql("create index `identity_person_id_index` on `identity` (`person_id`);");
    this.addSql("create unique index `identity_issuer_subject_unique` on `identity` (`issuer`, `subject`);");

    this.addSql(
      "create table `auto_top_up` (`account_id` text not null primary key, `below` bigint not null, `amount` bigint not null, `monthly` bigint not null, `state` text check (`state` in ('on', 'off', 'declined')) not null, `crossing` integer not null, `charging` text null, `declines` integer not null, `not_before` datetime null, constraint `auto_top_up_account_id_foreign` foreign key (`account_id`) references `account` (`id`) on update no action on delete no action);",
    );
    this.addSql("create index `auto_top_up_on` on `auto_top_up` (`account_id`) where state = 'on';");

    this.addSql(
      "create table `payment_event` (`id` text not null primary key, `type` text not null, `reference` text not null, `account_id` text null, `amount` bigint null, `outcome` text check (`outcome` in ('credited', 'withdrawn', 'unmatched', 'refused', 'postponed')) not null, `detail` text not null, `at` datetime not null);",
    );
    this.addSql("create index `payment_event_at_id_index` on `payment_event` (`at`, `id`);");
    this.addSql("create index `payment_event_unmatched` on `payment_event` (`at`, `id`) where outcome = 'unmatched';");

    this.addSql(
      "create table `provider_customer` (`account_id` text not null primary key, `customer` text not null, constraint `provider_customer_account_id_foreign` foreign key (`account_id`) references `account` (`id`) on update no action on delete no action);",
    );
    this.addSql("create index `provider_customer_account_id_index` on `provider_customer` (`account_id`);");

    this.addSql(
      "create table `provider_payment` (`id` text not null primary key, `account_id` text not null, `origin` text check (`origin` in ('checkout', 'auto', 'elsewhere')) not null, `cause` text not null, `amount` bigint not null, `charged` bigint null, `state` text check (`state` in ('open', 'paid', 'credited', 'expired', 'declined')) not null, `session` text null, `url` text null, `reference` text null, `problem` text null, `created_at` datetime not null, `ask_at` datetime null, constraint `provider_payment_account_id_foreign` foreign key (`account_id`) references `account` (`id`), constraint `provider_payment_amount` check (amount > 0 and amount <= 9007199254740991));",
    );
    this.addSql("create unique index `provider_payment_session_unique` on `provider_payment` (`session`);");
    this.addSql("create unique index `provider_payment_reference_unique` on `provider_payment` (`reference`);");
    this.addSql(
      "create index `provider_payment_account_id_created_at_index` on `provider_payment` (`account_id`, `created_at`);",
    );
    this.addSql("create index `provider_payment_ask` on `provider_payment` (`ask_at`) where ask_at is not null;");
    this.addSql(
      "create unique index `provider_payment_account_id_origin_cause_unique` on `provider_payment` (`account_id`, `origin`, `cause`);",
    );

    this.addSql(
      "create table `withdrawal` (`id` text not null primary key, `account_id` text not null, `payment_id` text not null, `kind` text check (`kind` in ('refund', 'elsewhere', 'dispute')) not null, `cause` text null, `amount` bigint not null, `paid_back` bigint not null, `state` text check (`state` in ('asked', 'withdrawn', 'done', 'refused', 'returned')) not null, `provider_id` text null, `problem` text null, `created_at` datetime not null, `ask_at` datetime null, constraint `withdrawal_account_id_foreign` foreign key (`account_id`) references `account` (`id`), constraint `withdrawal_payment_id_foreign` foreign key (`payment_id`) references `provider_payment` (`id`), constraint `withdrawal_amount` check (amount >= 0 and amount <= 9007199254740991));",
    );
    this.addSql("create index `withdrawal_payment_id_index` on `withdrawal` (`payment_id`);");
    this.addSql("create unique index `withdrawal_provider_id_unique` on `withdrawal` (`provider_id`);");
    this.addSql("create index `withdrawal_ask` on `withdrawal` (`ask_at`) where ask_at is not null;");
    this.addSql("create unique index `withdrawal_account_id_cause_unique` on `withdrawal` (`account_id`, `cause`);");

    this.addSql(
      "create table `mail` (`id` text not null primary key, `kind` text not null, `address` text not null, `event_id` text null, `network` text null, `content` text not null, `at` datetime not null, `until` datetime not null, `status` text check (`status` in ('pending', 'sent', 'failed')) not null, `attempts` integer not null, `next_at` datetime null, `first_at` datetime null, `error` text not null);",
    );
    this.addSql("create index `mail_due` on `mail` (`next_at`) where status = 'pending';");
    this.addSql("create index `mail_address_at_index` on `mail` (`address`, `at`);");
    this.addSql("create index `mail_network_at_index` on `mail` (`network`, `at`);");
    this.addSql("create index `mail_at_index` on `mail` (`at`);");
    this.addSql("create index `mail_failed` on `mail` (`at`) where status = 'failed';");
    this.addSql("create unique index `mail_event_id_address_unique` on `mail` (`event_id`, `address`);");

    this.addSql(
      "create table `model_day` (`day` integer not null, `model` text not null, `measure` text not null, `count` bigint not null, primary key (`day`, `model`, `measure`));",
    );

    this.addSql(
      "create table `day_seal` (`number` integer not null primary key, `id` text not null, `day` integer not null, `receipts` bigint not null, `cost_high` bigint not null, `cost_low` bigint not null, `root` text not null, `chain` text not null, `at` datetime not null);",
    );
    this.addSql("create unique index `day_seal_id_unique` on `day_seal` (`id`);");
    this.addSql("create index `day_seal_day_number_index` on `day_seal` (`day`, `number`);");

    this.addSql(
      "create table `sealed_account` (`seal_id` text not null, `account_id` text not null, `receipts` bigint not null, `cost_high` bigint not null, `cost_low` bigint not null, `digest` text not null, primary key (`seal_id`, `account_id`));",
    );

    this.addSql(
      "create table `sealed_slice` (`seal_id` text not null, `slice_id` text not null, `cost` bigint not null, primary key (`seal_id`, `slice_id`), constraint `sealed_slice_cost` check (cost >= 0));",
    );

    this.addSql(
      "create table `request_record` (`id` integer not null primary key autoincrement, `request_id` text not null, `account_id` text null, `key_id` text not null, `surface` text not null, `model` text not null, `reason` text not null, `http_status` integer not null, `duration_ms` integer not null, `server` text not null, `left_out` integer not null, `at` datetime not null);",
    );
    this.addSql("create index `request_record_at_id_index` on `request_record` (`at`, `id`);");
    this.addSql("create index `request_record_account_id_at_id_index` on `request_record` (`account_id`, `at`, `id`);");
    this.addSql("create index `request_record_key_id_at_id_index` on `request_record` (`key_id`, `at`, `id`);");
    this.addSql("create index `request_record_request_id_index` on `request_record` (`request_id`);");

    this.addSql("create table `used_proof` (`id` text not null primary key, `until` datetime not null);");
    this.addSql("create index `used_proof_until_index` on `used_proof` (`until`);");

    this.addSql(
      "create table `own_prices` (`id` text not null primary key, `account_id` text not null, `number` integer not null, `discount` integer not null, `set_at` datetime not null, constraint `own_prices_account_id_foreign` foreign key (`account_id`) references `account` (`id`), constraint `own_prices_discount` check (discount >= 0 and discount < 10000 and number > 0));",
    );
    this.addSql("create unique index `own_prices_account_id_number_unique` on `own_prices` (`account_id`, `number`);");

    this.addSql(
      "create table `own_price` (`own_prices_id` text not null, `model` text not null, `input` bigint not null, `output` bigint not null, primary key (`own_prices_id`, `model`), constraint `own_price_own_prices_id_foreign` foreign key (`own_prices_id`) references `own_prices` (`id`), constraint `own_price_amounts` check (input >= 0 and output >= 0));",
    );

    this.addSql(
      "create table `lot` (`id` text not null primary key, `account_id` text not null, `kind` text check (`kind` in ('free', 'grant', 'paid', 'credit')) not null, `priority` integer not null, `granted` bigint not null, `spent` bigint not null, `leased` bigint not null, `refunded` bigint not null, `expired` bigint not null, `repaid` bigint not null default '0', `price_version_id` integer not null, `own_prices_id` text null, `created_at` datetime not null, `expires_at` datetime null, `payment_id` text null, constraint `lot_account_id_foreign` foreign key (`account_id`) references `account` (`id`), constraint `lot_price_version_id_foreign` foreign key (`price_version_id`) references `price_version` (`id`), constraint `lot_own_prices_id_foreign` foreign key (`own_prices_id`) references `own_prices` (`id`) on delete no action, constraint `lot_payment_id_foreign` foreign key (`payment_id`) references `payment` (`id`), constraint `lot_granted` check (granted > 0 and granted <= 9007199254740991), constraint `lot_parts` check (spent >= 0 and leased >= 0 and refunded >= 0 and expired >= 0), constraint `lot_own_prices` check (own_prices_id is null or kind = 'paid' or kind = 'credit'), constraint `lot_repaid` check (repaid >= 0 and repaid <= granted - refunded and (repaid = 0 or kind = 'credit')), constraint `lot_origin` check ((kind = 'credit') = (payment_id is null)), constraint `lot_sum` check (spent + leased + refunded + expired <= granted));",
    );
    this.addSql("create index `lot_price_version_id_index` on `lot` (`price_version_id`);");
    this.addSql("create index `lot_payment_id_index` on `lot` (`payment_id`);");
    this.addSql("create unique index `lot_payment_id_unique` on `lot` (`payment_id`);");
    this.addSql("create index `lot_account_id_id_index` on `lot` (`account_id`, `id`);");
    this.addSql(
      "create index `lot_spending_expiring` on `lot` (`account_id`, `priority`, `expires_at`, `created_at`, `id`) where granted > spent + leased + refunded + expired and expires_at is not null;",
    );
    this.addSql(
      "create index `lot_spending_lasting` on `lot` (`account_id`, `priority`, `created_at`, `id`) where granted > spent + leased + refunded + expired and expires_at is null;",
    );
    this.addSql(
      "create index `lot_expiry` on `lot` (`expires_at`, `id`) where granted > spent + leased + refunded + expired and expires_at is not null;",
    );
    this.addSql(
      "create index `lot_credit` on `lot` (`account_id`, `id`) where kind = 'credit' and (repaid <> spent or granted > spent + refunded);",
    );

    this.addSql(
      "create table `lot_entry` (`id` text not null primary key, `lot_id` text not null, `kind` text check (`kind` in ('grant', 'refund', 'expire', 'debt', 'repaid')) not null, `amount` bigint not null, `payment_id` text null, `at` datetime not null, constraint `lot_entry_lot_id_foreign` foreign key (`lot_id`) references `lot` (`id`), constraint `lot_entry_amount` check (amount > 0 and amount <= 9007199254740991));",
    );
    this.addSql("create index `lot_entry_lot_id_index` on `lot_entry` (`lot_id`);");

    this.addSql(
      "create table `slice` (`id` text not null primary key, `lot_id` text not null, `account_id` text not null, `core_id` text not null, `epoch` integer not null, `granted` bigint not null, `spent` bigint not null, `open` integer not null, constraint `slice_lot_id_foreign` foreign key (`lot_id`) references `lot` (`id`), constraint `slice_granted` check (granted >= 0 and granted <= 9007199254740991), constraint `slice_spent` check (spent >= 0 and spent <= granted));",
    );
    this.addSql("create index `slice_lot_id_index` on `slice` (`lot_id`) where open;");
    this.addSql("create index `slice_core_id_index` on `slice` (`core_id`) where open;");
    this.addSql("create index `slice_account_id_index` on `slice` (`account_id`) where open;");

    this.addSql(
      "create table `usage_label` (`account_id` text not null, `name` text not null, `hour` integer not null, `value` text not null, `key_id` text not null, `model` text not null, `core_id` text not null, `requests` bigint not null, `input_tokens` bigint not null, `output_tokens` bigint not null, `cost_high` bigint not null, `cost_low` bigint not null, `shortfall` bigint not null, primary key (`account_id`, `name`, `hour`, `value`, `key_id`, `model`, `core_id`));",
    );
    this.addSql("create index `usage_label_hour_index` on `usage_label` (`hour`);");

    this.addSql(
      "create table `service_step` (`seconds` integer not null, `at` integer not null, `measure` text not null, `count` bigint not null, primary key (`seconds`, `at`, `measure`));",
    );

    // Operators' changes are neither changed nor deleted. "insert or replace" deletes without asking triggers of deletes.
    this.addSql(
      "create trigger audit_event_no_update before update on audit_event begin select raise(abort, 'the audit log is append-only'); end;",
    );
    this.addSql(
      "create trigger audit_event_no_delete before delete on audit_event begin select raise(abort, 'the audit log is append-only'); end;",
    );
    this.addSql(
      "create trigger audit_event_no_replace before insert on audit_event when exists (select 1 from audit_event where id = new.id or rowid = new.rowid) begin select raise(abort, 'the audit log is append-only'); end;",
    );
  }
}
