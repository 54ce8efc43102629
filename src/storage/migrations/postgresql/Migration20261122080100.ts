import { Migration } from "@mikro-orm/migrations";

/** What receipts tell of a run beside its cost: null for those of before. */
export class Migration20261122080100 extends Migration {
  override name = "Migration20261122080100";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "usage" add "finish" varchar(255) null, add "delivery" varchar(255) null, add "first_token_ms" bigint null, add "duration_ms" bigint null, add "reasoning_tokens" bigint null, add "cached_input_tokens" bigint null, add "server" varchar(255) null, add "surface" varchar(255) null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(
      `alter table "usage" drop column "finish", drop column "delivery", drop column "first_token_ms", drop column "duration_ms", drop column "reasoning_tokens", drop column "cached_input_tokens", drop column "server", drop column "surface";`,
    );
  }
}
