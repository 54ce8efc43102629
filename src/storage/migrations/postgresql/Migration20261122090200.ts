import { Migration } from "@mikro-orm/migrations";

/** Events, the endpoints that are told of them, and their deliveries. Forward only. */
export class Migration20261122090200 extends Migration {
  override name = "Migration20261122090200";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "event" ("id" uuid not null, "type" varchar(255) not null, "account_id" uuid null, "body" text not null, "at" timestamptz(3) not null, "spread" boolean not null default false, primary key ("id"));`,
    );
    this.addSql(`create index "event_at_id_index" on "event" ("at", "id");`);
    this.addSql(`create index "event_not_spread" on "event" ("at", "id") where not spread;`);

    this.addSql(
      `create table "webhook" ("id" uuid not null, "url" text not null, "events" text not null, "secret" text not null, "previous_secret" text null, "previous_until" timestamptz(3) null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "delivery" ("id" uuid not null, "webhook_id" uuid not null, "event_id" uuid not null, "type" varchar(255) not null, "lane" varchar(255) not null, "at" timestamptz(3) not null, "status" text not null, "attempts" int not null, "next_at" timestamptz(3) null, "first_at" timestamptz(3) null, "delivered_at" timestamptz(3) null, "response_status" int null, "error" text not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "delivery_due" on "delivery" ("next_at") where status = 'pending' and next_at is not null;`,
    );
    this.addSql(
      `create index "delivery_lane" on "delivery" ("webhook_id", "lane", "at", "event_id") where status = 'pending';`,
    );
    this.addSql(`create index "delivery_webhook_id_at_event_id_index" on "delivery" ("webhook_id", "at", "event_id");`);
    this.addSql(`create index "delivery_at_index" on "delivery" ("at");`);
    this.addSql(
      `alter table "delivery" add constraint "delivery_webhook_id_event_id_unique" unique ("webhook_id", "event_id");`,
    );

    this.addSql(
      `create table "work_lease" ("name" varchar(255) not null, "holder" varchar(255) not null, "until" timestamptz(3) not null, primary key ("name"));`,
    );

    this.addSql(
      `alter table "delivery" add constraint "delivery_webhook_id_foreign" foreign key ("webhook_id") references "webhook" ("id");`,
    );
    this.addSql(
      `alter table "delivery" add constraint "delivery_status_check" check ("status" in ('pending', 'delivered', 'failed'));`,
    );
  }
}
