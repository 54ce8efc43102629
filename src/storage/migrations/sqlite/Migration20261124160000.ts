import { Migration } from "@mikro-orm/migrations";

/** "insert or replace" deletes what is in its way without asking triggers of deletes. Forward only. */
export class Migration20261124160000 extends Migration {
  override name = "Migration20261124160000";

  override up(): void | Promise<void> {
    this.addSql(
      `create trigger audit_event_no_replace before insert on audit_event when exists (select 1 from audit_event where id = new.id or rowid = new.rowid) begin select raise(abort, 'the audit log is append-only'); end;`,
    );
  }
}
