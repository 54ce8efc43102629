import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000002 extends Migration {
  override name = "Migration20261126000002";

  override up(): void | Promise<void> {
    this.addSql(`alter table \`api_key\` add column \`manages\` integer not null default false;`);
    this.addSql(`alter table \`api_key\` add column \`disabled\` integer not null default false;`);
    this.addSql(`alter table \`api_key\` add column \`updated_at\` datetime null;`);

    this.addSql(`alter table \`audit_event\` add column \`key_id\` text null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table \`api_key\` drop column \`manages\`;`);
    this.addSql(`alter table \`api_key\` drop column \`disabled\`;`);
    this.addSql(`alter table \`api_key\` drop column \`updated_at\`;`);

    this.addSql(`alter table \`audit_event\` drop column \`key_id\`;`);
  }
}
