import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000018 extends Migration {
  override name = "Migration20261126000018";

  override up(): void | Promise<void> {
    this.addSql("create index `audit_event_target_at_id_index` on `audit_event` (`target`, `at`, `id`);");
    this.addSql("create index `audit_event_operator_at_id_index` on `audit_event` (`operator`, `at`, `id`);");
  }
}
