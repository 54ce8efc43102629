import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000011 extends Migration {
  override name = "Migration20261126000011";

  override up(): void | Promise<void> {
    this.addSql('alter table "usage" add "labels" text null;');
    this.addSql(
      'create table "usage_label" ("account_id" uuid not null, "name" varchar(255) not null, "hour" int not null, "value" varchar(255) not null, "key_id" varchar(255) not null, "model" varchar(255) not null, "core_id" uuid not null, "requests" bigint not null, "input_tokens" bigint not null, "output_tokens" bigint not null, "cost_high" bigint not null, "cost_low" bigint not null, "shortfall" bigint not null, primary key ("account_id", "name", "hour", "value", "key_id", "model", "core_id"));',
    );
    this.addSql('create index "usage_label_hour_index" on "usage_label" ("hour");');
  }
}
