import type { Directive } from "./engine/directives.ts";

/** A fault of a request. Counts are output tokens after which it happens. */
export interface Fault {
  /** Answers with this HTTP status at once. */
  readonly status?: number;
  /** Seconds for the `Retry-After` header of that answer. */
  readonly retry?: number;
  /** Milliseconds of silence before anything happens. */
  readonly latency?: number;
  /** Falls silent, keeping connection and GPU place. */
  readonly stall?: number;
  /** Closes the connection in the middle of the answer, in good manners. */
  readonly cut?: number;
  /** Resets the connection. */
  readonly reset?: number;
  /** Sends an error inside the stream, under status 200. */
  readonly error?: number;
  /** Stops the whole server, as a crash would. Not for directives in a prompt. */
  readonly die?: number;
  /** Leaves the token counts out, sends zeros, or sends twice the output tokens. */
  readonly usage?: "missing" | "zero" | "double";
  /** Leaves out `data: [DONE]`. */
  readonly done?: "missing";
  /** Sends a comment line before each write of a stream. */
  readonly pings?: true;
  /** Writes the answer in pieces of this many bytes, each in a packet of its own. */
  readonly split?: number;
  /** Cuts an embedding input that is too long and says nothing, whatever the engine usually does. */
  readonly truncate?: true;
}

/** Which requests a fault strikes. */
export interface FaultScope {
  /** Default: every model. */
  readonly model?: string;
  /** Such as `/v1/chat/completions`. Default: every path where the engine works for a model. */
  readonly path?: string;
  /** Requests until it is over. Default: it stays. */
  readonly times?: number;
}

/** Faults switched on and off while the server runs. Later ones outweigh earlier ones. */
export class FaultPanel {
  #standing: { fault: Fault; scope: FaultScope; left: number }[] = [];

  /** Switches a fault on; the returned function switches it off. */
  add(fault: Fault, scope: FaultScope = {}): () => void {
    const standing = { fault, scope, left: scope.times ?? Number.POSITIVE_INFINITY };
    this.#standing.push(standing);
    return () => {
      this.#standing = this.#standing.filter((one) => one !== standing);
    };
  }

  clear(): void {
    this.#standing = [];
  }

  /** The fault that strikes this request. Counts it against faults that are limited in number. */
  strike(model: string | undefined, path: string): Fault {
    if (this.#standing.length === 0) {
      return none;
    }
    let merged = none;
    for (const one of this.#standing) {
      const { scope } = one;
      if (scope.model !== undefined && scope.model !== model) {
        continue;
      }
      if (scope.path !== undefined && scope.path !== path) {
        continue;
      }
      one.left--;
      merged = { ...merged, ...one.fault };
    }
    this.#standing = this.#standing.filter(({ left }) => left > 0);
    return merged;
  }
}

/** Nothing goes wrong. */
export const none: Fault = {};

const counts = new Set(["status", "retry", "latency", "stall", "cut", "reset", "error", "die", "split"]);
const flags = new Set(["pings", "truncate"]);
const choices: Readonly<Record<string, readonly string[]>> = {
  usage: ["missing", "zero", "double"],
  done: ["missing"],
};

/** The fault that directives describe; those that mean something else are passed over. */
export function findFault(directives: readonly Directive[]): Fault {
  if (directives.length === 0) {
    return none;
  }
  const fault: Record<string, unknown> = {};
  for (const { name, value } of directives) {
    if (counts.has(name) && /^\d{1,9}$/.test(value)) {
      fault[name] = Number(value);
    } else if (flags.has(name)) {
      fault[name] = true;
    } else if (choices[name]?.includes(value)) {
      fault[name] = value;
    }
  }
  return fault;
}

/** The fault in the request header `x-sim-fault`, such as `status=503` or `cut=5; usage=missing`. */
export function faultInHeader(header: string): Fault {
  const parts = header.split(";").map((part) => part.trim().split("="));
  return findFault(parts.map(([name = "", value = ""]) => ({ name, value })));
}

/** The fault that the directives in a prompt describe. A prompt cannot stop the server. */
export function faultInPrompt(directives: readonly Directive[]): Fault {
  return directives.length === 0 ? none : findFault(directives.filter(({ name }) => name !== "die"));
}
