import { formatUsd } from "#lib/money/money.ts";
import type { World } from "../world.ts";

/** How often a charge was noted to be told. */
const listen = `
  create temp table event_birth (run_id text primary key, times integer not null);
  create temp trigger event_is_born after insert on main.usage_event
  begin
    insert into event_birth values (new.run_id, 1) on conflict do update set times = times + 1;
  end;`;

/** Judges that every charge is noted to be told once, in its own transaction, and told with its cost. */
export class UsageEventJudge {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    if (world.news !== undefined) {
      world.server.listen(listen, ["event_birth"]);
    }
  }

  /** Call it while no transaction is open. */
  look(): void {
    const { news, server, history, wentBack } = this.#world;
    if (news === undefined || wentBack || history.violations.length > 0) {
      return;
    }
    const wrong = server.tables.all<{ run: string; times: number }>(
      `select usage.run_id as run, coalesce(times, 0) as times from usage
       left join temp.event_birth birth on birth.run_id = usage.run_id where times is not 1`,
    );
    for (const { run, times } of wrong) {
      history.violation("usage events", `run ${run} was charged, and noted ${times} times to be told`);
    }
  }

  /** Call it once all works and nothing runs. A core that started while a clock was an hour off tells, too. */
  judge(): void {
    const { news, server, history, wentBack } = this.#world;
    if (news === undefined) {
      return;
    }
    this.look();
    const stored = new Map(
      server.tables
        .all<{ run: string; cost: number }>("select run_id as run, cost from usage")
        .map(({ run, cost }) => [run, formatUsd(BigInt(cost))]),
    );
    const told = new Map(news.told.map(({ runId, costUsd }) => [runId, costUsd]));
    for (const [run, cost] of stored) {
      if (told.get(run) !== cost) {
        history.violation("usage events", `run ${run} was charged ${cost}, and ${told.get(run) ?? "nothing"} was told`);
      }
    }
    for (const run of told.keys()) {
      if (!stored.has(run) && !wentBack) {
        history.violation("usage events", `run ${run} was told and never charged`);
      }
    }
  }
}
