import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000002 extends Migration {
  override name = "Migration20261126000002";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`free_grant\` (\`id\` text not null primary key, \`account_id\` text not null, \`person_id\` text not null, \`at\` datetime not null, \`granted_to\` text null, \`email\` text null, \`network\` text not null, \`day\` text not null, \`ordinal\` integer null, \`refused\` text check (\`refused\` in ('identity', 'email', 'network')) null);`,
    );
    this.addSql(`create unique index \`free_grant_granted_to_unique\` on \`free_grant\` (\`granted_to\`);`);
    this.addSql(`create unique index \`free_grant_email_unique\` on \`free_grant\` (\`email\`);`);
    this.addSql(
      `create unique index \`free_grant_network_day_ordinal_unique\` on \`free_grant\` (\`network\`, \`day\`, \`ordinal\`);`,
    );

    this.addSql(
      `create table \`invitation\` (\`id\` text not null primary key, \`account_id\` text not null, \`role\` text check (\`role\` in ('viewer', 'developer', 'owner')) not null, \`email\` text null, \`digest\` blob not null, \`invited_by\` text null, \`created_at\` datetime not null, \`expires_at\` datetime not null, \`used_at\` datetime null, \`used_by\` text null, constraint \`invitation_account_id_foreign\` foreign key (\`account_id\`) references \`account\` (\`id\`));`,
    );
    this.addSql(`create index \`invitation_account_id_index\` on \`invitation\` (\`account_id\`);`);
    this.addSql(`create unique index \`invitation_digest_unique\` on \`invitation\` (\`digest\`);`);

    this.addSql(
      `create table \`person\` (\`id\` text not null primary key, \`name\` text not null, \`email\` text null, \`email_verified\` integer not null, \`created_at\` datetime not null);`,
    );

    this.addSql(
      `create table \`member\` (\`id\` text not null primary key, \`account_id\` text not null, \`person_id\` text not null, \`role\` text check (\`role\` in ('viewer', 'developer', 'owner')) not null, \`created_at\` datetime not null, constraint \`member_account_id_foreign\` foreign key (\`account_id\`) references \`account\` (\`id\`), constraint \`member_person_id_foreign\` foreign key (\`person_id\`) references \`person\` (\`id\`));`,
    );
    this.addSql(`create index \`member_account_id_index\` on \`member\` (\`account_id\`);`);
    this.addSql(`create index \`member_person_id_index\` on \`member\` (\`person_id\`);`);
    this.addSql(
      `create unique index \`member_account_id_person_id_unique\` on \`member\` (\`account_id\`, \`person_id\`);`,
    );

    this.addSql(
      `create table \`identity\` (\`id\` text not null primary key, \`person_id\` text not null, \`issuer\` text not null, \`subject\` text not null, \`created_at\` datetime not null, constraint \`identity_person_id_foreign\` foreign key (\`person_id\`) references \`person\` (\`id\`));`,
    );
    this.addSql(`create index \`identity_person_id_index\` on \`identity\` (\`person_id\`);`);
    this.addSql(`create unique index \`identity_issuer_subject_unique\` on \`identity\` (\`issuer\`, \`subject\`);`);

    this.addSql(`alter table \`api_key\` add column \`manages\` integer not null default false;`);
    this.addSql(`alter table \`api_key\` add column \`person_id\` text null;`);
    this.addSql(`alter table \`api_key\` add column \`disabled\` integer not null default false;`);
    this.addSql(`alter table \`api_key\` add column \`updated_at\` datetime null;`);

    this.addSql(`alter table \`audit_event\` add column \`key_id\` text null;`);
    this.addSql(`alter table \`audit_event\` add column \`person_id\` text null;`);
    this.addSql(`alter table \`audit_event\` add column \`account_id\` text null;`);
    this.addSql(
      `create index \`audit_event_account_id_at_id_index\` on \`audit_event\` (\`account_id\`, \`at\`, \`id\`);`,
    );

    this.addSql(`alter table \`console_session\` add column \`person_id\` text null;`);
    this.addSql(`create index \`console_session_person_id_index\` on \`console_session\` (\`person_id\`);`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists \`free_grant\`;`);
    this.addSql(`drop table if exists \`invitation\`;`);
    this.addSql(`drop table if exists \`person\`;`);
    this.addSql(`drop table if exists \`member\`;`);
    this.addSql(`drop table if exists \`identity\`;`);

    this.addSql(`alter table \`api_key\` drop column \`manages\`;`);
    this.addSql(`alter table \`api_key\` drop column \`person_id\`;`);
    this.addSql(`alter table \`api_key\` drop column \`disabled\`;`);
    this.addSql(`alter table \`api_key\` drop column \`updated_at\`;`);

    this.addSql(`drop index \`audit_event_account_id_at_id_index\`;`);
    this.addSql(`alter table \`audit_event\` drop column \`key_id\`;`);
    this.addSql(`alter table \`audit_event\` drop column \`person_id\`;`);
    this.addSql(`alter table \`audit_event\` drop column \`account_id\`;`);

    this.addSql(`drop index \`console_session_person_id_index\`;`);
    this.addSql(`alter table \`console_session\` drop column \`person_id\`;`);
  }
}
