import { inspect } from "node:util";
import type { PostgresqlServer } from "../../scripts/test-services/postgres-server.ts";
import type { Tollgate } from "../support/tollgate.ts";

/** What keeps requests out: of the ledger, of the fleet, of the process. */
const told =
  /^tollgate_(ready|ledger|settlement_backlog|holds|server_(breaker|state|in_flight)|queue|requests_waiting|over)/;
/** Of pino. */
const infoLevel = 30;
const lastLines = 20;

/** What a core is doing, in words, for a test that it fails: itself, its last warnings, its database. */
export async function describeCore({ addresses, log }: Tollgate, database: PostgresqlServer): Promise<string> {
  const read = async (path: string) => (await fetch(`http://${addresses.admin}${path}`)).text();
  const sessions = () =>
    database.ask(`select application_name, client_port, state, wait_event_type, wait_event,
      now() - xact_start as since, left(query, 120) as query from pg_stat_activity where backend_type = 'client backend'`);
  const parts: Readonly<Record<string, () => unknown>> = {
    readyz: () => read("/readyz"),
    metrics: async () => (await read("/metrics")).split("\n").filter((line) => told.test(line)),
    log: () => log.filter(({ level }) => Number(level) > infoLevel).slice(-lastLines),
    sessions,
  };
  const answers = Object.entries(parts).map(async ([name, ask]) => {
    const answer = await Promise.resolve()
      .then(ask)
      .catch((error: unknown) => error);
    return `${name}: ${inspect(answer, { depth: 5, maxArrayLength: 100 })}`;
  });
  return (await Promise.all(answers)).join("\n");
}
