import type { SimulatedServer } from "../database/server.ts";

const listen = `
  create temp table if not exists came_home (account_id text not null, at real not null, amount integer not null);
  create temp trigger if not exists lot_came_home after update of leased on main.lot when new.leased < old.leased
  begin
    insert into came_home values (new.account_id, world_now(), old.leased - new.leased + old.spent - new.spent);
  end;
  delete from temp.came_home;`;

/** The money that cores gave back to its accounts' lots, and when. Listens from its making until `end`. */
export class HomeComings {
  readonly #server: SimulatedServer;
  readonly #now: () => number;

  /** now: the world's time in milliseconds. */
  constructor(server: SimulatedServer, now: () => number) {
    this.#server = server;
    this.#now = now;
    server.database.function("world_now", now);
    server.database.exec(listen);
  }

  /** What has come back to an account's lots in the last so many milliseconds, in pico-USD. */
  since(accountId: string, ms: number): number {
    const from = this.#now() - ms;
    const sql = "select coalesce(sum(amount), 0) as amount from temp.came_home where account_id = ? and at >= ?";
    return this.#server.tables.get<{ amount: number }>(sql, accountId, from)?.amount ?? 0;
  }

  end(): void {
    this.#server.database.exec("drop table temp.came_home; drop trigger if exists temp.lot_came_home");
  }
}
