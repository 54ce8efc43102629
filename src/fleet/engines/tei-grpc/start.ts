import type { Subject } from "../shared/inspection/inspection.ts";
import { startRouter } from "../tei/start.ts";

/** The command that starts TEI for a model, from an image whose tag ends in `-grpc`. */
export function startCommand(subject: Subject): string {
  return startRouter(subject, {});
}
