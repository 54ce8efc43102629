import { Migration } from "@mikro-orm/migrations";

/** Why a price is what it is, what a request was admitted with, and events by their type. Forward only. */
export class Migration20261122131600 extends Migration {
  override name = "Migration20261122131600";

  override up(): void | Promise<void> {
    this.addSql(`create index "event_type_at_id_index" on "event" ("type", "at", "id");`);

    this.addSql(`alter table "price" add "reason" varchar(255) null, add "utilisation" double precision null;`);

    this.addSql(
      `alter table "usage" add "admitted_input_tokens" bigint null, add "admitted_output_tokens" bigint null;`,
    );
  }
}
