import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000007 extends Migration {
  override name = "Migration20261126000007";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "request_record" ("id" bigserial primary key, "request_id" varchar(255) not null, "account_id" uuid null, "key_id" varchar(255) not null, "surface" varchar(255) not null, "model" varchar(255) not null, "reason" varchar(255) not null, "http_status" int not null, "duration_ms" int not null, "server" varchar(255) not null, "left_out" int not null, "at" timestamptz(3) not null);`,
    );
    this.addSql(`create index "request_record_at_id_index" on "request_record" ("at", "id");`);
    this.addSql(`create index "request_record_account_id_at_id_index" on "request_record" ("account_id", "at", "id");`);
    this.addSql(`create index "request_record_key_id_at_id_index" on "request_record" ("key_id", "at", "id");`);
    this.addSql(`create index "request_record_request_id_index" on "request_record" ("request_id");`);

    this.addSql(`create index "api_key_last_used_at_id_index" on "api_key" ("last_used_at", "id");`);
    this.addSql(`create index "api_key_last4_index" on "api_key" ("last4");`);
    this.addSql(`create index "api_key_prefix_index" on "api_key" ("prefix");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "request_record" cascade;`);

    this.addSql(`drop index "api_key_last_used_at_id_index";`);
    this.addSql(`drop index "api_key_last4_index";`);
    this.addSql(`drop index "api_key_prefix_index";`);
  }
}
