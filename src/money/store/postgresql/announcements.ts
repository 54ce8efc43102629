import type { Pool, PoolClient } from "pg";
import type { Heard } from "../../model/announcements.ts";

const channel = "tollgate_account";

/**
 * Announcements about accounts from core to core. An announcement may get lost with a connection, so it only ever makes
 * things happen sooner.
 */
export class Announcements {
  readonly #announcing: Pool;
  readonly #hearing: Pool | undefined;
  /** Identifies this process: two may run with the id of one core. */
  readonly #sender: string;
  readonly #listeners = new Set<Heard>();
  #listening: PoolClient | undefined;
  /** True when announcements may have been missed. */
  #isDeaf = false;
  /** The current attempt to connect, or to check that the connection still works. */
  #attempt: Promise<void> | undefined;
  #ended = false;

  /** `listen`: connections that keep their session. Undefined: there are none, and no announcement is heard. */
  constructor({ announce, listen }: { announce: Pool; listen: Pool | undefined }, sender: string) {
    this.#announcing = announce;
    this.#hearing = listen;
    this.#sender = sender;
  }

  async announce(accountId: string): Promise<void> {
    await this.#announcing.query("select pg_notify($1, $2)", [channel, `${this.#sender} ${accountId}`]);
  }

  /**
   * Calls all listeners back, over one connection of its own. A further call replaces a lost connection and checks the
   * current one with a query: a connection that was lost in silence looks like one without announcements.
   */
  async listen(heard: Heard): Promise<void> {
    if (this.#hearing === undefined) {
      return;
    }
    const hearing = this.#hearing;
    this.#listeners.add(heard);
    const client = this.#listening;
    this.#attempt ??= (client === undefined ? this.#connect(hearing) : ask(client)).finally(() => {
      this.#attempt = undefined;
    });
    if (client === undefined) {
      await this.#attempt;
    }
  }

  async #connect(hearing: Pool): Promise<void> {
    const wasDeaf = this.#isDeaf;
    this.#isDeaf = true; // until it listens
    const client = await hearing.connect();
    if (this.#ended) {
      return client.release(true);
    }
    this.#listening = client;
    client.on("notification", ({ payload = "" }) => {
      const [sender, accountId = ""] = payload.split(" ");
      if (sender === this.#sender) {
        return;
      }
      this.#tell(accountId);
    });
    client.on("error", () => this.#drop(client));
    await client.query(`listen ${channel}`).catch((error: unknown) => {
      this.#drop(client);
      throw error;
    });
    this.#isDeaf = false;
    if (wasDeaf) {
      this.#tell(undefined);
    }
  }

  #tell(accountId: string | undefined): void {
    for (const listener of this.#listeners) {
      listener(accountId);
    }
  }

  /** Stops listening. */
  end(): void {
    this.#ended = true;
    if (this.#listening !== undefined) {
      this.#drop(this.#listening);
    }
  }

  #drop(client: PoolClient): void {
    if (this.#listening !== client) {
      return;
    }
    this.#listening = undefined;
    this.#isDeaf = true;
    client.release(true);
  }
}

/** Without an answer in time the storage breaks the connection, and `listen` drops it. */
async function ask(client: PoolClient): Promise<void> {
  await client.query("select 1").catch(() => {});
}
