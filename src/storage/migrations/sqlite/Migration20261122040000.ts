import { Migration } from "@mikro-orm/migrations";

const firstRun = "'00000000-0000-0000-0000-000000000000'";

/**
 * Every run of a request has a receipt of its own, and counts of tokens may pass 32 bits. Receipts of before are those of run zero. SQLite changes a primary
 * key only by making the table anew. Forward only: two runs do not fit under one id.
 */
export class Migration20261122040000 extends Migration {
  override name = "Migration20261122040000";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`usage_next\` (\`request_id\` text not null, \`run_id\` text not null, \`account_id\` text not null, \`key_id\` text not null, \`model\` text not null, \`input_tokens\` bigint not null, \`output_tokens\` bigint not null, \`cost\` bigint not null, \`shortfall\` bigint not null, \`status\` text check (\`status\` in ('completed', 'cancelled', 'failed', 'recovered')) not null, \`settled_at\` datetime not null, primary key (\`request_id\`, \`run_id\`), constraint \`usage_tokens\` check (input_tokens >= 0 and output_tokens >= 0), constraint \`usage_cost\` check (shortfall >= 0 and shortfall <= cost and cost <= 9007199254740991));`,
    );
    this.#replace(
      "usage",
      "request_id, account_id, key_id, model, input_tokens, output_tokens, cost, shortfall, status, settled_at",
    );
    this.addSql(`create index \`usage_account_id_settled_at_index\` on \`usage\` (\`account_id\`, \`settled_at\`);`);
    this.addSql(`create index \`usage_settled_at_index\` on \`usage\` (\`settled_at\`);`);

    this.addSql(
      `create table \`usage_line_next\` (\`request_id\` text not null, \`run_id\` text not null, \`seq\` integer not null, \`lot_id\` text not null, \`slice_id\` text not null, \`input_tokens\` bigint not null, \`output_tokens\` bigint not null, \`input_rate\` bigint not null, \`output_rate\` bigint not null, \`cost\` bigint not null, primary key (\`request_id\`, \`run_id\`, \`seq\`), constraint \`usage_line_amounts\` check (input_tokens >= 0 and output_tokens >= 0 and cost >= 0 and cost <= 9007199254740991));`,
    );
    this.#replace(
      "usage_line",
      "request_id, seq, lot_id, slice_id, input_tokens, output_tokens, input_rate, output_rate, cost",
    );
  }

  #replace(table: string, columns: string): void {
    this.addSql(`insert into \`${table}_next\` (run_id, ${columns}) select ${firstRun}, ${columns} from \`${table}\`;`);
    this.addSql(`drop table \`${table}\`;`);
    this.addSql(`alter table \`${table}_next\` rename to \`${table}\`;`);
  }
}
