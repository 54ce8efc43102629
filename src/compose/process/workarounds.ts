import { keepLiteralsYoung } from "../../../lib/overload/workarounds/pretenuring.ts";
import { answerPingsOfClosingSessions } from "../../grpc/workarounds/closing-sessions.ts";
import { reuseWriterRoom } from "../../grpc/workarounds/writer-room.ts";

/** Applies what changes libraries, and V8, for the whole process. Doing so again changes nothing. */
export function applyWorkarounds(): void {
  keepLiteralsYoung();
  answerPingsOfClosingSessions();
  reuseWriterRoom();
}
