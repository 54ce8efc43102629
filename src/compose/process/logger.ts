import { type Logger, pino } from "pino";
import pretty from "pino-pretty";
import { systemClock } from "#lib/time/clock.ts";
import { boundLastLines } from "#lib/workarounds/last-lines.ts";
import { GatheredLines } from "./gathered-lines.ts";

/** The format of the log: one JSON object a line for machines, or lines for people. */
export type LogFormat = "json" | "pretty";

/**
 * JSON lines are gathered for so many milliseconds, or until they have so many characters: one system call a line would cost
 * more than everything else about it. The end of the process writes the rest.
 */
const gathering = { ms: 100, length: 8 * 1024 };
/** The most bytes of lines that wait for a slow reader of the log. Further lines are lost. */
const maxWaiting = 16 * 1024 * 1024;
/** What an error has to tell is in fields that JSON leaves out. pino reads them of `err` alone. */
const serializers = { error: pino.stdSerializers.err };

/** The process's log, on standard output. TOLLGATE_LOG_LEVEL sets its level; unset: info. */
export function createLogger(format: LogFormat): Logger {
  const level = process.env.TOLLGATE_LOG_LEVEL ?? "info";
  if (format === "json") {
    return pino({ level, base: null, serializers, timestamp: pino.stdTimeFunctions.isoTime }, gatheringOutput());
  }
  return pino(
    { level, base: null, serializers },
    pretty({ sync: true, translateTime: "SYS:HH:MM:ss", singleLine: true }),
  );
}

function gatheringOutput(): GatheredLines {
  // Registered before the output's own listeners, so that it has everything when it ends.
  const handOver = () => lines.handOver();
  process.on("beforeExit", handOver).on("exit", handOver);
  const output = pino.destination({ dest: 1, sync: false, maxLength: maxWaiting, minLength: gathering.length });
  output.on("error", () => {}); // what could not be written is tried again with the next lines
  boundLastLines(output);
  const lines = new GatheredLines(output, gathering, systemClock);
  return lines;
}
