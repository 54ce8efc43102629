import { Migration } from "@mikro-orm/migrations";

/** Accounts and keys know the request that made them, so that sent again it makes no other. Forward only. */
export class Migration20261122060000 extends Migration {
  override name = "Migration20261122060000";

  override up(): void | Promise<void> {
    this.addSql(`alter table "account" add "request_id" varchar(255) null;`);
    this.addSql(`alter table "account" add constraint "account_request_id_unique" unique ("request_id");`);

    this.addSql(`alter table "api_key" add "request_id" varchar(255) null;`);
    this.addSql(
      `alter table "api_key" add constraint "api_key_account_id_request_id_unique" unique ("account_id", "request_id");`,
    );
  }
}
