import { Migration } from "@mikro-orm/migrations";

export class Migration20261130000001 extends Migration {
  override name = "Migration20261130000001";

  override up(): void | Promise<void> {
    this.addSql(`alter table "provider_payment" add "refused_at" timestamptz(3) null;`);
  }
}
