import { findDriver } from "./registry.ts";
import { readAuthorization } from "./shared/authorization.ts";
import type { Inspection, Subject } from "./shared/inspection/inspection.ts";

/** Asks a server about itself. Throws when it does not answer. A model in this process has nothing to report. */
export async function inspectServer(
  subject: Subject,
  connectTimeoutMs: number,
  signal: AbortSignal,
): Promise<Inspection> {
  const authorization = readAuthorization(subject.server);
  const options = { connectTimeoutMs, ...(authorization !== undefined && { authorization }) };
  return findDriver(subject.server).inspect(subject, options, signal);
}

/** How to start the engine for the model. Undefined: it is not known. */
export function startCommand(subject: Subject): string | undefined {
  return findDriver(subject.server).startCommand?.(subject);
}
