import { Migration } from "@mikro-orm/migrations";

const toKey = (name: string) => Buffer.from(name.normalize("NFKC").toLowerCase()).toString("hex");

/** Accounts are found by their names. */
export class Migration20261122160000 extends Migration {
  override name = "Migration20261122160000";

  override async up(): Promise<void> {
    this.addSql("alter table `account` add column `name_key` blob null;");
    this.addSql("create index `account_name_index` on `account` (`name_key`, `id`);");
    this.addSql("update `account` set `name_key` = cast(lower(`name`) as blob);");
    // Databases differ in the letters whose case they know.
    const rows = await this.execute("select `id`, `name` from `account` where `name` glob '*[^ -~]*'");
    for (const { id, name } of rows as { id: string; name: string }[]) {
      this.addSql(`update \`account\` set \`name_key\` = x'${toKey(name)}' where \`id\` = '${id}';`);
    }
  }

  override down(): void | Promise<void> {
    this.addSql("drop index `account_name_index`;");
    this.addSql("alter table `account` drop column `name_key`;");
  }
}
