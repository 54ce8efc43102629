import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { MikroORM } from "@mikro-orm/sql";
import type { ClientBase, Pool, QueryConfig } from "pg";
import { migrations as postgresqlMigrations } from "../migrations/postgresql/index.ts";
import { ormOptions } from "../orm/orm-options.ts";
import { limited, openPostgresqlSnapshot } from "../reads/snapshot.ts";
import type { Patience, PostgresqlStorage } from "../storage.ts";
import { AnswerLimit } from "../workarounds/answer-limit.ts";
import { endPool } from "../workarounds/ending-pool.ts";
import { forgetAnswers } from "../workarounds/kept-answers.ts";
import { releaseLostConnections } from "../workarounds/lost-connections.ts";
import { closeLostCursors } from "../workarounds/lost-cursors.ts";
import { type History, readPosition } from "./history.ts";
import { primaryClient } from "./primary.ts";
import { serversOf } from "./servers.ts";
import { sessionSetup } from "./session.ts";

/** After this long without traffic the system probes the peer, and gives it up ten seconds later. */
const probeAfterMs = 10_000;

/** Opens a server, and the limit on its answers, which has not begun yet. Its schema is as it was left. */
export async function openServer(url: string, { connectMs, answerMs }: Patience, history: History) {
  let pool: Pool | undefined;
  const limit = new AnswerLimit();
  const servers = serversOf(url);
  const orm = await MikroORM.init({
    ...ormOptions("postgresql", postgresqlMigrations),
    driver: PostgreSqlDriver,
    clientUrl: servers[0],
    driverOptions: {
      connectionString: servers[0], // the ORM drops the URL's parameters, including sslmode
      ...(servers.length > 1 && { Client: primaryClient(servers, history, connectMs) }),
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: probeAfterMs,
      onConnect: async (client: ClientBase) => {
        await client.query({ text: sessionSetup(answerMs), query_timeout: connectMs } as QueryConfig);
        history.follow(await readPosition(client, connectMs));
      },
      onPoolCreated: (created: Pool) => {
        pool = created;
        releaseLostConnections(pool);
        closeLostCursors(pool);
        forgetAnswers(pool);
        limit.watch(pool);
      },
    },
  });
  await orm.connect().catch((error: unknown) => {
    const reason = toReason(error);
    const isWhole = reason.startsWith("PostgreSQL: "); // another history, told with what to do
    const message = `PostgreSQL: ${reason}: check that it runs, and TOLLGATE_STORAGE_URL or storage.url`;
    throw new Error(isWhole ? reason : message, { cause: error });
  });
  if (pool === undefined) {
    throw new Error("the driver made no connection pool");
  }
  const connections = pool;
  const snapshot = limited((reach) => openPostgresqlSnapshot(connections, reach));
  const close = () => endPool(connections, () => orm.close());
  const storage: PostgresqlStorage = {
    dialect: "postgresql",
    orm,
    pool,
    pooled: false,
    standby: undefined,
    history,
    snapshot,
    close,
  };
  return { storage, limit };
}

/**
 * The driver's message, without the name that the ORM puts before it. A host with several addresses has only a code.
 */
function toReason(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message.replace(/^\w*Error: ?/, "").trim() || String(code);
}
