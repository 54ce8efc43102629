import { answerPingsOfClosingSessions } from "../../grpc/workarounds/closing-sessions.ts";
import { reuseWriterRoom } from "../../grpc/workarounds/writer-room.ts";

/** Applies what changes libraries for the whole process. Doing so again changes nothing. */
export function applyWorkarounds(): void {
  answerPingsOfClosingSessions();
  reuseWriterRoom();
}
