import type { Pool, PoolClient } from "pg";
import type { Heard } from "../../ledger/announcements.ts";

const channel = "tollgate_account";

/**
 * Announcements about accounts from core to core. An announcement may get lost with a connection, so it
 * only ever makes things happen sooner.
 */
export class Announcements {
  readonly #announcing: Pool;
  readonly #hearing: Pool | undefined;
  /** Names this process, as two may run under the name of one core. */
  readonly #sender: string;
  readonly #listeners = new Set<Heard>();
  #listening: PoolClient | undefined;
  /** True once something may have been announced that was not heard. */
  #isDeaf = false;
  /** The attempt under way to connect, or to see whether the connection still carries anything. */
  #attempt: Promise<void> | undefined;
  #ended = false;

  /** Listen: connections that stay those of one session. Undefined: there are none, and nothing is heard. */
  constructor({ announce, listen }: { announce: Pool; listen: Pool | undefined }, sender: string) {
    this.#announcing = announce;
    this.#hearing = listen;
    this.#sender = sender;
  }

  async announce(accountId: string): Promise<void> {
    await this.#announcing.query("select pg_notify($1, $2)", [channel, `${this.#sender} ${accountId}`]);
  }

  /**
   * Calls all listeners back, over one connection of its own. Called again, it makes a new one when that one is lost,
   * and has it asked for an answer, as one that is lost in silence looks like one on which nothing is announced.
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

/** Without an answer in time the storage breaks the connection, and that drops it. */
async function ask(client: PoolClient): Promise<void> {
  await client.query("select 1").catch(() => {});
}
