import { Migration } from "@mikro-orm/migrations";

/** A page of an account's lots costs the same however many it has. Forward only. */
export class Migration20261122070000 extends Migration {
  override name = "Migration20261122070000";

  override up(): void | Promise<void> {
    this.addSql(`drop index "lot_account_id_index";`);
    this.addSql(`create index "lot_account_id_id_index" on "lot" ("account_id", "id");`);
  }
}
