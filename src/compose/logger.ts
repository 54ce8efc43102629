import { type Logger, pino } from "pino";
import pretty from "pino-pretty";

/** How the log looks: one JSON object a line for machines, or lines for people. */
export type LogFormat = "json" | "pretty";

/** The process's log, on standard output. TOLLGATE_LOG_LEVEL sets how much it says; info unless set. */
export function createLogger(format: LogFormat): Logger {
  const level = process.env.TOLLGATE_LOG_LEVEL ?? "info";
  if (format === "json") return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
  return pino(
    { level, base: null },
    pretty({ sync: true, translateTime: "SYS:HH:MM:ss", ignore: "pid,hostname", singleLine: true }),
  );
}
