import { watchEnd } from "#lib/net/send-whole.ts";
import type { Exchange } from "../exchange.ts";
import { drained } from "./drained.ts";

/** Milliseconds after which a client that reads nothing is given up. */
const maxStalledMs = 60_000;

/**
 * Streams lines of JSON, no faster than the client reads. The status waits for the first lines, so that an early failure
 * is thrown and gets its own one. A later failure breaks the connection: the client must not take a part for the whole.
 */
export async function sendLines(
  exchange: Exchange,
  answer: AsyncIterable<{ readonly lines: readonly string[] }>,
): Promise<void> {
  const { response } = exchange;
  for await (const { lines } of answer) {
    if (exchange.isGone) {
      return;
    }
    if (!response.headersSent) {
      exchange.begin(200, "application/jsonl; charset=utf-8");
    }
    if (!response.write(lines.map((line) => `${line}\n`).join(""))) {
      const stop = exchange.runtime.clock.after(maxStalledMs, () => {
        exchange.runtime.observer.refused("slow_reader");
        response.destroy();
      });
      await drained(response);
      stop();
    }
  }
  response.end();
  watchEnd(response, () => exchange.network, exchange.bodyLimits.unread);
}
