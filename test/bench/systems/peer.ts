import { join } from "node:path";
import { startProgram } from "../measure/processes.ts";
import type { System } from "./interface.ts";

/** How another gateway is started and reached. */
export interface PeerOptions {
  /** Its chat completions' URL, such as http://127.0.0.1:8787/v1/chat/completions. */
  readonly url: string;
  /** A shell command that starts it and stays in front; `$ENGINE` stands for the engine's base URL. */
  readonly command: string;
  /** Headers that it needs, each `name: value`; `$ENGINE` as above. */
  readonly headers: readonly string[];
}

/** Another gateway, given by a command line and a URL. It answers on the chat surface, and embeddings beside it. */
export function peer(options: PeerOptions): System {
  const url = new URL(options.url);
  return {
    name: "peer",
    foreign: true,
    async start({ enginePort, directory }) {
      const engine = `http://127.0.0.1:${enginePort}`;
      const program = await startProgram(["/bin/sh", "-c", options.command], {
        log: join(directory, "peer.log"),
        env: { ENGINE: engine },
        ready: () =>
          fetch(url.origin).then(
            () => true,
            () => false,
          ),
      });
      return {
        host: url.hostname,
        ports: [Number(url.port || 80)],
        headers: parseHeaders(options.headers.map((line) => line.replaceAll("$ENGINE", engine))),
        paths: { chat: url.pathname, embeddings: url.pathname.replace("chat/completions", "embeddings") },
        processes: [program.pid],
        stop: program.stop,
      };
    },
  };
}

/** `name: value` lines as an object. */
export function parseHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      if (colon < 1) {
        throw new Error(`a header must be "name: value", not "${line}"`);
      }
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}
