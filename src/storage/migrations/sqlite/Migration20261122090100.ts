import { Migration } from "@mikro-orm/migrations";

/** The record of operators' changes, which are neither changed nor deleted. Forward only. */
export class Migration20261122090100 extends Migration {
  override name = "Migration20261122090100";

  override up(): void | Promise<void> {
    this.addSql(
      `create table \`audit_event\` (\`id\` text not null primary key, \`at\` datetime not null, \`operator\` text not null, \`operator_id\` text null, \`method\` text not null, \`target\` text not null, \`before\` text null, \`after\` text not null, \`address\` text not null);`,
    );
    this.addSql(`create index \`audit_event_at_id_index\` on \`audit_event\` (\`at\`, \`id\`);`);
    for (const verb of ["update", "delete"]) {
      this.addSql(
        `create trigger audit_event_no_${verb} before ${verb} on audit_event begin select raise(abort, 'the audit log is append-only'); end;`,
      );
    }
  }
}
