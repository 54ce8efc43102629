import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000009 extends Migration {
  override name = "Migration20261126000009";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "own_prices" ("id" uuid not null, "account_id" uuid not null, "number" int not null, "discount" int not null, "set_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "own_prices" add constraint "own_prices_account_id_number_unique" unique ("account_id", "number");`,
    );
    this.addSql(
      `alter table "own_prices" add constraint "own_prices_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );
    this.addSql(
      `alter table "own_prices" add constraint "own_prices_discount" check (discount >= 0 and discount < 10000 and number > 0);`,
    );

    this.addSql(
      `create table "own_price" ("own_prices_id" uuid not null, "model" varchar(255) not null, "input" bigint not null, "output" bigint not null, primary key ("own_prices_id", "model"));`,
    );
    this.addSql(
      `alter table "own_price" add constraint "own_price_own_prices_id_foreign" foreign key ("own_prices_id") references "own_prices" ("id");`,
    );
    this.addSql(`alter table "own_price" add constraint "own_price_amounts" check (input >= 0 and output >= 0);`);

    this.addSql(`alter table "lot" add "own_prices_id" uuid null;`);
    this.addSql(
      `alter table "lot" add constraint "lot_own_prices_id_foreign" foreign key ("own_prices_id") references "own_prices" ("id") on delete no action;`,
    );
    this.addSql(
      `alter table "lot" add constraint "lot_own_prices" check (own_prices_id is null or kind = 'paid' or kind = 'credit');`,
    );
  }
}
