import { fork } from "node:child_process";
import { once } from "node:events";
import type { ServiceUrls } from "../../../scripts/one-machine/services.ts";

/** A PostgreSQL and a Redis or Valkey that run. */
export interface Services extends ServiceUrls {
  /** The root of their process tree. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts both in a process tree of their own. */
export async function startServices(): Promise<Services> {
  const program = new URL("../../../scripts/one-machine/services.ts", import.meta.url);
  const child = fork(program, { execArgv: ["--disable-warning=ExperimentalWarning"] });
  const ended = once(child, "exit");
  const failed = ended.then(() => Promise.reject(new Error("PostgreSQL and Redis do not start")));
  failed.catch(() => {}); // also when they end in order
  const [urls] = (await Promise.race([once(child, "message"), failed])) as [ServiceUrls];
  return {
    ...urls,
    pid: child.pid ?? 0,
    async stop() {
      child.disconnect();
      await ended;
    },
  };
}
