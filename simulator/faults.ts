import type { Directive } from "./engine/directives.ts";

/** A fault of a request. Counts are the output tokens after which it happens. */
export interface Fault {
  /** Answers with this HTTP status at once. */
  readonly status?: number;
  /** Seconds for the `Retry-After` header of that answer. */
  readonly retry?: number;
  /** Milliseconds of silence at the start. */
  readonly latency?: number;
  /** Falls silent, and keeps its connection and GPU place. */
  readonly stall?: number;
  /** Closes the connection properly in the middle of the answer. */
  readonly cut?: number;
  /** Resets the connection. */
  readonly reset?: number;
  /** Sends an error inside the stream, with status 200. */
  readonly error?: number;
  /** Stops the whole server, like a crash. Ignored in a prompt's directives. */
  readonly die?: number;
  /** Leaves the token counts out, sends zeros, or sends twice the output tokens. */
  readonly usage?: "missing" | "zero" | "double";
  /** Leaves out `data: [DONE]`. */
  readonly done?: "missing";
  /** Sends a comment line before each write of a stream. */
  readonly pings?: true;
  /** Writes the answer in pieces of this many bytes, each in a separate packet. */
  readonly split?: number;
  /**
   * Silently truncates an embedding input that is too long, whatever the engine usually does. "counted": and counts what
   * it cut off, as infinity-emb does.
   */
  readonly truncate?: true | "counted";
}

/** Which requests have a fault. */
export interface FaultScope {
  /** Default: every model. */
  readonly model?: string;
  /** A path such as `/v1/chat/completions`. Default: every path where the engine works for a model. */
  readonly path?: string;
  /** The number of requests until the fault ends. Default: it stays. */
  readonly times?: number;
}

/** Faults that are switched on and off while the server runs. Later ones override earlier ones. */
export class FaultPanel {
  #standing: { fault: Fault; scope: FaultScope; left: number }[] = [];

  /** Switches a fault on. The returned function switches it off. */
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

  /** The fault for this request. Counts the request against faults with a limited number. */
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

/** The fault of a request without faults. */
export const none: Fault = {};

const counts = new Set(["status", "retry", "latency", "stall", "cut", "reset", "error", "die", "split"]);
const flags = new Set(["pings", "truncate"]);
const choices: Readonly<Record<string, readonly string[]>> = {
  usage: ["missing", "zero", "double"],
  done: ["missing"],
  truncate: ["counted"],
};

/** The fault that directives describe. Other directives are ignored. */
export function findFault(directives: readonly Directive[]): Fault {
  if (directives.length === 0) {
    return none;
  }
  const fault: Record<string, unknown> = {};
  for (const { name, value } of directives) {
    if (counts.has(name) && /^\d{1,9}$/.test(value)) {
      fault[name] = Number(value);
    } else if (choices[name]?.includes(value)) {
      fault[name] = value;
    } else if (flags.has(name)) {
      fault[name] = true;
    }
  }
  return fault;
}

/** The fault in the request header `x-sim-fault`, such as `status=503` or `cut=5; usage=missing`. */
export function faultInHeader(header: string): Fault {
  const parts = header.split(";").map((part) => part.trim().split("="));
  return findFault(parts.map(([name = "", value = ""]) => ({ name, value })));
}

/** The fault that a prompt's directives describe. A prompt cannot stop the server. */
export function faultInPrompt(directives: readonly Directive[]): Fault {
  return directives.length === 0 ? none : findFault(directives.filter(({ name }) => name !== "die"));
}
