import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../../scripts/test-services/free-port.ts";
import { startOwnRedis } from "../../../scripts/test-services/redis.ts";
import { promptTokens, startMetronome, testModel } from "../../faults/metronome.ts";
import { type Program, startProgram } from "../measure/processes.ts";
import { installed, pip } from "../peers/cache.ts";
import type { Bench } from "../scenario.ts";
import { type Spent, spend } from "./spender.ts";

const version = "0.1.0";
/** A gateway in Python whose aim is the same: token budgets that hold across replicas, in Redis. As it starts by itself. */
const peer = { name: "hardcap", version, install: (folder: string) => pip(folder, `hardcap==${version}`) };

/** What its clients got out of a budget, in tokens with their prompts. */
export interface Delivered {
  readonly budget: number;
  readonly delivered: number;
  readonly spent: Spent;
}

/** Spends each budget, and in the middle of each kills a process and lets its Redis say nothing for a while. */
export async function spendAtHardcap(
  number: number,
  budgets: readonly number[],
  silenceMs: number,
  { directory, progress }: Pick<Bench, "directory" | "progress">,
): Promise<Delivered[]> {
  const folder = await installed({ ...peer, does: "", start: () => Promise.reject(new Error("is started here")) });
  const metronome = await startMetronome();
  const redis = await startOwnRedis(await freePort());
  const config = join(directory, "hardcap.yaml");
  const tenant = (total: number) => ({ api_keys: [`sk-${total}`], budget: { total, window_s: 1_000_000 } });
  const tenants = Object.fromEntries(budgets.map((total) => [`t${total}`, tenant(total)]));
  const targets = [{ upstream: "engine", model: testModel }];
  const upstreams = { engine: { kind: "openai", base_url: metronome.url } };
  // JSON is YAML.
  writeFileSync(
    config,
    JSON.stringify({ redis_url: redis.url, upstreams, routes: { [testModel]: { targets } }, tenants }),
  );
  const start = async () => {
    const port = await freePort();
    const command = [join(folder, "venv/bin/hardcap"), "serve", "-c", config, "--host", "127.0.0.1"];
    const url = `http://127.0.0.1:${port}`;
    const ready = () =>
      fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    const log = join(directory, `hardcap-${port}.log`);
    return { url, program: await startProgram([...command, "--port", String(port)], { log, ready }) };
  };
  const replicas: { url: string; program: Program }[] = [];
  try {
    while (replicas.length < number) {
      replicas.push(await start());
    }
    const found: Delivered[] = [];
    for (const budget of budgets) {
      let disturbed: Promise<void> | undefined;
      const disturb = async () => {
        process.kill(Number(replicas[0]?.program.pid), "SIGKILL");
        redis.process.kill("SIGSTOP");
        await sleep(silenceMs);
        redis.process.kill("SIGCONT");
        replicas[0] = await start();
      };
      const spent = await spend({
        headers: { authorization: `Bearer sk-${budget}` },
        urls: () => replicas.map(({ url }) => url),
        isSpent: (_status, body) => body.includes('"budget_exceeded"'),
        watch: (tokens) => {
          if (tokens > budget / 2) {
            disturbed ??= disturb();
          }
        },
      });
      await disturbed;
      found.push({ budget, spent, delivered: spent.tokens + spent.answers * promptTokens });
      progress(`hardcap, ${number} processes, budget of ${budget}: ${JSON.stringify(spent)}`);
    }
    return found;
  } finally {
    for (const { program } of replicas) {
      await program.stop();
    }
    await redis.stop();
    await metronome.close();
  }
}
