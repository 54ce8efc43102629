import { Migration } from "@mikro-orm/migrations";

/** Sums of usage get slots of more lengths: all are built anew beside requests. Forward only. */
export class Migration20261124010000 extends Migration {
  override name = "Migration20261124010000";

  override up(): void | Promise<void> {
    this.addSql("truncate table usage_span;");
    this.addSql("delete from usage_span_build;");
    this.addSql(`insert into usage_span_build (account_id, slot, key_id, model)
      select '00000000-0000-0000-0000-000000000000', 2147483647, '', '' where exists (select 1 from usage_rollup);`);
  }
}
