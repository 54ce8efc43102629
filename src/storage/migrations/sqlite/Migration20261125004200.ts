import { Migration } from "@mikro-orm/migrations";

export class Migration20261125004200 extends Migration {
  override name = "Migration20261125004200";

  override up(): void | Promise<void> {
    this.addSql(`alter table \`budget_slice\` add column \`step\` integer not null default 0;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table \`budget_slice\` drop column \`step\`;`);
  }
}
