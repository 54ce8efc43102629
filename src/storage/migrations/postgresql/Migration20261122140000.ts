import { Migration } from "@mikro-orm/migrations";

/** Versions of prices have marks, and open slices have a core each. */
export class Migration20261122140000 extends Migration {
  override name = "Migration20261122140000";

  override up(): void | Promise<void> {
    this.addSql(`alter table "price_version" add "mark" varchar(255) not null default '';`);
    // Slices of cores that a failover into the past has lost: with a row that stands still, others take them back.
    this.addSql(`
      insert into "core" ("id", "epoch", "beats", "heartbeat_at")
      select "core_id", "epoch", 0, now() from (
        select "core_id", "epoch" from "slice" where "open"
        union select "core_id", "epoch" from "budget_slice" where "open") leased
      on conflict do nothing;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "price_version" drop column "mark";`);
  }
}
