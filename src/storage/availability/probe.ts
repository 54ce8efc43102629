import { Client } from "pg";

/** How long a server may stay silent at a start that need not wait for it. */
const patienceMs = 3000;

/** Asks a PostgreSQL server whether it is there. Rejects when it refuses, or does not answer within seconds. */
export async function probeServer(url: string): Promise<void> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
  });
  client.on("error", () => {}); // the waiting call rejects as well
  try {
    await client.connect();
    await client.query("select 1");
  } finally {
    // A server that hangs does not say goodbye either.
    client.connection.stream.destroy();
  }
}
