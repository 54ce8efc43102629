import type { RunningHold } from "#src/money/ledger/hold.ts";
import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";
import { readArchived } from "./archives.ts";
import type { Judge } from "./names.ts";

/** What a killed process may lose: one note a second, written 50 ms later, and up to 256 tokens. */
const noteMs = 1100;
const flushMs = 60;
const noteTokens = 256;
/** Milliseconds after which a disk that works again has everything that it had refused. */
const diskMs = 3000;

interface Receipts {
  input: number;
  output: number;
  cost: number;
  count: number;
  /** How many of them say that the run was recovered. */
  recovered: number;
}

const none: Receipts = { input: 0, output: 0, cost: 0, count: 0, recovered: 0 };

/** The receipts in the books, and those that have left them. */
function readReceipts(world: World): Map<string, Receipts> {
  const all = readStored(world);
  for (const { accountId, requestId, inputTokens, outputTokens, cost, status } of readArchived(world)) {
    const id = `${accountId} ${requestId}`;
    const known = all.get(id) ?? none;
    all.set(id, {
      ...{ input: known.input + inputTokens, output: known.output + outputTokens },
      ...{ cost: known.cost + cost, count: known.count + 1 },
      recovered: known.recovered + Number(/recovered/i.test(status)),
    });
  }
  return all;
}

function readStored({ server }: World): Map<string, Receipts> {
  const rows = server.tables.all<{ id: string } & Receipts>(
    `select account_id || ' ' || request_id as id, sum(input_tokens) as input, sum(output_tokens) as output,
       sum(cost) as cost, count(*) as count, sum(status = 'recovered') as recovered from usage group by account_id, request_id`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Judges that every run was charged as acknowledged, at most once, and at no more than its terms. */
export function judgeCharges(world: World): void {
  const receipts = readReceipts(world);
  const letters = new Set(
    world.server.tables
      .all<{ charge: string }>("select charge from dead_letter")
      .map(({ charge }) => String((JSON.parse(charge) as { requestId: unknown }).requestId)),
  );
  const runs = Map.groupBy(world.traffic.runs, ({ accountId, requestId }) => `${accountId} ${requestId}`);
  for (const [id, group] of runs) {
    const found = receipts.get(id) ?? none;
    receipts.delete(id);
    const fault = judgeMost(group, found) ?? judgeLeast(group, found, letters.has(group[0]?.requestId ?? ""));
    if (fault !== undefined) {
      world.history.violation(
        fault.judge,
        `${id}: ${fault.what}: ${describe(group)}, receipts ${JSON.stringify(found)}`,
      );
    }
  }
  for (const id of receipts.keys()) {
    world.history.violation("strange receipts", `${id} has a receipt and was never run`);
  }
}

const last = ({ settled, counted }: Run) =>
  settled?.tokens ?? counted.at(-1)?.tokens ?? { inputTokens: 0, outputTokens: 0 };

/** The highest count that an engine ever reported for a run: its last report may be nonsense. */
const most = (run: Run, kind: "inputTokens" | "outputTokens") =>
  Math.max(last(run)[kind], ...run.counted.map(({ tokens }) => tokens[kind]));

interface Fault {
  readonly judge: Judge;
  readonly what: string;
}

function judgeMost(group: readonly Run[], found: Receipts): Fault | undefined {
  const all = group.filter(({ state }) => state !== "refused" && state !== "released" && state !== "asked");
  const input = all.reduce((sum, run) => sum + most(run, "inputTokens"), 0);
  const output = all.reduce((sum, run) => sum + most(run, "outputTokens"), 0);
  if (found.input > input || found.output > output) {
    return { judge: "overcharges", what: "was charged more than was counted" };
  }
  const terms = all.at(-1)?.terms;
  if (terms !== undefined && found.cost > found.input * terms.input + found.output * terms.output) {
    return { judge: "prices", what: "cost more than any price that there was" };
  }
  const admitted = all.flatMap(({ hold }) => (hold === undefined ? [] : [(hold as RunningHold).rates]));
  const highest = (kind: "input" | "output") => Math.max(...admitted.map((rates) => rates[kind]));
  if (admitted.length > 0 && found.cost > found.input * highest("input") + found.output * highest("output")) {
    return { judge: "prices", what: "cost more than at its admission" };
  }
  // A copy of its journal may have been charged before its client was told anything.
  const told = all.reduce((sum, run) => sum + (run.told ?? Number.POSITIVE_INFINITY), 0);
  if (found.recovered === 0 && found.cost > told) {
    return { judge: "prices", what: `cost more than the ${told} that its client was told` };
  }
  return undefined;
}

/** Judges the least that must have been charged. */
function judgeLeast(group: readonly Run[], found: Receipts, isDeadLetter: boolean): Fault | undefined {
  if (isDeadLetter || group.some(({ mayBeLost }) => mayBeLost)) {
    return undefined;
  }
  let input = 0;
  let output = 0;
  for (const run of group) {
    const least = leastOf(run);
    input += least.inputTokens;
    output += least.outputTokens;
  }
  return found.input < input || found.output < output
    ? { judge: "lost charges", what: `was charged less than ${input} + ${output}` }
    : undefined;
}

function leastOf(run: Run): { inputTokens: number; outputTokens: number } {
  if (run.state === "acknowledged") {
    return last(run);
  }
  const { diedAt, wakesAt, diskRefusedAt } = run.process;
  const mayHaveSlept = run.askedAt <= wakesAt;
  const ended = run.state !== "held" && run.state !== "settling";
  if (diedAt === undefined || mayHaveSlept || diedAt - diskRefusedAt < diskMs || ended) {
    return { inputTokens: 0, outputTokens: 0 };
  }
  const before = (ms: number) => run.counted.findLast(({ at }) => at < diedAt - ms)?.tokens;
  const noted = before(noteMs);
  const recent = before(flushMs);
  // An engine's final report may be lower than earlier ones, and may be charged already.
  const { inputTokens = Number.POSITIVE_INFINITY, outputTokens = Number.POSITIVE_INFINITY } = run.settled?.tokens ?? {};
  return {
    inputTokens: Math.min(noted?.inputTokens ?? 0, inputTokens),
    outputTokens: Math.min(Math.max(noted?.outputTokens ?? 0, (recent?.outputTokens ?? 0) - noteTokens), outputTokens),
  };
}

function describe(group: readonly Run[]): string {
  return group
    .map(
      (run) => `${run.machine} ${run.state} ${JSON.stringify(run.settled ?? last(run))}, died at ${run.process.diedAt}`,
    )
    .join(" and ");
}

/** Judges that every request was answered, and that nothing is held for ended ones. */
export function judgeAnswers({ traffic, machines, history }: World): void {
  for (const { life, name } of machines) {
    const state = life?.money.ledger.state();
    if (state !== undefined && (state.holds > 0 || state.held > 0 || state.backlog > 0)) {
      history.violation("holds", `${name} still holds: ${JSON.stringify(state)}`);
    }
  }
  for (const run of traffic.runs) {
    if (run.process.alive && (run.state === "asked" || run.state === "settling" || run.state === "held")) {
      history.violation("answers", `${run.requestId} on ${run.machine} was never answered: ${run.state}`);
    }
  }
}
