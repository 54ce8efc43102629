import { Migration } from "@mikro-orm/migrations";

/** Counts of tokens beyond 32 bits, a place for charges that cannot be made, and a heart for each run of a core. */
export class Migration20261122010000 extends Migration {
  override name = "Migration20261122010000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "dead_letter" ("id" varchar(255) not null, "charge" text not null, "reason" text not null, "core_id" varchar(255) not null, "at" timestamptz(3) not null, primary key ("id"));`,
    );

    this.addSql(`alter table "core" drop constraint "core_pkey";`);
    this.addSql(`alter table "core" add "instance" varchar(255) null;`);
    this.addSql(`alter table "core" add primary key ("id", "epoch");`);

    this.addSql(
      `alter table "usage" alter column "input_tokens" type bigint, alter column "output_tokens" type bigint;`,
    );
    this.addSql(
      `alter table "usage_line" alter column "input_tokens" type bigint, alter column "output_tokens" type bigint;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "dead_letter" cascade;`);

    this.addSql(
      `delete from "core" older using "core" newer where newer."id" = older."id" and newer."epoch" > older."epoch";`,
    );
    this.addSql(`alter table "core" drop constraint "core_pkey";`);
    this.addSql(`alter table "core" drop column "instance";`);
    this.addSql(`alter table "core" add primary key ("id");`);

    this.addSql(`alter table "usage" alter column "input_tokens" type int, alter column "output_tokens" type int;`);
    this.addSql(
      `alter table "usage_line" alter column "input_tokens" type int, alter column "output_tokens" type int;`,
    );
  }
}
