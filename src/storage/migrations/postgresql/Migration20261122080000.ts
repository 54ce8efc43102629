import { Migration } from "@mikro-orm/migrations";

/** Limits of keys and accounts, and frozen accounts. */
export class Migration20261122080000 extends Migration {
  override name = "Migration20261122080000";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "account" add "frozen_at" timestamptz(3) null, add "frozen_reason" varchar(255) null, add "max_in_flight" int null, add "low_balance" bigint null;`,
    );
    this.addSql(
      `alter table "api_key" add "models" jsonb null, add "tokens_per_minute" int null, add "max_in_flight" int null, add "budget" bigint null, add "budget_period" text null, add "limits_of" uuid null;`,
    );
    this.addSql(
      `alter table "api_key" add constraint "api_key_budget_period_check" check ("budget_period" in ('total', 'day', 'week', 'month'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(
      `alter table "account" drop column "frozen_at", drop column "frozen_reason", drop column "max_in_flight", drop column "low_balance";`,
    );
    this.addSql(`alter table "api_key" drop constraint "api_key_budget_period_check";`);
    this.addSql(
      `alter table "api_key" drop column "models", drop column "tokens_per_minute", drop column "max_in_flight", drop column "budget", drop column "budget_period", drop column "limits_of";`,
    );
  }
}
