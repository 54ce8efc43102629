import { Migration } from "@mikro-orm/migrations";

/** Indexes of the lots that may still be leased, so that no request pays for how many an account has. */
export class Migration20261122030100 extends Migration {
  override name = "Migration20261122030100";

  override up(): void | Promise<void> {
    this.addSql(
      `create index \`lot_spending_expiring\` on \`lot\` (\`account_id\`, \`priority\`, \`expires_at\`, \`created_at\`, \`id\`) where granted > spent + leased + refunded + expired and expires_at is not null;`,
    );
    this.addSql(
      `create index \`lot_spending_lasting\` on \`lot\` (\`account_id\`, \`priority\`, \`created_at\`, \`id\`) where granted > spent + leased + refunded + expired and expires_at is null;`,
    );
    this.addSql(
      `create index \`lot_expiry\` on \`lot\` (\`expires_at\`, \`id\`) where granted > spent + leased + refunded + expired and expires_at is not null;`,
    );

    this.addSql(`create index \`slice_account_id_index\` on \`slice\` (\`account_id\`) where open;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index \`lot_spending_expiring\`;`);
    this.addSql(`drop index \`lot_spending_lasting\`;`);
    this.addSql(`drop index \`lot_expiry\`;`);

    this.addSql(`drop index \`slice_account_id_index\`;`);
  }
}
