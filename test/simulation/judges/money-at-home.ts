import type { SimulatedServer } from "../database/server.ts";

const listen = `
  create temp table at_home (lot_id text not null, at real not null, change integer not null);
  create temp trigger lot_at_home after update of leased on main.lot when new.leased <> old.leased and world_now() is not null
  begin
    insert into at_home values (new.id, world_now(), old.leased - new.leased + old.spent - new.spent);
  end;
  create temp table came_in (lot_id text not null, at real not null);
  create temp trigger lot_made after insert on main.lot when world_now() is not null
  begin
    insert into came_in values (new.id, world_now());
  end;
  create temp trigger lot_grows after update of granted on main.lot when new.granted > old.granted and world_now() is not null
  begin
    insert into came_in values (new.id, world_now());
  end;`;

/** Tracks the unleased money of accounts from creation until `end`, and when money came in. */
export class MoneyAtHome {
  readonly #server: SimulatedServer;
  readonly #now: () => number;

  /** `now` returns the world's time in milliseconds. */
  constructor(server: SimulatedServer, now: () => number) {
    this.#server = server;
    this.#now = now;
    server.listen(listen, ["at_home", "came_in"]);
    server.worldNow = now;
  }

  /**
   * How much more unleased money some lots have now than at the lowest point of the last `ms`, in pico-USD. `lots`: a
   * query for their ids. What other lots lose does not take away from what these have got.
   */
  riseSince(ms: number, lots: { readonly sql: string; readonly values: readonly (string | number)[] }): number {
    const sql = `select change from temp.at_home where lot_id in (${lots.sql}) and at >= ?${lots.values.length + 1} order by at_home.rowid desc`;
    let [came, most] = [0, 0];
    for (const { change } of this.#server.tables.all<{ change: number }>(sql, ...lots.values, this.#now() - ms)) {
      came += change;
      most = Math.max(most, came);
    }
    return most;
  }

  end(): void {
    this.#server.worldNow = () => null;
  }
}
