import type { Exchange } from "../dialects/dialect.ts";
import { EngineError } from "../engine-error.ts";
import type { Fault, FaultScope } from "../faults.ts";
import { object } from "./chat-request.ts";
import { sendJson } from "./reply.ts";

/** POST /sim/faults with `{"fault": {…}, "scope": {…}}`: switches a fault on, for tests in other processes. */
export function addFault({ body, host, response }: Exchange): void {
  const fault = object(body.fault);
  if (fault === undefined) {
    throw new EngineError(400, "fault must be an object", { param: "fault" });
  }
  host.faults.add(fault as Fault, (object(body.scope) ?? {}) as FaultScope);
  sendJson(response, 200, { ok: true });
}

/** DELETE /sim/faults: switches all faults off. */
export function clearFaults({ host, response }: Exchange): void {
  host.faults.clear();
  sendJson(response, 200, { ok: true });
}
