import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000016 extends Migration {
  override name = "Migration20261126000016";

  override up(): void | Promise<void> {
    this.addSql('alter table "webhook" add "paused_at" timestamptz(3) null;');
  }
}
