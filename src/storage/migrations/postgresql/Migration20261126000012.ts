import { Migration } from "@mikro-orm/migrations";

/** The first moment of the next day in UTC: its date, and the lowest run id from then on. */
const tomorrow = `date_trunc('day', now() at time zone 'utc') + interval '1 day'`;

/**
 * Receipts and their lines are partitioned by the day of their run's id. What is there becomes one partition, uncopied,
 * of all days until tomorrow; the days from then on are made by the program. Other ids have the default partition.
 */
export class Migration20261126000012 extends Migration {
  override name = "Migration20261126000012";

  override up(): void | Promise<void> {
    for (const [table, indexes] of [
      ["usage", [`"account_id", "settled_at"`, `"settled_at"`]],
      ["usage_line", []],
    ] as const) {
      const key = table === "usage" ? `"request_id", "run_id"` : `"request_id", "run_id", "seq"`;
      const nameOf = (columns: string) => `${table}_${columns.replaceAll('"', "").replaceAll(", ", "_")}_index`;
      this.addSql(`alter table "${table}" rename to "${table}_before";`);
      this.addSql(`alter table "${table}_before" rename constraint "${table}_pkey" to "${table}_before_pkey";`);
      for (const columns of indexes) {
        this.addSql(`alter index "${nameOf(columns)}" rename to "${table}_before_${nameOf(columns)}";`);
      }
      this.addSql(
        `create table "${table}" (like "${table}_before" including defaults including constraints, primary key (${key})) partition by range ("run_id");`,
      );
      for (const columns of indexes) {
        this.addSql(`create index "${nameOf(columns)}" on "${table}" (${columns});`);
      }
      this.addSql(`create table "${table}_default" partition of "${table}" default;`);
      this.addSql(attachFilled(table));
    }
  }
}

/** An empty table is dropped instead. Ids from tomorrow on tell no time: they are hashes. */
const attachFilled = (table: string) => `
  do $$
  declare
    bound uuid := (lpad(to_hex((extract(epoch from ${tomorrow}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;
    filled text := '${table}_until_' || to_char(${tomorrow}, 'YYYYMMDD');
  begin
    if not exists (select from "${table}_before") then
      drop table "${table}_before";
      return;
    end if;
    with moved as (delete from "${table}_before" where run_id >= bound returning *)
    insert into "${table}_default" select * from moved;
    execute format('alter table "${table}_before" add constraint "${table}_runs" check (run_id < %L)', bound);
    execute format('alter table "${table}_before" rename to %I', filled);
    execute format('alter table "${table}" attach partition %I for values from (minvalue) to (%L)', filled, bound);
  end $$;`;
