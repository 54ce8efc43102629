import { Migration } from "@mikro-orm/migrations";

/** Tallies tell of charges that count in no budget's slice. What budgets have not counted of these is counted at their next lease. */
export class Migration20261123020000 extends Migration {
  override name = "Migration20261123020000";

  override up(): void | Promise<void> {
    this.addSql(`alter table "usage_tally" add "unbudgeted" boolean not null default true;`);
    this.addSql("update budget set bound = 0 where bound <> 0;");
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "usage_tally" drop column "unbudgeted";`);
  }
}
