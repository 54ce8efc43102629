import { Migration } from "@mikro-orm/migrations";

/** The column of a lot comes with the next migration, which makes that table anew. */
export class Migration20261126000009 extends Migration {
  override name = "Migration20261126000009";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`own_prices\` (\`id\` text not null primary key, \`account_id\` text not null, \`number\` integer not null, \`discount\` integer not null, \`set_at\` datetime not null, constraint \`own_prices_account_id_foreign\` foreign key (\`account_id\`) references \`account\` (\`id\`), constraint \`own_prices_discount\` check (discount >= 0 and discount < 10000 and number > 0));`,
    );
    this.addSql(
      `create unique index \`own_prices_account_id_number_unique\` on \`own_prices\` (\`account_id\`, \`number\`);`,
    );

    this.addSql(
      `create table \`own_price\` (\`own_prices_id\` text not null, \`model\` text not null, \`input\` bigint not null, \`output\` bigint not null, primary key (\`own_prices_id\`, \`model\`), constraint \`own_price_own_prices_id_foreign\` foreign key (\`own_prices_id\`) references \`own_prices\` (\`id\`), constraint \`own_price_amounts\` check (input >= 0 and output >= 0));`,
    );
  }
}
