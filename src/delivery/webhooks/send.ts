import { isIP } from "node:net";
import type { Agent } from "undici";
import type { Lookup } from "#lib/net/lookup.ts";
import type { Clock } from "#lib/time/clock.ts";
import { type Destination, parseDestination } from "./destination.ts";

/** How long an endpoint may take to answer. */
export const answerMs = 15_000;
/** The most bytes of an answer that are read. */
const mostAnswerBytes = 65_536;
const longestError = 500;

/** The outcome of an attempt. */
export interface Attempt {
  readonly ok: boolean;
  /** Absent: there was no answer. */
  readonly status?: number;
  /** For people. Empty: no error. */
  readonly error: string;
}

/** Sends one request. Never rejects. */
export type Send = (url: string, headers: Record<string, string>, body: string) => Promise<Attempt>;

interface Dependencies {
  /** Private networks that may be reached. */
  readonly allow: readonly string[];
  readonly lookup: Lookup;
  readonly clock: Clock;
}

/**
 * Sends over HTTP. A connection is made to an address that was judged, whatever the host's name resolves to a moment
 * later. Redirects are not followed. The answer has to come within `answerMs`.
 */
export function createSend({ allow, lookup, clock }: Dependencies): Send {
  return async (text, headers, body) => {
    const destination = parseDestination(text, allow);
    if (typeof destination === "string") {
      return { ok: false, error: destination };
    }
    const abort = new AbortController();
    const cancel = clock.after(answerMs, () => abort.abort(new Error(`no answer within ${answerMs / 1000} s`)));
    let agent: Agent | undefined;
    try {
      const undici = await loadUndici();
      agent = new undici.Agent({ connect: toConnect(destination, lookup) });
      const answer = await undici.request(destination.url, {
        method: "POST",
        headers: { "content-type": "application/json", "user-agent": "tollgate", ...headers },
        body,
        dispatcher: agent,
        signal: abort.signal,
      });
      const { statusCode: status } = answer;
      await answer.body.dump({ limit: mostAnswerBytes, signal: abort.signal }).catch(() => {});
      const ok = status >= 200 && status < 300;
      return { ok, status, error: ok ? "" : `the endpoint answered ${status}` };
    } catch (error) {
      return { ok: false, error: toReason(error).slice(0, longestError) };
    } finally {
      cancel();
      void agent?.destroy();
    }
  };
}

/** A service that sends no events does not hold the library in its memory. Bundled, it has its default export alone. */
const loadUndici = async () => (await import("undici")).default;

/** Connects only to permitted addresses: the very ones that were looked up. */
function toConnect(destination: Destination, lookup: Lookup): NonNullable<Agent.Options["connect"]> {
  return {
    timeout: answerMs,
    lookup(hostname, options, callback) {
      lookup(hostname).then(
        (found) => {
          const permitted = found.filter((address) => destination.permits(address));
          const [first] = permitted;
          if (first === undefined) {
            callback(new Error(`${hostname} stands for no address that events may be sent to`), []);
          } else if (options.all) {
            callback(
              null,
              permitted.map((address) => ({ address, family: isIP(address) })),
            );
          } else {
            callback(null, first, isIP(first));
          }
        },
        (error: unknown) => callback(error as NodeJS.ErrnoException, []),
      );
    },
  };
}

function toReason(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || code || String(error);
}
