import { crashAndAudit } from "../faults/crash.ts";
import { spread } from "./report/statistics.ts";
import type { Figure, Scenario } from "./scenario.ts";

/** Minutes of a run, and of a quick one. */
const minutes = { usual: 10, quick: 0.5 };

/** Two cores that are killed again and again, on a PostgreSQL whose connections are cut, and an audit of what is left. */
export const crash: Scenario = {
  name: "crash",
  shows: "what clients lose when two cores are killed and cut off their PostgreSQL for ten minutes, prices moving",
  onlyNamed: true,
  async run({ options, progress }) {
    const { kills, cuts, asked, acknowledged, lost, toldOther, wrong, overshoot, proved } = await crashAndAudit(
      options.minutes ?? (options.quick ? minutes.quick : minutes.usual),
      progress,
    );
    const figure = (name: string, value: number, unit = ""): Figure => ({
      ...{ scenario: "crash", name, unit, value: spread([value]), better: "lower", limit: 0 },
    });
    return {
      figures: [
        figure("acknowledged charges lost", lost.length),
        figure("charges that are wrong", wrong.length),
        figure("charges of another cost than was told", toldOther.length),
        figure("spent beyond balances and budgets", Number(overshoot), "p$"),
        figure("books that do not prove", proved ? 0 : 1),
      ],
      notes: [
        `crash: ${kills} kills, ${cuts} cuts, ${asked} requests, ${acknowledged} of them acknowledged`,
        ...[...lost, ...toldOther, ...wrong].slice(0, 20),
      ],
    };
  },
};
