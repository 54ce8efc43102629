import type { Pool, PoolClient } from "pg";

const CHANNEL = "tollgate_account";

/**
 * What cores tell each other about accounts. An announcement may get lost with a connection, so it only
 * ever makes things happen sooner.
 */
export class Announcements {
  readonly #pool: Pool;
  readonly #coreId: string;
  readonly #listeners = new Set<(accountId: string) => void>();
  #listening: PoolClient | undefined;

  constructor(pool: Pool, coreId: string) {
    this.#pool = pool;
    this.#coreId = coreId;
  }

  async announce(accountId: string): Promise<void> {
    await this.#pool.query("select pg_notify($1, $2)", [CHANNEL, `${this.#coreId} ${accountId}`]);
  }

  /** Calls all listeners back, over one connection of its own, unless it does already. */
  async listen(heard: (accountId: string) => void): Promise<void> {
    this.#listeners.add(heard);
    if (this.#listening !== undefined) return;
    const client = await this.#pool.connect();
    this.#listening = client;
    client.on("notification", ({ payload = "" }) => {
      const [coreId, accountId = ""] = payload.split(" ");
      if (coreId === this.#coreId) return;
      for (const listener of this.#listeners) listener(accountId);
    });
    client.on("error", () => this.end());
    await client.query(`listen ${CHANNEL}`).catch((error: unknown) => {
      this.end();
      throw error;
    });
  }

  /** Stops listening. */
  end(): void {
    this.#listening?.release(true);
    this.#listening = undefined;
  }
}
