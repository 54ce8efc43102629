import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000007 extends Migration {
  override name = "Migration20261126000007";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`request_record\` (\`id\` integer not null primary key autoincrement, \`request_id\` text not null, \`account_id\` text null, \`key_id\` text not null, \`surface\` text not null, \`model\` text not null, \`reason\` text not null, \`http_status\` integer not null, \`duration_ms\` integer not null, \`server\` text not null, \`left_out\` integer not null, \`at\` datetime not null);`,
    );
    this.addSql(`create index \`request_record_at_id_index\` on \`request_record\` (\`at\`, \`id\`);`);
    this.addSql(
      `create index \`request_record_account_id_at_id_index\` on \`request_record\` (\`account_id\`, \`at\`, \`id\`);`,
    );
    this.addSql(
      `create index \`request_record_key_id_at_id_index\` on \`request_record\` (\`key_id\`, \`at\`, \`id\`);`,
    );
    this.addSql(`create index \`request_record_request_id_index\` on \`request_record\` (\`request_id\`);`);

    this.addSql(`create index \`api_key_last_used_at_id_index\` on \`api_key\` (\`last_used_at\`, \`id\`);`);
    this.addSql(`create index \`api_key_last4_index\` on \`api_key\` (\`last4\`);`);
    this.addSql(`create index \`api_key_prefix_index\` on \`api_key\` (\`prefix\`);`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists \`request_record\`;`);

    this.addSql(`drop index \`api_key_last_used_at_id_index\`;`);
    this.addSql(`drop index \`api_key_last4_index\`;`);
    this.addSql(`drop index \`api_key_prefix_index\`;`);
  }
}
