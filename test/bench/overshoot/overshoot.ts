import { setTimeout as sleep } from "node:timers/promises";
import { startPostgresql } from "../../../scripts/test-services/postgres-server.ts";
import { startRedis } from "../../../scripts/test-services/redis.ts";
import { promptTokens, startMetronome, tokensASecond } from "../../faults/metronome.ts";
import { startService } from "../../faults/service.ts";
import { spread } from "../report/statistics.ts";
import type { Bench, Figure, Scenario } from "../scenario.ts";
import { spendAtHardcap } from "./hardcap.ts";
import { type Spent, spend } from "./spender.ts";

/** Pico-USD a token, 10 USD a million, whichever way it goes: a limit is then a number of tokens. */
const price = 10_000_000n;
const limits = { "20,000 tokens": 20_000n * price, "1 USD": 1_000_000_000_000n };
const kinds = ["budget", "balance"] as const;
const processes = [1, 2, 4];
const outageMs = 10_000;
/** What an answer needs at least, by the promise of docs/money.md. */
const leastTokens = 64n;
/** The streams' tokens of a second: what a core that is killed has sent and not yet noted, which nobody is charged. */
const oneSecond = 128 * tokensASecond;
/** What is not beside it, and why. */
const leftOut =
  "LiteLLM: left out: its keys' budgets need prisma's engine, which is no package but a download of its own";
const plenty = 100n * 1_000_000_000_000n;

/** What 128 streams at once get out of a budget or a balance, while a core is killed and the database is away. */
export const overshoot: Scenario = {
  name: "overshoot",
  shows: "what 128 streams at once get out of budgets and balances beside a kill -9 and ten seconds without a database",
  onlyNamed: true,
  async run(bench) {
    const figures: Figure[] = [];
    const notes = [leftOut];
    for (const number of bench.options.quick ? processes.slice(1, 2) : processes) {
      figures.push(...(await measure(number, bench)));
      try {
        figures.push(...(await measureHardcap(number, bench)));
      } catch (error) {
        notes.push(`hardcap, ${number} processes: left out: ${error instanceof Error ? error.message : error}`);
      }
    }
    return { figures, notes };
  },
};

async function measure(number: number, { progress }: Bench): Promise<Figure[]> {
  const metronome = await startMetronome();
  const postgresql = await startPostgresql();
  const redis = await startRedis();
  const shared = {
    TOLLGATE_STORAGE_URL: await postgresql.createDatabase(),
    TOLLGATE_RATE_LIMIT_URL: redis.url,
  };
  const terms = { engine: "vllm", price: { input: "10", output: "10" }, minimumUsd: "0.01" } as const;
  const service = await startService(metronome.url, shared, { processes: number, ...terms });
  const figures: Figure[] = [];
  try {
    for (const kind of kinds) {
      for (const [amount, limit] of Object.entries(limits)) {
        const { books } = service;
        const account = (await books.accounts.createAccount({ name: `${kind} ${amount}` })).account?.id ?? "";
        const amountPicoUsd = kind === "balance" ? limit : plenty;
        await books.accounts.topUp({ accountId: account, amountPicoUsd, reference: `${kind} ${amount}` });
        const budget = kind === "budget" ? { budgetPicoUsd: limit } : {};
        const { secret } = await books.accounts.createKey({
          accountId: account,
          limits: { rpm: 1_000_000, ...budget },
        });
        const worth = Number(limit / price);
        let disturbed: Promise<void> | undefined;
        const disturb = async () => {
          await Promise.all([postgresql.crash(), service.processes[0]?.stop("SIGKILL")]);
          await sleep(outageMs);
          await postgresql.restart();
          await service.replace(0);
        };
        const spent = await spend({
          headers: { authorization: `Bearer ${secret}` },
          urls: () => service.urls,
          isSpent: (status, body) => status === 429 && body.includes('"insufficient_quota"'),
          watch: (tokens) => {
            if (tokens > worth / 2) {
              disturbed ??= disturb();
            }
          },
        });
        await disturbed;
        let charged = 0n;
        for await (const { rows } of service.books.metering.streamUsage({ accountId: account })) {
          charged += rows.reduce((sum, row) => sum + row.costPicoUsd, 0n);
        }
        progress(
          `${number} cores, ${kind} of ${amount}: ${JSON.stringify(spent)}, charged ${charged / price} of ${worth}`,
        );
        figures.push(...judge(`${kind} of ${amount}, ${cores(number)}`, spent, limit, charged));
      }
    }
    const proof = await service.books.reconcile();
    if (!proof.ok) {
      throw new Error(`the books do not prove: ${JSON.stringify(proof.findings)}`);
    }
    return figures;
  } finally {
    await service.stop();
    await service.remove();
    await redis.stop();
    await postgresql.stop();
    await metronome.close();
  }
}

/** Somebody else's has no bars. */
async function measureHardcap(number: number, bench: Bench): Promise<Figure[]> {
  const budgets = Object.values(limits).map((limit) => Number(limit / price));
  const found = await spendAtHardcap(number, budgets, outageMs, bench);
  return found.flatMap(({ budget, delivered, spent }) => {
    const figure = (what: string, unit: string, value: number, better: "lower" | "higher" = "lower") => ({
      ...{ scenario: "overshoot", name: `hardcap, budget of ${budget} tokens, ${number} processes: ${what}` },
      ...{ unit, value: spread([value]), better },
    });
    return [
      figure("delivered beyond the limit", "tokens", Math.max(0, delivered - budget)),
      figure("usable share", "%", Math.min(100, (100 * delivered) / budget), "higher"),
      figure("wrongly told that it is spent", "", spent.early),
    ];
  });
}

const cores = (number: number) => (number === 1 ? "1 core" : `${number} cores`);

function judge(name: string, spent: Spent, limit: bigint, charged: bigint): Figure[] {
  const worth = Number(limit / price);
  const delivered = spent.tokens + spent.answers * promptTokens;
  const figure = (what: string, unit: string, value: number, limit: number, better: "lower" | "higher" = "lower") => ({
    ...{ scenario: "overshoot", name: `${name}: ${what}`, unit, value: spread([value]), better, limit },
  });
  const left = limit - charged;
  return [
    figure("delivered beyond the limit", "tokens", Math.max(0, delivered - worth), oneSecond),
    figure("charged beyond the limit", "tokens", Number(charged > limit ? (charged - limit) / price : 0n), 0),
    figure("usable share", "%", (100 * Number(charged / price)) / worth, 99.5, "higher"),
    figure("refused although payable", "", left >= leastTokens * price ? spent.refused : 0, 0),
    figure("wrongly told that it is spent", "", spent.early, 0),
  ];
}
