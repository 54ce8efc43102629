import { driverOf } from "./registry.ts";
import { authorizationOf } from "./shared/authorization.ts";
import type { Inspection, Subject } from "./shared/inspection/inspection.ts";

/** Asks a server about itself. Throws when it does not answer. A model in this process tells nothing. */
export async function inspectServer(
  subject: Subject,
  connectTimeoutMs: number,
  signal: AbortSignal,
): Promise<Inspection> {
  const authorization = authorizationOf(subject.server);
  const options = { connectTimeoutMs, ...(authorization !== undefined && { authorization }) };
  return driverOf(subject.server).inspect(subject, options, signal);
}

/** How to start the engine for the model. Undefined: it is not known. */
export function startCommand(subject: Subject): string | undefined {
  return driverOf(subject.server).startCommand?.(subject);
}
