import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000017 extends Migration {
  override name = "Migration20261126000017";

  override up(): void | Promise<void> {
    this.addSql("alter table `receipt_archive` add column `mark` text null;");
  }
}
