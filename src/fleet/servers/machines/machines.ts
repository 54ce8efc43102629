import type { ServerConfig } from "#src/config/schema.ts";
import { Machine } from "./machine.ts";

/** The machines of all models' servers. Models at one address share a machine. */
export class Machines {
  /** By address. */
  readonly #machines = new Map<string, Machine>();

  /**
   * The machine at a server's address. A model file gets a machine of its own: it is loaded into this process once for
   * each model that names it.
   */
  at({ url, address }: Pick<ServerConfig, "url" | "address">): Machine {
    if (url.startsWith("file:")) {
      return new Machine();
    }
    const key = `${url.replace(/(?<!\/)\/+$/, "")} ${address ?? ""}`;
    const machine = this.#machines.get(key) ?? new Machine();
    this.#machines.set(key, machine);
    return machine;
  }

  /** Forgets machines without models. */
  forgetEmpty(): void {
    for (const [key, machine] of this.#machines) {
      if (machine.isEmpty) {
        this.#machines.delete(key);
      }
    }
  }
}
