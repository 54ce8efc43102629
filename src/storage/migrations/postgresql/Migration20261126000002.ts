import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000002 extends Migration {
  override name = "Migration20261126000002";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "free_grant" ("id" uuid not null, "account_id" uuid not null, "person_id" uuid not null, "at" timestamptz(3) not null, "granted_to" uuid null, "email" varchar(255) null, "network" varchar(255) not null, "day" varchar(255) not null, "ordinal" int null, "refused" text null, primary key ("id"));`,
    );
    this.addSql(`alter table "free_grant" add constraint "free_grant_granted_to_unique" unique ("granted_to");`);
    this.addSql(`alter table "free_grant" add constraint "free_grant_email_unique" unique ("email");`);
    this.addSql(
      `alter table "free_grant" add constraint "free_grant_network_day_ordinal_unique" unique ("network", "day", "ordinal");`,
    );

    this.addSql(
      `create table "invitation" ("id" uuid not null, "account_id" uuid not null, "role" text not null, "email" varchar(255) null, "digest" bytea not null, "invited_by" uuid null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, "used_at" timestamptz(3) null, "used_by" uuid null, primary key ("id"));`,
    );
    this.addSql(`create index "invitation_account_id_index" on "invitation" ("account_id");`);
    this.addSql(`alter table "invitation" add constraint "invitation_digest_unique" unique ("digest");`);

    this.addSql(
      `create table "person" ("id" uuid not null, "name" varchar(255) not null, "email" varchar(255) null, "email_verified" boolean not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "member" ("id" uuid not null, "account_id" uuid not null, "person_id" uuid not null, "role" text not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "member_person_id_index" on "member" ("person_id");`);
    this.addSql(
      `alter table "member" add constraint "member_account_id_person_id_unique" unique ("account_id", "person_id");`,
    );

    this.addSql(
      `create table "identity" ("id" uuid not null, "person_id" uuid not null, "issuer" varchar(255) not null, "subject" varchar(255) not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "identity_person_id_index" on "identity" ("person_id");`);
    this.addSql(`alter table "identity" add constraint "identity_issuer_subject_unique" unique ("issuer", "subject");`);

    this.addSql(
      `alter table "api_key" add "manages" boolean not null default false, add "person_id" uuid null, add "disabled" boolean not null default false, add "updated_at" timestamptz(3) null;`,
    );

    this.addSql(
      `alter table "audit_event" add "key_id" uuid null, add "person_id" uuid null, add "account_id" uuid null;`,
    );
    this.addSql(`create index "audit_event_account_id_at_id_index" on "audit_event" ("account_id", "at", "id");`);

    this.addSql(`alter table "console_session" add "person_id" uuid null;`);
    this.addSql(`create index "console_session_person_id_index" on "console_session" ("person_id");`);

    this.addSql(
      `alter table "free_grant" add constraint "free_grant_refused_check" check ("refused" in ('identity', 'email', 'network'));`,
    );

    this.addSql(
      `alter table "invitation" add constraint "invitation_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );
    this.addSql(
      `alter table "invitation" add constraint "invitation_role_check" check ("role" in ('viewer', 'developer', 'owner'));`,
    );

    this.addSql(
      `alter table "member" add constraint "member_account_id_foreign" foreign key ("account_id") references "account" ("id");`,
    );
    this.addSql(
      `alter table "member" add constraint "member_person_id_foreign" foreign key ("person_id") references "person" ("id");`,
    );
    this.addSql(
      `alter table "member" add constraint "member_role_check" check ("role" in ('viewer', 'developer', 'owner'));`,
    );

    this.addSql(
      `alter table "identity" add constraint "identity_person_id_foreign" foreign key ("person_id") references "person" ("id");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "member" drop constraint "member_person_id_foreign";`);
    this.addSql(`alter table "identity" drop constraint "identity_person_id_foreign";`);

    this.addSql(`drop table if exists "free_grant" cascade;`);
    this.addSql(`drop table if exists "invitation" cascade;`);
    this.addSql(`drop table if exists "person" cascade;`);
    this.addSql(`drop table if exists "member" cascade;`);
    this.addSql(`drop table if exists "identity" cascade;`);

    this.addSql(
      `alter table "api_key" drop column "manages", drop column "person_id", drop column "disabled", drop column "updated_at";`,
    );

    this.addSql(`drop index "audit_event_account_id_at_id_index";`);
    this.addSql(`alter table "audit_event" drop column "key_id", drop column "person_id", drop column "account_id";`);

    this.addSql(`drop index "console_session_person_id_index";`);
    this.addSql(`alter table "console_session" drop column "person_id";`);
  }
}
