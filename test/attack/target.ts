import { defaultFleetConfig, startDefaultFleet } from "../../simulator/fleet.ts";
import { createSite, freePorts, startTollgate } from "../support/tollgate.ts";
import type { Shown, Target } from "./attack.ts";
import { ask } from "./wire.ts";

/** What a process has used so far, and what its doors have refused. */
export interface Measured {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  /** The sum of the counters that show an attack. */
  count(shown: Shown): number;
}

/** A running service with an honest customer. */
export interface Attacked extends AsyncDisposable {
  readonly target: Target;
  measure(): Promise<Measured>;
  /** One request of an honest customer, of a network of its own. Returns the status. */
  honest(): Promise<number>;
  /** Has the customer ask until the process has the memory that it works with: what it grows by later is the attack's. */
  warmUp(): Promise<void>;
}

/** Requests before an attack, and how many of them at once. */
const warmRequests = 4000;
const warmAtOnce = 32;
/** The honest customer's address. */
const customer = "127.0.0.2";
const model = "tollgate-sim/plain";

/**
 * Starts the whole program with a simulated fleet, an honest customer and a free key. `overload`: what it sheds load by;
 * by default as the program does.
 */
export async function startTarget(overload?: {
  readonly max_lag_ms: number;
  readonly max_wait_ms: number;
}): Promise<Attacked> {
  const engines = await startDefaultFleet({ speed: 0 });
  const site = await createSite({ TOLLGATE_STRIPE_WEBHOOK_SECRET: "whsec_of-the-attacks-0123456789-0123456789" });
  const listen = { ...freePorts.listen, console: "127.0.0.1:0" };
  const config = {
    listen,
    http: { connections: 1000, connections_per_address: 100, body_memory_mib: 16 },
    models: defaultFleetConfig(engines),
    ...(overload && { overload }),
  };
  const tollgate = await startTollgate(site, "serve", "--config", await site.configure(config));
  const account = async () => {
    const { id } = (await tollgate.admin("accounts", "create")) as { id: string };
    await tollgate.admin("accounts", "top-up", id, "--usd", "10", "--ref", id);
    return id;
  };
  const key = async (...of: string[]) => ((await tollgate.admin("keys", "create", ...of)) as { key: string }).key;
  const attacker = await account();
  const [honestKey, freeKey, managementKey] = [
    await key(await account(), "--rpm", "100000"),
    await key(attacker, "--rpm", "1"),
    await key(attacker, "--manages"),
  ];
  const { http = "", console = "", connect = "", grpc = "", webhooks = "", admin = "" } = tollgate.addresses;
  const headers = { "content-type": "application/json", authorization: `Bearer ${honestKey}` };
  const body = JSON.stringify({ model, max_tokens: 1, messages: [{ role: "user", content: "hello" }] });
  const honest = () =>
    ask({ to: http, from: customer, method: "POST", path: "/v1/chat/completions", headers, body, pieces: 2 });
  return {
    target: { addresses: { http, console, connect, grpc, webhooks, admin }, freeKey, managementKey },
    honest,
    async warmUp() {
      for (let asked = 0; asked < warmRequests; asked += warmAtOnce) {
        await Promise.all(Array.from({ length: warmAtOnce }, honest));
      }
    },
    async measure() {
      const text = await (await fetch(`http://${admin}/metrics`, { signal: AbortSignal.timeout(30_000) })).text();
      const lines = text.split("\n");
      const sum = (name: string, labels: readonly string[] = []) =>
        lines
          .filter(
            (line) =>
              (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && labels.every((one) => line.includes(one)),
          )
          .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
      return {
        cpuSeconds: sum("process_cpu_seconds_total"),
        residentBytes: sum("process_resident_memory_bytes"),
        count: ({ metric, labels }) =>
          sum(
            metric,
            Object.entries(labels).map(([name, value]) => `${name}="${value}"`),
          ),
      };
    },
    async [Symbol.asyncDispose]() {
      await tollgate.stop();
      await Promise.all(engines.map((engine) => engine.close()));
      await new Promise((resolve) => setImmediate(resolve));
      await site.remove();
    },
  };
}
