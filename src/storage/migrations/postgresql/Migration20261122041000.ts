import { Migration } from "@mikro-orm/migrations";

/** A price version keeps what it changed: rows that only repeat an earlier version's go. Forward only. */
export class Migration20261122041000 extends Migration {
  override name = "Migration20261122041000";

  override up(): void | Promise<void> {
    this.addSql(
      `delete from "price" where introduced_in <> version_id and exists (select 1 from "price" changed where changed.model = "price".model and changed.version_id = "price".introduced_in);`,
    );
    this.addSql(`alter table "price" drop column "introduced_in";`);
  }
}
