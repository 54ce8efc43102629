// An attacker has a process of its own: what it makes work of would otherwise keep the customer's own clock waiting.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Target } from "./attack.ts";
import { attacks } from "./attacks.ts";
import { endConnections } from "./wire.ts";

interface Order {
  readonly name: string;
  readonly target: Target;
  readonly ms: number;
}

/** Another process that attacks when it is told to. */
export class Attacker implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(): Promise<Attacker> {
    const child = fork(fileURLToPath(import.meta.url), { execArgv: ["--disable-warning=ExperimentalWarning"] });
    await nextMessage(child);
    return new Attacker(child);
  }

  /** Sends bursts of an attack one after the other for so many milliseconds. Resolves once the last one is over. */
  async attack(name: string, target: Target, ms: number): Promise<void> {
    this.#child.send({ name, target, ms } satisfies Order);
    await nextMessage(this.#child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.disconnect();
    await ended;
  }
}

/** Rejects when it ends instead. */
async function nextMessage(child: ChildProcess): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([
      once(child, "message", over),
      once(child, "exit", over).then(([code]) => {
        throw new Error(`the attacker ended with ${code}`);
      }),
    ]);
  } finally {
    over.abort();
  }
}

async function carryOut({ name, target, ms }: Order): Promise<void> {
  const attack = attacks.find((one) => one.name === name);
  for (const until = performance.now() + ms; performance.now() < until; ) {
    await attack?.burst(target);
  }
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.on("message", (order: Order) => carryOut(order).then(() => process.send?.("over")));
  process.once("disconnect", endConnections);
  process.send("ready");
}
