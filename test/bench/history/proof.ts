import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { type ProofOptions, reconcile } from "#src/money/books/proof/reconcile.ts";
import { beginPace } from "#src/money/books/proof/shared-proof.ts";
import { Sealer } from "#src/money/books/seals/sealer.ts";
import { openDatabases } from "../ledger/databases.ts";
import { perSecond } from "../ledger/figures.ts";
import { spread } from "../report/statistics.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { FilledDays, today } from "./fill-days.ts";
import { complaints, hurried, openServer, startCore } from "./stage.ts";

const days = 33;
/** Milliseconds of settling, in which a proof that leaves time to others comes to its end. */
const besideMs = 20_000;

/** A proof of ten million receipts of which one in a hundred is new. */
export const proof: Scenario = {
  name: "proof",
  shows:
    "a proof of 10 million receipts of which 1 % are new, and settlements beside that of every hour, on PostgreSQL",
  onlyNamed: true,
  async run(bench) {
    const { options, directory, progress } = bench;
    const receipts = options.quick ? 50_000 : 10_000_000;
    const databases = await openDatabases("PostgreSQL", directory);
    try {
      const url = await databases.create("proof");
      const storage = await openServer(url);
      const filled = await FilledDays.begin(storage);
      progress(`filling ${days} days with ${receipts} receipts`);
      await filled.add({ first: today() - days, count: days, receipts: Math.round((receipts * 0.99) / days) });
      await filled.add({ first: today(), count: 1, receipts: Math.round(receipts * 0.01) });
      await filled.sumUp();
      progress("sealing");
      const sealer = new Sealer({ storage, clock: hurried, random: systemRandom, logger: complaints });
      for (let day = today() - days; day < today(); day++) {
        const [broken] = await sealer.seal(day);
        if (broken !== undefined) {
          throw new Error(`a day does not add up: ${broken.rule}: ${broken.row} ${broken.message}`);
        }
      }
      const prove = async (options: ProofOptions) => {
        const since = performance.now();
        const [broken] = (await reconcile(storage, undefined, options)).findings;
        if (broken !== undefined) {
          throw new Error(`the books do not add up: ${broken.rule}: ${broken.row} ${broken.message}`);
        }
        return (performance.now() - since) / 1000;
      };
      const times: number[] = [];
      for (let round = 0; round < options.rounds; round++) {
        times.push(await prove({}));
      }
      const core = await startCore(url, databases, bench);
      const [alone, beside]: [number[], number[]] = [[], []];
      for (let round = 0; round < options.rounds; round++) {
        progress(`settling beside the proof, round ${round + 1}`);
        const settle = async () => perSecond(await core.measure({ atOnce: 256 }, options.quick ? undefined : besideMs));
        alone.push(await settle());
        let isOver = false;
        const { promise: over, resolve: end } = Promise.withResolvers<void>();
        const proving = (async () => {
          while (!isOver) {
            const pace = beginPace(systemClock);
            await prove({ pace: () => Promise.race([over, pace()]) });
          }
        })();
        beside.push(await settle());
        isOver = true;
        end();
        await proving;
      }
      await core.stop();
      await storage.close();
      const figure = (
        name: string,
        unit: string,
        values: readonly number[],
        more: Pick<Figure, "better" | "limit">,
      ) => ({
        ...{ scenario: "proof", name, unit, value: spread(values) },
        ...more,
      });
      return {
        figures: [
          figure(`a proof of ${receipts} receipts, 1 % of them new`, "s", times, { better: "lower", limit: 10 }),
          figure("settled alone", "1/s", alone, { better: "higher" }),
          figure("settled beside the proof of every hour", "1/s", beside, { better: "higher" }),
          figure(
            "settled beside the proof of every hour",
            "× alone",
            beside.map((one, at) => one / (alone[at] ?? Number.NaN)),
            { better: "higher", limit: 0.9 },
          ),
        ],
      };
    } finally {
      await databases.stop();
    }
  },
};
