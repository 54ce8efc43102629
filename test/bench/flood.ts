import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import type { HttpRequest } from "./load/encode-request.ts";
import { type Cell, cellRequest, shortPrompt } from "./measure/cell.ts";
import { type Helper, startHelper } from "./measure/processes.ts";
import type { OpenJob, OpenMeasurement } from "./open/generator.ts";
import { spread } from "./report/statistics.ts";
import { short } from "./report/table.ts";
import type { Bench, Figure, Scenario } from "./scenario.ts";
import type { Inside, Running, System } from "./systems/interface.ts";

/** Requests a second: of accounts without money, all of which are refused, and of somebody else, all of which run. */
const rates = { refused: 10_000, others: 100 };
/** The others come from a network of their own: those behind one address, or one proxy that nobody named, share its turns. */
const othersAddress = "127.44.4.4";
/** The record has 50 like refusals of each whole in ten seconds, so that so many fill its groups at any time. */
const accounts = 200;
/** Milliseconds of a turn: refusals last longer than a window of the sampling. */
const turnMs = { whole: 20_000, quick: 6000 };
const settleMs = 2000;
/** What the record may add to the memory of a flood, in MiB, and what a flood may do to others. */
const most = { memory: 50, p99: 2 };

const cell: Cell = {
  ...{ scenario: "flood", surface: "chat", stream: false, model: "eager", size: 10 },
  ...{ prompt: shortPrompt, concurrency: 1 },
};

/** One turn of a flood. */
interface Turn {
  /** The others before the flood, and amid it. */
  readonly quiet: OpenMeasurement;
  readonly amid: OpenMeasurement;
  readonly flood: OpenMeasurement;
}

const kinds = [
  { name: "with the record", config: {} },
  { name: "without a record", config: { requests: { most: 0 } } },
] as const;

/** A flood of refused requests: what their record costs, and what others notice of it. */
export const flood: Scenario = {
  name: "flood",
  shows: "memory of 10,000 refusals a second with and without their record, and what others notice of them",
  onlyNamed: true,
  async run(bench) {
    const [system] = bench.systems(["tollgate"]).filter(({ name }) => name === "tollgate");
    return system === undefined ? {} : { figures: toFigures(await takeTurns(system, bench)) };
  },
};

/** The turns of each kind. A process is a new one each time: what another flood has left behind would be used again. */
async function takeTurns(system: System, { options, directory, progress }: Bench): Promise<Turn[][]> {
  const [engine, loud, light] = await Promise.all([
    startHelper("load/engine.ts"),
    startHelper("open/generator.ts"),
    startHelper("open/generator.ts"),
  ]);
  const taken: Turn[][] = kinds.map(() => []);
  try {
    for (let round = 0; round < options.rounds; round++) {
      for (const [at, { name, config }] of kinds.entries()) {
        const own = join(directory, `${round}-${at}`);
        mkdirSync(own);
        const running = await system.start({ enginePort: engine.port, directory: own, config });
        try {
          const turn = await take(running, loud, light, options.quick ? turnMs.quick : turnMs.whole);
          progress(
            `flood ${name}: ${turn.flood.refused.count} refused, ${short(turn.flood.resident / 2 ** 20)} MiB, ` +
              `others' p99 ${short(turn.quiet.whole.p99)} ms before and ${short(turn.amid.whole.p99)} ms amid it`,
          );
          taken[at]?.push(turn);
        } finally {
          await running.stop();
        }
      }
    }
    return taken;
  } finally {
    await Promise.all([light.stop(), loud.stop(), engine.stop()]);
  }
}

async function take(running: Running, loud: Helper, light: Helper, duration: number): Promise<Turn> {
  const clients = await makePoor(running.inside as Inside);
  const others = { ...toJob(running, { rate: rates.others, duration }), address: othersAddress };
  const refused = { ...toJob(running, { rate: rates.refused, duration: duration + 2 * settleMs }), clients };
  await ask(light, { ...others, rate: 1000, duration: settleMs }); // compiles the code
  const quiet = await ask(light, others);
  const flooding = ask(loud, refused);
  await sleep(settleMs);
  const amid = await ask(light, others);
  return { quiet, amid, flood: await flooding };
}

function toJob({ host, ports, headers, paths, processes }: Running, of: Pick<OpenJob, "rate" | "duration">): OpenJob {
  const request = { host, port: ports[0] as number, path: paths.chat ?? "", headers, ...cellRequest(cell) };
  return { ...request, ...of, newClients: false, warmUp: settleMs / 2, stall: false, processes };
}

async function ask(generator: Helper, job: OpenJob): Promise<OpenMeasurement> {
  const measured = await generator.ask<OpenMeasurement>({ ...job });
  if (measured.errors.length > 0) {
    throw new Error(`flood: requests failed:\n${measured.errors.join("\n")}`);
  }
  return measured;
}

/** Makes accounts without money, each with a key. Returns the headers of their requests. */
async function makePoor({ connect, operatorToken }: Inside): Promise<HttpRequest["headers"][]> {
  const client = createClient(AccountsService, createConnectTransport({ baseUrl: connect, httpVersion: "1.1" }));
  const options = { headers: { authorization: `Bearer ${operatorToken}` } };
  const headers: HttpRequest["headers"][] = [];
  for (let made = 0; made < accounts; made++) {
    const accountId = (await client.createAccount({ name: `poor ${made}` }, options)).account?.id ?? "";
    const { secret } = await client.createKey({ accountId, limits: { rpm: 10_000_000 } }, options);
    headers.push({ authorization: `Bearer ${secret}` });
  }
  return headers;
}

function toFigures(taken: readonly (readonly Turn[])[]): Figure[] {
  const resident = taken.map((turns) => turns.map(({ flood: { resident } }) => resident / 2 ** 20));
  const added = (resident[0] ?? []).map((withRecord, round) => withRecord - (resident[1]?.[round] ?? Number.NaN));
  return [
    ...kinds.flatMap(({ name }, at) => ofKind(name, taken[at] ?? [], at === 0)),
    { ...common, name: "memory that the record adds", unit: "MiB", value: spread(added), limit: most.memory },
  ];
}

const common = { scenario: "flood", better: "lower" } as const;

function ofKind(kind: string, turns: readonly Turn[], isLimited: boolean): Figure[] {
  const figure = (name: string, unit: string, of: (turn: Turn) => number): Figure => ({
    ...{ ...common, name: `${kind}: ${name}`, unit, value: spread(turns.map(of)) },
  });
  const beside = figure("others' p99, amid it of quiet", "×", ({ quiet, amid }) => amid.whole.p99 / quiet.whole.p99);
  return [
    {
      ...figure("refusals a second", "", ({ flood }) => flood.refused.count / (flood.duration / 1000)),
      better: "higher",
    },
    figure("CPU of a refusal", "µs", ({ flood }) => flood.cpu),
    figure("memory", "MiB", ({ flood }) => flood.resident / 2 ** 20),
    figure("others' p99, quiet", "ms", ({ quiet }) => quiet.whole.p99),
    figure("others' p99 amid it", "ms", ({ amid }) => amid.whole.p99),
    isLimited ? { ...beside, limit: most.p99 } : beside,
  ];
}
