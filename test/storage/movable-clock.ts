import { Client } from "pg";

/**
 * Gives a database of PostgreSQL a clock that a test turns, for all connections made from now on: the search path
 * finds our `now()` before the system's own. Returns the function that turns it, by milliseconds from the true time.
 */
export async function movableClock(url: string): Promise<(ms: number) => Promise<void>> {
  const run = async (sql: string) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await run(`
    create table public.turned (by interval not null);
    insert into public.turned values ('0');
    create function public.now() returns timestamptz language sql stable as
      'select pg_catalog.now() + turned.by from public.turned';
    do $$ begin execute format('alter database %I set search_path = public, pg_catalog', current_database()); end $$`);
  return (ms) => run(`update public.turned set by = ${ms} * interval '1 millisecond'`);
}
