import { type Logger, pino } from "pino";
import pretty from "pino-pretty";
import { workerNumber } from "../workers/worker.ts";

/** How the log looks: one JSON object a line for machines, or lines for people. */
export type LogFormat = "json" | "pretty";

/**
 * The machines' lines are gathered for this long, in milliseconds, or until they are this many bytes: a
 * system call a line costs more than all else about it. The process's end writes what is left.
 */
const gathering = { periodicFlush: 100, minLength: 8 * 1024 };
/** Bytes of lines that wait for a slow reader of the log; what comes on top is lost. */
const maxWaiting = 16 * 1024 * 1024;
/** Workers write to one pipe, which keeps this many bytes together. */
const together = { minLength: 2 * 1024, maxWrite: 4 * 1024 };

/** The process's log, on standard output. TOLLGATE_LOG_LEVEL sets how much it says; info unless set. A worker's lines name it. */
export function createLogger(format: LogFormat): Logger {
  const level = process.env.TOLLGATE_LOG_LEVEL ?? "info";
  const worker = workerNumber();
  const base = worker === undefined ? null : { worker };
  if (format === "json") {
    const shared = worker === undefined ? {} : together;
    const output = pino.destination({ dest: 1, sync: false, maxLength: maxWaiting, ...gathering, ...shared });
    return pino({ level, base, timestamp: pino.stdTimeFunctions.isoTime }, output);
  }
  return pino({ level, base }, pretty({ sync: true, translateTime: "SYS:HH:MM:ss", singleLine: true }));
}
