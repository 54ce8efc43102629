import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { BudgetPeriod } from "#gen/tollgate/accounts/v1/key_limits_pb.js";
import { type Cell, cellName, shortPrompt } from "./measure/cell.ts";
import { startHelper } from "./measure/processes.ts";
import { spread } from "./report/statistics.ts";
import { cpuOfUnit } from "./report/summary.ts";
import { measure } from "./run.ts";
import type { Bench, Figure, Scenario } from "./scenario.ts";
import type { Inside, Running, System } from "./systems/interface.ts";

const model = "eager";
const client = { scenario: "limits", surface: "chat", model, prompt: shortPrompt, concurrency: 16 } as const;
/** Turns are short, and the program is warm. */
const generation = { ...client, rampUp: 300 };
const cells: readonly Cell[] = [
  { ...generation, stream: false, size: 10 },
  { ...generation, stream: true, size: 200 },
];
/** What a request and a streamed token may cost with limits, times what they cost without. */
const mostRatio = 1.03;
/**
 * Pairs of turns for each round, and the part of a usual turn that each lasts. One pair drifts by a tenth, so that a dozen
 * cannot judge three hundredths; many short ones can.
 */
const pairs = 40;
const turnPart = 0.25;
const warmUpMs = 6000;
/** A top-up may be so much, and a load spends a hundredth of it. */
const money = 9000n * 10n ** 12n;

/** What the limits of a key cost its requests. */
export const limits: Scenario = {
  name: "limits",
  shows: "CPU of a request and a streamed token of a key with limits beside one without",
  async run(bench) {
    const [system] = bench.systems(["tollgate"]).filter(({ name }) => name === "tollgate");
    return system === undefined ? {} : { figures: await compare(system, bench) };
  },
};

async function compare(system: System, { options, directory, progress }: Bench): Promise<Figure[]> {
  const engine = await startHelper("load/engine.ts");
  const load = await startHelper("load/load.ts");
  const running = await system.start({ enginePort: engine.port, directory });
  try {
    const free = running;
    const limited = { ...running, headers: await createLimitedKey(running.inside as Inside) };
    const figures: Figure[] = [];
    for (const cell of cells) {
      const cost = async (key: Running, duration = options.duration * turnPart) =>
        cpuOfUnit(cell, await measure(cell, key, load, duration));
      await cost(free, warmUpMs);
      await cost(limited, warmUpMs);
      const found: { free: number; limited: number }[] = [];
      for (let pair = 0; pair < options.rounds * pairs; pair++) {
        // There and back, so that what drifts with time touches both alike.
        const first = await cost(pair % 2 === 0 ? free : limited);
        const second = await cost(pair % 2 === 0 ? limited : free);
        const turn = pair % 2 === 0 ? { free: first, limited: second } : { free: second, limited: first };
        found.push(turn);
      }
      progress(`${cellName(cell)}: ${found.length} pairs`);
      const what = cell.stream ? "a streamed token" : "a plain request";
      const figure = (name: string, unit: string, values: readonly number[], limit?: number): Figure => ({
        ...{ scenario: "limits", name: `${what}${name}`, unit, value: spread(values), better: "lower" },
        ...(limit !== undefined && { limit }),
      });
      figures.push(
        figure(
          " without limits",
          "µs",
          found.map((turn) => turn.free),
        ),
        figure(
          " with limits",
          "µs",
          found.map((turn) => turn.limited),
        ),
        figure(
          ", CPU with limits",
          "× without",
          found.map((turn) => turn.limited / turn.free),
          mostRatio,
        ),
      );
    }
    return figures;
  } finally {
    await running.stop();
    await load.stop();
    await engine.stop();
  }
}

/** Makes a key with every limit, none of which the load meets. Returns its headers. */
async function createLimitedKey({ connect, operatorToken }: Inside): Promise<Record<string, string>> {
  const accounts = createClient(AccountsService, createConnectTransport({ baseUrl: connect, httpVersion: "1.1" }));
  const options = { headers: { authorization: `Bearer ${operatorToken}` } };
  const accountId = (await accounts.createAccount({ name: "limited" }, options)).account?.id ?? "";
  await accounts.topUp({ accountId, amountPicoUsd: money, reference: "limited" }, options);
  const budget = { budgetPicoUsd: money, budgetPeriod: BudgetPeriod.MONTH };
  const rates = { rpm: 10_000_000, tokensPerMinute: 1_000_000_000, maxInFlight: 10_000 };
  const { secret } = await accounts.createKey({ accountId, limits: { models: [model], ...budget, ...rates } }, options);
  return { authorization: `Bearer ${secret}` };
}
