import { readAuthorization } from "../shared/authorization.ts";
import type { Inspection, Subject } from "../shared/inspection/inspection.ts";
import { findDriver } from "./registry.ts";

/** Asks a server about itself. Throws when it does not answer. A model in this process reports nothing. */
export async function inspectServer(
  subject: Subject,
  connectTimeoutMs: number,
  signal: AbortSignal,
): Promise<Inspection> {
  const authorization = readAuthorization(subject.server);
  const options = { connectTimeoutMs, ...(authorization !== undefined && { authorization }) };
  return findDriver(subject.server).inspect(subject, options, signal);
}

/** The command that starts the engine for the model. Undefined: not known. */
export function startCommand(subject: Subject): string | undefined {
  return findDriver(subject.server).startCommand?.(subject);
}
