import { Client } from "pg";

/** How long a server may say nothing at a start that others need not wait for. */
const patienceMs = 3000;

/** Asks a PostgreSQL server whether it is there. Rejects when it refuses, or does not answer within seconds. */
export async function probeServer(url: string): Promise<void> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
  });
  client.on("error", () => {}); // the call that waits rejects as well
  try {
    await client.connect();
    await client.query("select 1");
  } finally {
    // One that hangs does not say goodbye either.
    client.connection.stream.destroy();
  }
}
