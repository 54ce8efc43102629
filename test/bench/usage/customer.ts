import { openStorage } from "#src/storage/orm/open-storage.ts";
import { defaultFleetConfig, startDefaultFleet } from "../../../simulator/fleet.ts";
import { createSite, freePorts, startTollgate } from "../../support/tollgate.ts";
import { coreSecrets } from "../core-secrets.ts";
import { percentiles, spread } from "../report/statistics.ts";
import type { Figure } from "../scenario.ts";
import { dayMs, lastDayMs } from "./fill.ts";

const mostMs = 50;
const time = (ms: number) => new Date(ms).toISOString();
const anyMoment = (days: number) => time(Math.floor(lastDayMs - (days - Math.random()) * dayMs));

/** What a customer asks over HTTP. */
const kinds: readonly { readonly name: string; readonly of: () => string }[] = [
  { name: "of 30 days", of: () => `from=${anyMoment(29)}` },
  { name: "of 90 days by day", of: () => `from=${anyMoment(89)}&by=day` },
  { name: "of 7 days by hour and model", of: () => `from=${anyMoment(6)}&by=hour,model` },
];

/** Asks `GET /v1/usage` of a core with the usage of a database, over a real socket, with the key of one of its accounts. */
export async function askAsCustomer(url: string, store: string, questions: number): Promise<Figure[]> {
  const fleet = await startDefaultFleet();
  const site = await createSite({ ...coreSecrets, TOLLGATE_STORAGE_URL: url });
  const config = await site.configure({ ...freePorts, models: defaultFleetConfig(fleet) });
  const start = () => startTollgate(site, "serve", "--config", config);
  try {
    const first = await start();
    const account = (await first.admin("accounts", "create")) as { id: string };
    const { key } = (await first.admin("keys", "create", account.id)) as { key: string };
    await first.stop();
    await takeUsage(url, account.id);
    const tollgate = await start();
    try {
      return await measure(`${tollgate.url}/v1/usage`, key, store, questions);
    } finally {
      await tollgate.stop();
    }
  } finally {
    await Promise.all(fleet.map((simulator) => simulator.close()));
    await site.remove();
  }
}

/** Gives the usage of the first account to another one. */
async function takeUsage(url: string, account: string): Promise<void> {
  const storage = await openStorage(url, { connectMs: 10_000, answerMs: 600_000 });
  const em = storage.orm.em.fork();
  for (const table of ["usage", "usage_rollup", "usage_span"]) {
    await em.execute(`update ${table} set account_id = ? where account_id = '00000000-0000-7000-8000-000000000001'`, [
      account,
    ]);
  }
  await storage.close();
}

async function measure(url: string, key: string, store: string, questions: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, of } of kinds) {
    const times: number[] = [];
    for (let at = 0; at < questions; at++) {
      const since = performance.now();
      const response = await fetch(`${url}?${of()}`, { headers: { authorization: `Bearer ${key}` } });
      const { data } = (await response.json()) as { data?: readonly unknown[] };
      if (data === undefined || data.length === 0) {
        throw new Error(`GET /v1/usage ${name} answered ${response.status} without rows`);
      }
      times.push(performance.now() - since);
    }
    const { p50, p99 } = percentiles(times);
    const figure = { scenario: "usage", unit: "ms", better: "lower" } as const;
    figures.push(
      { ...figure, name: `${store}: GET /v1/usage ${name}, p50`, value: spread([p50]) },
      { ...figure, name: `${store}: GET /v1/usage ${name}, p99`, value: spread([p99]), limit: mostMs },
    );
  }
  return figures;
}
