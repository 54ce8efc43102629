import { failOver } from "../faults/failover.ts";
import { spread } from "./report/statistics.ts";
import type { Figure, Scenario } from "./scenario.ts";

/** Failovers of a run, and of a quick one. */
const failovers = { usual: 50, quick: 5 };
/** Each primary dies at a random moment of so many milliseconds. */
const momentMs = 1500;

/** A PostgreSQL with a synchronous standby, whose primary dies again and again under the load of two cores. */
export const failover: Scenario = {
  name: "failover",
  shows: "what clients of two cores lose when a PostgreSQL with a synchronous standby fails over, fifty times",
  onlyNamed: true,
  async run({ options, progress }) {
    const number = options.quick ? failovers.quick : failovers.usual;
    const delays = Array.from({ length: number }, () => Math.floor(Math.random() * momentMs));
    const { rounds, ...books } = await failOver(delays, progress);
    const figure = (name: string, value: number, limit: number, unit = ""): Figure => ({
      ...{ scenario: "failover", name, unit, value: spread([value]), better: "lower", limit },
    });
    const total = (of: "cut" | "strayed") => rounds.reduce((sum, round) => sum + round[of], 0);
    const again = spread(rounds.map(({ servedAgainMs }) => servedAgainMs / 1000));
    return {
      figures: [
        figure("acknowledged charges lost", books.lost.length, 0),
        figure("charges made twice", books.double, 0),
        figure("books that do not prove", books.proved ? 0 : 1, 0),
        figure("running streams cut", total("cut"), 0),
        figure("connections to an old primary that came back", total("strayed"), 0),
        figure("served again after a promotion, slowest", again.max, 5, "s"),
        { ...figure("served again after a promotion", 0, 5, "s"), value: again },
      ],
      notes: [`failover: ${number} failovers, ${books.acknowledged} acknowledged requests`, ...books.lost],
    };
  },
};
