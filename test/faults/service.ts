import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";
import { type Books, openBooks, operatorToken } from "./books.ts";
import { testModel } from "./metronome.ts";

/** A whole service of one or more processes on one database, whose processes a test may end and start again. */
export interface Service {
  /** Each serves both surfaces and is a core. */
  readonly processes: readonly Tollgate[];
  readonly urls: readonly string[];
  /** Asks the last process. */
  readonly books: Books;
  /** Ends every process at the same moment and without a word. */
  kill(): Promise<void>;
  /** Ends one process without a word, if it runs, and starts it again on its own data. */
  replace(at: number): Promise<void>;
  /** Starts the processes again, each on its own data. */
  restart(): Promise<void>;
  /** Ends every process in order. Returns their exit codes. */
  stop(): Promise<(number | null)[]>;
  remove(): Promise<void>;
}

/** What the processes share: nothing means SQLite, and then there is one process. */
export interface Shared {
  readonly TOLLGATE_STORAGE_URL?: string;
  readonly TOLLGATE_STORAGE_READ_URL?: string;
  readonly TOLLGATE_RATE_LIMIT_URL?: string;
}

/** What differs from the usual. */
export interface Unusual {
  readonly processes?: number;
  /** What the inference server speaks: "vllm" can count a prompt, "openai" cannot. */
  readonly engine?: "openai" | "vllm";
  /** USD per million tokens. */
  readonly price?: { readonly input: string; readonly output: string };
  /** The smallest top-up. */
  readonly minimumUsd?: string;
}

/** Starts one process, or two where they share a database, in front of an inference server. */
export async function startService(
  engineUrl: string,
  shared: Shared = {},
  { engine = "openai", price = { input: "0.20", output: "0.25" }, minimumUsd = "5", ...unusual }: Unusual = {},
): Promise<Service> {
  const number = unusual.processes ?? (shared.TOLLGATE_STORAGE_URL === undefined ? 1 : 2);
  const secrets = {
    TOLLGATE_OPERATOR_TOKEN: operatorToken,
    TOLLGATE_KEY_PEPPER: "1:pepper-of-the-fault-tests-0123456789",
  };
  const sites: Site[] = [];
  for (let at = 0; at < number; at++) {
    sites.push(await createSite({ ...secrets, ...shared }));
  }
  const servers = [{ url: engineUrl, engine, capacity: 1000 }];
  const freeTier = { grant_usd: "0" };
  const config = {
    ...freePorts,
    free_tier: freeTier,
    payments: { minimum_usd: minimumUsd },
    models: [{ id: testModel, price, servers }],
  };
  const startIn = async (site: Site) => startTollgate(site, "serve", "--config", await site.configure(config));
  const start = () => Promise.all(sites.map(startIn));

  let processes = await start();
  let books = openBooks(processes.at(-1) as Tollgate);
  const end = async (signal: NodeJS.Signals) => {
    books.close();
    return Promise.all(processes.map((process) => process.stop(signal)));
  };
  return {
    get processes() {
      return processes;
    },
    get urls() {
      return processes.map(({ url }) => url);
    },
    get books() {
      return books;
    },
    async kill() {
      await end("SIGKILL");
    },
    async replace(at) {
      const [process, site] = [processes[at], sites[at]];
      if (process === undefined || site === undefined) {
        throw new Error(`there is no process ${at}`);
      }
      await process.stop("SIGKILL");
      const started = await startIn(site);
      if (at === processes.length - 1) {
        books.close();
        books = openBooks(started);
      }
      processes = processes.with(at, started);
    },
    async restart() {
      processes = await start();
      books = openBooks(processes.at(-1) as Tollgate);
    },
    stop: () => end("SIGTERM"),
    async remove() {
      await Promise.all(sites.map((site) => site.remove()));
    },
  };
}
