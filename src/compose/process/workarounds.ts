import { keepLiteralsYoung } from "../../../lib/overload/workarounds/pretenuring.ts";
import { answerPingsOfClosingSessions } from "../../grpc/workarounds/closing-sessions.ts";
import { reuseWriterRoom } from "../../grpc/workarounds/writer-room.ts";

/** Applies the workarounds that change libraries, and V8, for the whole process. A repeated call changes nothing. */
export function applyWorkarounds(): void {
  keepLiteralsYoung();
  answerPingsOfClosingSessions();
  reuseWriterRoom();
}
