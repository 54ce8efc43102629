/**
 * The customers of a soak, in a process of their own. The parent starts them once with a `Start`; after that each
 * message is answered with what has happened since the one before.
 */
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, setGlobalDispatcher } from "undici";
import { listenAndReport } from "../measure/processes.ts";
import { type Percentiles, percentiles } from "../report/statistics.ts";
import { complaint, type Keys, type Kind, kindAt } from "./mix.ts";

/** Whom to load and how much. */
export interface Start {
  /** URLs of the public surfaces; requests take them in turn. */
  readonly fronts: readonly string[];
  readonly keys: Keys;
  readonly perSecond: number;
}

/** What to do next. */
export type Order = Start | "report" | "stop";

/** What has happened since the last report. */
export interface LoadReport {
  /** Answers by kind and status; `left` when the client left. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Whole time of short plain requests, in milliseconds. */
  readonly plain: Percentiles;
  readonly underWay: number;
  /** Answers that are not as they must be: how many, and the first ones. */
  readonly wrong: number;
  readonly complaints: readonly string[];
}

const patienceMs = 30_000;
const mostComplaints = 10;

let answers: Record<string, Record<string, number>> = {};
let plain: number[] = [];
let complaints: string[] = [];
let wrong = 0;
let underWay = 0;
let sent = 0;
let running = true;

function report(): LoadReport {
  const made = { answers, plain: percentiles(plain), underWay, wrong, complaints };
  answers = {};
  plain = [];
  complaints = [];
  wrong = 0;
  return made;
}

function count({ name }: Kind, outcome: string): void {
  answers[name] ??= {};
  answers[name][outcome] = (answers[name][outcome] ?? 0) + 1;
}

function complain(kind: Kind, reason: string): void {
  wrong++;
  if (complaints.length < mostComplaints) {
    complaints.push(`${kind.name}: ${reason}`);
  }
}

async function ask(kind: Kind, front: string, key: string): Promise<void> {
  const leave = new AbortController();
  const leaving =
    kind.leavesWithin === undefined
      ? undefined
      : setTimeout(() => leave.abort("left"), Math.random() * kind.leavesWithin);
  const started = performance.now();
  underWay++;
  try {
    const response = await fetch(front + kind.path, {
      method: kind.body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(kind.body !== undefined && { body: JSON.stringify(kind.body) }),
      signal: AbortSignal.any([leave.signal, AbortSignal.timeout(patienceMs)]),
    });
    const reason = complaint(kind, response.status, await response.text());
    if (reason !== undefined) {
      complain(kind, reason);
    }
    count(kind, String(response.status));
    if (kind.name === "chat") {
      plain.push(performance.now() - started);
    }
  } catch (error) {
    if (leave.signal.aborted) {
      count(kind, "left");
    } else {
      complain(kind, error instanceof Error ? `${error.message} ${error.cause ?? ""}` : String(error));
    }
  } finally {
    clearTimeout(leaving);
    underWay--;
  }
}

/** Requests come by chance, as many a second as asked for on average, whether or not the last ones are answered. */
async function load({ fronts, keys, perSecond }: Start): Promise<void> {
  for (let due = performance.now(); running; due += (-Math.log(1 - Math.random()) / perSecond) * 1000) {
    const wait = due - performance.now();
    if (wait > 0) {
      await sleep(wait);
    }
    const kind = kindAt(Math.random());
    const own = [keys[kind.key]].flat();
    void ask(kind, fronts[sent % fronts.length] as string, own[sent % own.length] as string);
    sent++;
  }
}

setGlobalDispatcher(new Agent({ keepAliveTimeout: 10_000 }));
process.on("message", async (order: Order) => {
  if (typeof order === "object") {
    void load(order);
  }
  if (order === "stop") {
    running = false;
    for (const deadline = performance.now() + patienceMs; underWay > 0 && performance.now() < deadline; ) {
      await sleep(50);
    }
  }
  process.send?.(report());
});
listenAndReport(createServer());
