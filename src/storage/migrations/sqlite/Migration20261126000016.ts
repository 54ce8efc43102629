import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000016 extends Migration {
  override name = "Migration20261126000016";

  override up(): void | Promise<void> {
    this.addSql("alter table `webhook` add column `paused_at` datetime null;");
  }
}
