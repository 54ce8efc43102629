import { Migration } from "@mikro-orm/migrations";

/** Payments through a payment provider. Forward only. */
export class Migration20261126000003 extends Migration {
  override name = "Migration20261126000003";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "auto_top_up" ("account_id" uuid not null, "below" bigint not null, "amount" bigint not null, "monthly" bigint not null, "state" text not null, "crossing" int not null, "charging" uuid null, "declines" int not null, "not_before" timestamptz(3) null, primary key ("account_id"));`,
    );
    this.addSql(`create index "auto_top_up_on" on "auto_top_up" ("account_id") where state = 'on';`);

    this.addSql(
      `create table "payment_event" ("id" varchar(255) not null, "type" varchar(255) not null, "reference" varchar(255) not null, "account_id" varchar(255) null, "amount" bigint null, "outcome" text not null, "detail" text not null, "at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "payment_event_at_id_index" on "payment_event" ("at", "id");`);
    this.addSql(`create index "payment_event_unmatched" on "payment_event" ("at", "id") where outcome = 'unmatched';`);

    this.addSql(
      `create table "provider_customer" ("account_id" uuid not null, "customer" varchar(255) not null, primary key ("account_id"));`,
    );

    this.addSql(
      `create table "provider_payment" ("id" uuid not null, "account_id" uuid not null, "origin" text not null, "cause" varchar(255) not null, "amount" bigint not null, "charged" bigint null, "state" text not null, "session" varchar(255) null, "url" text null, "reference" varchar(255) null, "problem" text null, "created_at" timestamptz(3) not null, "ask_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`alter table "provider_payment" add constraint "provider_payment_session_unique" unique ("session");`);
    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_reference_unique" unique ("reference");`,
    );
    this.addSql(
      `create index "provider_payment_account_id_created_at_index" on "provider_payment" ("account_id", "created_at");`,
    );
    this.addSql(`create index "provider_payment_ask" on "provider_payment" ("ask_at") where ask_at is not null;`);
    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_account_id_origin_cause_unique" unique ("account_id", "origin", "cause");`,
    );

    this.addSql(
      `create table "withdrawal" ("id" uuid not null, "account_id" uuid not null, "payment_id" uuid not null, "kind" text not null, "cause" varchar(255) null, "amount" bigint not null, "paid_back" bigint not null, "state" text not null, "provider_id" varchar(255) null, "problem" text null, "created_at" timestamptz(3) not null, "ask_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "withdrawal_payment_id_index" on "withdrawal" ("payment_id");`);
    this.addSql(`alter table "withdrawal" add constraint "withdrawal_provider_id_unique" unique ("provider_id");`);
    this.addSql(`create index "withdrawal_ask" on "withdrawal" ("ask_at") where ask_at is not null;`);
    this.addSql(
      `alter table "withdrawal" add constraint "withdrawal_account_id_cause_unique" unique ("account_id", "cause");`,
    );

    this.addSql(`alter table "payment" add "owed" bigint not null default '0';`);

    this.addSql(
      `alter table "auto_top_up" add constraint "auto_top_up_account_id_foreign" foreign key ("account_id") references "account" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "auto_top_up" add constraint "auto_top_up_state_check" check ("state" in ('on', 'off', 'declined'));`,
    );

    this.addSql(
      `alter table "payment_event" add constraint "payment_event_outcome_check" check ("outcome" in ('credited', 'withdrawn', 'unmatched', 'refused', 'postponed'));`,
    );

    this.addSql(
      `alter table "provider_customer" add constraint "provider_customer_account_id_foreign" foreign key ("account_id") references "account" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );
    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_amount" check (amount > 0 and amount <= 9007199254740991);`,
    );
    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_origin_check" check ("origin" in ('checkout', 'auto', 'elsewhere'));`,
    );
    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_state_check" check ("state" in ('open', 'paid', 'credited', 'expired', 'declined'));`,
    );

    this.addSql(
      `alter table "withdrawal" add constraint "withdrawal_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );
    this.addSql(
      `alter table "withdrawal" add constraint "withdrawal_payment_id_foreign" foreign key ("payment_id") references "provider_payment" ("id");`,
    );
    this.addSql(
      `alter table "withdrawal" add constraint "withdrawal_amount" check (amount >= 0 and amount <= 9007199254740991);`,
    );
    this.addSql(
      `alter table "withdrawal" add constraint "withdrawal_kind_check" check ("kind" in ('refund', 'elsewhere', 'dispute'));`,
    );
    this.addSql(
      `alter table "withdrawal" add constraint "withdrawal_state_check" check ("state" in ('asked', 'withdrawn', 'done', 'refused', 'returned'));`,
    );
  }
}
