import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000011 extends Migration {
  override name = "Migration20261126000011";

  override up(): void | Promise<void> {
    this.addSql("alter table `usage` add column `labels` text null;");
    this.addSql(
      "create table `usage_label` (`account_id` text not null, `name` text not null, `hour` integer not null, `value` text not null, `key_id` text not null, `model` text not null, `core_id` text not null, `requests` bigint not null, `input_tokens` bigint not null, `output_tokens` bigint not null, `cost_high` bigint not null, `cost_low` bigint not null, `shortfall` bigint not null, primary key (`account_id`, `name`, `hour`, `value`, `key_id`, `model`, `core_id`));",
    );
    this.addSql("create index `usage_label_hour_index` on `usage_label` (`hour`);");
  }
}
