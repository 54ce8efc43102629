import { Client } from "pg";
import { isUnreachable } from "../availability/unreachable.ts";
import { clientOf, type Place } from "./client-of.ts";
import { type History, readPosition } from "./history.ts";

/** After the first primary answers, the others have this long to show that they are later ones. */
const graceMs = 500;

interface Primary extends Place {
  readonly timeline: number;
}

/**
 * The driver's client, which looks for the server that takes writes before it connects: any of the servers may have become
 * the primary. Of two that take writes, the one that was promoted last is meant.
 */
export function primaryClient(servers: readonly string[], history: History, connectMs: number): typeof Client {
  return clientOf(() => findPrimary(servers, history, connectMs));
}

/** Asks all servers at once. Throws what each said when none takes writes. */
async function findPrimary(servers: readonly string[], history: History, connectMs: number): Promise<Primary> {
  const found: Primary[] = [];
  const faults: unknown[] = [];
  let endGrace = () => {};
  const grace = new Promise<void>((resolve) => {
    endGrace = resolve;
  });
  let timer: NodeJS.Timeout | undefined;
  const asked = servers.map((connectionString) =>
    ask(connectionString, history, connectMs / 2).then(
      (primary) => {
        found.push(primary);
        timer ??= setTimeout(endGrace, graceMs);
      },
      (fault: unknown) => void faults.push(fault),
    ),
  );
  await Promise.race([Promise.all(asked), grace]);
  clearTimeout(timer);
  const [last] = found.toSorted((one, other) => other.timeline - one.timeline);
  if (last === undefined) {
    const reasons = faults.map((fault) => (fault as Error).message || (fault as { code?: string }).code).join("; ");
    throw new Error(`none of the servers takes writes: ${reasons}`, { cause: faults.find(isUnreachable) ?? faults[0] });
  }
  return last;
}

/** Throws when the server is a standby, or when its history is not this process's. */
async function ask(connectionString: string, history: History, answerMs: number): Promise<Primary> {
  const client = new Client({ connectionString, connectionTimeoutMillis: answerMs });
  client.on("error", () => {}); // it breaks after the question was answered, or the question fails
  try {
    await client.connect();
    const position = await readPosition(client, answerMs);
    const where = `${client.host}:${client.port}`;
    if (position?.standby) {
      throw Object.assign(new Error(`${where} is a standby`), { code: "25006" });
    }
    const fault = history.faultOf(position);
    if (fault !== undefined) {
      throw fault;
    }
    return { host: client.host, port: client.port, timeline: position?.timeline ?? 0 };
  } finally {
    await client.end().catch(() => {});
  }
}
