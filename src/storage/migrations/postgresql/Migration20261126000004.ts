import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000004 extends Migration {
  override name = "Migration20261126000004";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "mail" ("id" uuid not null, "kind" varchar(255) not null, "address" varchar(255) not null, "event_id" uuid null, "network" varchar(255) null, "content" text not null, "at" timestamptz(3) not null, "until" timestamptz(3) not null, "status" text not null, "attempts" int not null, "next_at" timestamptz(3) null, "first_at" timestamptz(3) null, "error" text not null, primary key ("id"));`,
    );
    this.addSql(`create index "mail_due" on "mail" ("next_at") where status = 'pending';`);
    this.addSql(`create index "mail_address_at_index" on "mail" ("address", "at");`);
    this.addSql(`create index "mail_network_at_index" on "mail" ("network", "at");`);
    this.addSql(`create index "mail_at_index" on "mail" ("at");`);
    this.addSql(`create index "mail_failed" on "mail" ("at") where status = 'failed';`);
    this.addSql(`alter table "mail" add constraint "mail_event_id_address_unique" unique ("event_id", "address");`);

    this.addSql(
      `create table "model_day" ("day" int not null, "model" varchar(255) not null, "measure" varchar(255) not null, "count" bigint not null, primary key ("day", "model", "measure"));`,
    );

    this.addSql(`alter table "account" add "email" varchar(255) null;`);

    this.addSql(`create index "price_version_published_at_index" on "price_version" ("published_at");`);

    this.addSql(
      `alter table "mail" add constraint "mail_status_check" check ("status" in ('pending', 'sent', 'failed'));`,
    );
  }
}
