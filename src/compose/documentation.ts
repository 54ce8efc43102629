import { Door } from "#lib/door/door.ts";
import { startHttpServer } from "#lib/door/http-server.ts";
import { refusalLines } from "#lib/errors/refusal-lines.ts";
import { readPackagedFolder } from "#lib/files/assets.ts";
import { systemClock } from "#lib/time/clock.ts";
import { createSite } from "../../facades/documentation/site.ts";
import type { ProcessOptions } from "./options.ts";
import { Lifecycle } from "./process/lifecycle.ts";
import { createLogger } from "./process/logger.ts";

/** `tollgate docs`: the documentation alone. */
export interface DocumentationOptions extends ProcessOptions {
  /** host:port. */
  readonly listen: string;
}

/** Limits for people: few at once, and nothing takes long. */
const limits = { connections: 1000, connectionsPerAddress: 100 };
const patience = { headerTimeoutMs: 10_000, requestTimeoutMs: 10_000 };

/** Serves the documentation that came with the program. Throws if there is none. Resolves when it is ready. */
export async function documentation({ log, listen }: DocumentationOptions): Promise<void> {
  const files = readPackagedFolder("dist/docs");
  if (files.size === 0) {
    throw new Error("the documentation did not come along: the image has it, and in a clone `npm run docs` builds it");
  }
  const logger = createLogger(log);
  const lifecycle = new Lifecycle(logger);
  const server = await startHttpServer(createSite(files), listen, {
    ...patience,
    door: new Door({ listener: "docs", limits, lines: refusalLines(logger, systemClock, { listener: "docs" }) }),
    setting: "--listen",
  });
  lifecycle.onStop("the documentation", (graceMs) => server.close(graceMs));
  lifecycle.ready({ docs: server.url });
}
