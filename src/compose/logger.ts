import { type Logger, pino } from "pino";
import pretty from "pino-pretty";

/** How the log looks: one JSON object a line for machines, or lines for people. */
export type LogFormat = "json" | "pretty";

/**
 * The machines' lines are gathered for this long, in milliseconds, or until they are this many bytes: a
 * system call a line costs more than all else about it. The process's end writes what is left.
 */
const gathering = { periodicFlush: 100, minLength: 8 * 1024 };
/** Bytes of lines that wait for a slow reader of the log; what comes on top is lost. */
const maxWaiting = 16 * 1024 * 1024;

/** The process's log, on standard output. TOLLGATE_LOG_LEVEL sets how much it says; info unless set. */
export function createLogger(format: LogFormat): Logger {
  const level = process.env.TOLLGATE_LOG_LEVEL ?? "info";
  if (format === "json") {
    const output = pino.destination({ dest: 1, sync: false, maxLength: maxWaiting, ...gathering });
    return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, output);
  }
  return pino(
    { level, base: null },
    pretty({ sync: true, translateTime: "SYS:HH:MM:ss", ignore: "pid,hostname", singleLine: true }),
  );
}
