import type { World } from "../world.ts";

/** When slices were leased since all works again. */
const listen = `
  create temp table slice_birth (slice_id text primary key, at real not null);
  create temp trigger slice_is_born after insert on main.slice when world_now() is not null
  begin
    insert or ignore into slice_birth values (new.id, world_now());
  end;`;

/** Milliseconds after which a core that leased something has it, where all works. */
const leasedMs = 1000;

interface Line {
  readonly run: string;
  readonly lot: string;
  readonly input: number;
  readonly output: number;
  readonly listed: string;
  /** Undefined: before all worked again. */
  readonly leasedAt: number | null;
}

/**
 * Judges that a request is let in at the highest rates among what its core has of the account, so that each credit that was
 * there pays by its own price list: only one that came later may pay less. For a world that works, and general prices.
 */
export class PaidRateJudge {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    world.server.listen(listen, ["slice_birth"]);
  }

  /** `since`: when everything worked again. */
  judge(since: number): void {
    const { server, traffic, history } = this.#world;
    const lines = server.tables.all<Line>(
      `select line.run_id as run, lot.id as lot, line.input_rate as input, line.output_rate as output,
         price.input || ' / ' || price.output as listed, birth.at as leasedAt
       from usage_line line join usage using (request_id, run_id) join lot on lot.id = line.lot_id
       join price on price.model = usage.model and price.version_id = coalesce(
         (select max(version_id) from price one where one.model = usage.model and version_id <= price_version_id),
         (select min(version_id) from price one where one.model = usage.model and version_id > price_version_id))
       left join temp.slice_birth birth on birth.slice_id = line.slice_id
       where own_prices_id is null and (line.input_rate < price.input or line.output_rate < price.output)`,
    );
    const runs = new Map(traffic.runs.map((run) => [run.hold?.runId ?? "", run]));
    for (const { run: id, lot, input, output, listed, leasedAt } of lines) {
      const { requestId, state, mayBeLost, enteredAt = 0 } = runs.get(id) ?? { state: "failed" };
      const wasThere = (leasedAt ?? since) <= enteredAt - leasedMs;
      if (state === "acknowledged" && !mayBeLost && wasThere) {
        history.violation("prices", `${requestId} paid ${input} / ${output} of lot ${lot}, whose list has ${listed}`);
      }
    }
  }
}
