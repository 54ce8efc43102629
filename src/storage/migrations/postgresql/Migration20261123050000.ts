import { Migration } from "@mikro-orm/migrations";

/**
 * What cores count that are older than the column `seen`, and still run, is looked at, too. One that knows the column says false
 * with every charge. Forward only.
 */
export class Migration20261123050000 extends Migration {
  override name = "Migration20261123050000";

  override up(): void | Promise<void> {
    this.addSql(
      `create function usage_tally_unseen() returns trigger language plpgsql as '
       begin
         new.seen := false;
         new.unbudgeted := true;
         return new;
       end';`,
    );
    this.addSql(
      `create trigger usage_tally_unseen before update on "usage_tally" for each row
       when (old.seen and new.seen and new.requests > old.requests) execute function usage_tally_unseen();`,
    );
  }
}
