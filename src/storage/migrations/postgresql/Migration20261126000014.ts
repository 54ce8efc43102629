import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000014 extends Migration {
  override name = "Migration20261126000014";

  override up(): void | Promise<void> {
    this.addSql(`alter table "person" add "mails" jsonb null;`);
  }
}
