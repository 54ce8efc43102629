import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000010 extends Migration {
  override name = "Migration20261126000010";

  override up(): void | Promise<void> {
    this.addSql(`alter table "account" add "credit_line" bigint not null default '0';`);
    this.addSql(`create index "account_credit_index" on "account" ("id") where credit_line > 0;`);
    this.addSql(
      `alter table "account" add constraint "account_credit_line_check" check (credit_line >= 0 and credit_line <= 9007199254740991);`,
    );

    this.addSql(`alter table "lot" drop constraint "lot_kind_check";`);
    this.addSql(
      `alter table "lot" add constraint "lot_kind_check" check ("kind" in ('free', 'grant', 'paid', 'credit'));`,
    );
    this.addSql(`alter table "lot" add "repaid" bigint not null default '0';`);
    this.addSql(`alter table "lot" alter column "payment_id" drop not null;`);
    this.addSql(
      `create index "lot_credit" on "lot" ("account_id", "id") where kind = 'credit' and (repaid <> spent or granted > spent + refunded);`,
    );
    this.addSql(
      `alter table "lot" add constraint "lot_repaid" check (repaid >= 0 and repaid <= granted - refunded and (repaid = 0 or kind = 'credit'));`,
    );
    this.addSql(`alter table "lot" add constraint "lot_origin" check ((kind = 'credit') = (payment_id is null));`);

    this.addSql(`alter table "lot_entry" drop constraint "lot_entry_kind_check";`);
    this.addSql(
      `alter table "lot_entry" add constraint "lot_entry_kind_check" check ("kind" in ('grant', 'refund', 'expire', 'debt', 'repaid'));`,
    );
  }
}
