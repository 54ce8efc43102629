import { Migration } from "@mikro-orm/migrations";

/** Indexes of the open slices alone. */
export class Migration20261121041000 extends Migration {
  override name = "Migration20261121041000";

  override up(): void | Promise<void> {
    this.addSql(`drop index \`slice_core_id_open_index\`;`);
    this.addSql(`drop index \`slice_lot_id_index\`;`);
    this.addSql(`create index \`slice_core_id_index\` on \`slice\` (\`core_id\`) where open;`);
    this.addSql(`create index \`slice_lot_id_index\` on \`slice\` (\`lot_id\`) where open;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index \`slice_core_id_index\`;`);
    this.addSql(`drop index \`slice_lot_id_index\`;`);
    this.addSql(`create index \`slice_core_id_open_index\` on \`slice\` (\`core_id\`, \`open\`);`);
    this.addSql(`create index \`slice_lot_id_index\` on \`slice\` (\`lot_id\`);`);
  }
}
