import { keepLiteralsYoung } from "#lib/overload/workarounds/pretenuring.ts";
import { answerPingsOfClosingSessions } from "#src/wire/grpc/workarounds/closing-sessions.ts";
import { keepHeadersOutOfLogs } from "#src/wire/grpc/workarounds/header-logs.ts";
import { reuseWriterRoom } from "#src/wire/grpc/workarounds/writer-room.ts";

/** Applies the workarounds that change libraries, and V8, for the whole process. A repeated call changes nothing. */
export function applyWorkarounds(): void {
  keepLiteralsYoung();
  answerPingsOfClosingSessions();
  keepHeadersOutOfLogs();
  reuseWriterRoom();
}
