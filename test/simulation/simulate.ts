import type { Money } from "#src/compose/core/money/money.ts";
import type { Machine } from "./cores/machine.ts";
import type { Run } from "./cores/run.ts";
import { storeKeys } from "./cores/stored-keys.ts";
import type { SimulatedServer } from "./database/server.ts";
import type { Meaning } from "./database/statement.ts";
import { faults, localFaults, nightlyFaults } from "./faults/faults.ts";
import { judgeArchives } from "./judges/archives.ts";
import { judgeBooks, judgeExpiry, judgeLeases } from "./judges/books.ts";
import { BudgetSliceJudge } from "./judges/budget-slices.ts";
import { judgeBudgetWindows } from "./judges/budget-windows.ts";
import { judgeAnswers, judgeCharges } from "./judges/charges.ts";
import { CreditLineJudge } from "./judges/credit-lines.ts";
import { judgeHarmedBooks } from "./judges/harmed-books.ts";
import { IdentityJudge } from "./judges/identities.ts";
import { judgeJournals } from "./judges/journals.ts";
import { judgeKeys } from "./judges/keys.ts";
import { judgeLabels } from "./judges/labels.ts";
import { judgeLetIn } from "./judges/let-in.ts";
import { judgeLetters, judgeRemade } from "./judges/letters.ts";
import { judgeAdmissions, judgeRates, RefusalJudge } from "./judges/limits.ts";
import { LineJudge } from "./judges/lines.ts";
import { LotJudge } from "./judges/lots.ts";
import { judgeMonths } from "./judges/months.ts";
import { MovementJudge } from "./judges/movements.ts";
import { judgeThresholds } from "./judges/news.ts";
import { judgeOwnPrices } from "./judges/own-prices.ts";
import { PaidRateJudge } from "./judges/paid-rates.ts";
import { judgePriceBooks } from "./judges/price-books.ts";
import { judgeRateRefusals } from "./judges/rate-refusals.ts";
import { ReasonJudge } from "./judges/reasons.ts";
import { judgeRunningHolds } from "./judges/running-holds.ts";
import { SpendingJudge } from "./judges/spending.ts";
import { judgeTurns } from "./judges/turns.ts";
import { UsageEventJudge } from "./judges/usage-events.ts";
import { judgeWaits } from "./judges/waits.ts";
import { judgeWallets } from "./judges/wallets.ts";
import { Dice } from "./world/dice.ts";
import { World } from "./world.ts";

/** The result of a run. */
export interface Outcome {
  readonly seed: number;
  readonly requests: number;
  readonly admitted: number;
  readonly events: number;
  readonly faults: number;
  /** Milliseconds of simulated time. */
  readonly simulatedMs: number;
  /** Changes when anything that was noted changes. */
  readonly digest: string;
  readonly violations: readonly string[];
}

/** The figures of a world that was not lived. */
export const noOutcome: Omit<Outcome, "seed"> = {
  ...{ requests: 0, admitted: 0, events: 0, faults: 0, simulatedMs: 0, digest: "", violations: [] },
};

/** Differences from a seed's own world. */
export interface Settings {
  /** Called with each line of the history. */
  readonly tell?: (line: string) => void;
  /** The most requests. Absent: `mostRequests`. */
  readonly requests?: number;
  /** The names of faults that do not strike. */
  readonly without?: readonly string[];
  /** The names of the only faults that strike. Absent: each world has some of all faults. */
  readonly only?: readonly string[] | undefined;
  /** The mean interval of requests, and of faults, in milliseconds. Absent: from the seed. */
  readonly trafficMs?: number | undefined;
  readonly faultsMs?: number | undefined;
  /** Whether there is only one core, on the real SQLite. Absent: cores share a simulated PostgreSQL. */
  readonly isSqlite?: boolean;
  /**
   * The most rates that a core's price book keeps in memory. Absent: from the seed, or as in the product where only
   * some faults strike.
   */
  readonly bookSize?: number;
  /** Whether receipts leave the books at night and keys get limits while requests run. Absent: from the seed. */
  readonly isNight?: boolean;
  /** Whether charges and crossed thresholds are told. Absent: from the seed. */
  readonly hasNews?: boolean;
  /** Whether accounts get own prices and credit lines. Absent: from the seed. */
  readonly hasTerms?: boolean;
  /** Whether cores look keys up, which are rotated and revoked, as accounts are frozen. Absent: from the seed. */
  readonly hasKeys?: boolean;
  /** Whether requests say who uses the service. Absent: from the seed. */
  readonly hasLabels?: boolean;
  /** Whether movements of money are sent again, and by wrong names. Absent: from the seed. */
  readonly hasRetries?: boolean;
  /** Whether it is a world of payments, and of nothing else. Absent: a few seeds' worlds are. */
  readonly isPayments?: boolean | undefined;
  /** Statements that are replaced, by name, so that judges must notice. */
  readonly instead?: Readonly<Record<string, Meaning>>;
  /** Changes parts of each core. */
  readonly alter?: (money: Money) => void;
}

/** The number of requests where they come fast. Where they come slowly, time ends the world. */
export const mostRequests = 20_000;
/** The part of the worlds that have a night. */
const nightPart = 0.25;
/** The part of the other worlds in which charges and thresholds are told. */
const newsPart = 0.3;
/** In these worlds half a year takes a minute: no clock may be a day off. */
const notAtNight: ReadonlySet<string> = new Set(["clock", "server's clock"]);
/** The part of the worlds in which accounts have terms of their own. */
const termsPart = 0.4;
/** The part of the worlds with neither nights nor news in which keys change and accounts are frozen. */
const keysPart = 0.4;
/** The part of the worlds in which requests say who uses the service. */
const labelsPart = 0.4;
/** The part of the worlds in which movements of money are sent again, and by wrong names. */
const retriesPart = 0.4;
/** A price book that keeps few rates is soon full. */
const bookSizes = [2, 20, 10_000];
/** Milliseconds between two proofs of the books. */
const judgeMs = 20_000;
/** Simulated milliseconds after which a world ends even with few requests, or when nothing can run. */
const mostMs = 110_000;
/** The part of the requests that come while faults strike. The others come to a world that works again. */
const faultyPart = 0.7;
const healthyMs = 60_000;
/** Milliseconds after which money leased by dead cores is available again. */
const recoverMs = 40_000;
/** Whoever ends with the traffic has its money given back by then, and what that lets others owe is paid within a minute more. */
const healMs = healthyMs + recoverMs + 65_000;
const stopMs = 70_000;

/** Lives one world from its beginning to its end, and judges it. */
export async function simulate(seed: number, server: SimulatedServer, settings: Settings = {}): Promise<Outcome> {
  const { requests = mostRequests, instead = {} } = settings;
  const world = new World(seed, server, shapeOf(seed, settings));
  server.instead = instead;
  const { timeline, dice, machines, traffic, operators, terms, keys, retries, history } = world;
  const judgeAdmission = judgeAdmissions(world);
  const judgeKey = judgeKeys(world);
  const judgeIn = judgeLetIn(world);
  const identities = new IdentityJudge(world);
  const judgeAdmitted = (run: Run) => {
    judgeAdmission(run);
    judgeIn(run);
    judgeKey(run);
    identities.look(run);
  };
  traffic.onAdmitted = judgeAdmitted;
  const spending = new SpendingJudge(world);
  const usageEvents = new UsageEventJudge(world);
  const budgetSlices = new BudgetSliceJudge(world);
  const looking = [spending, usageEvents, budgetSlices, judgeRunningHolds(world)];
  const lots = new LotJudge(world);
  const paidRates = new PaidRateJudge(world);
  const creditLines = new CreditLineJudge(world);
  const lines = new LineJudge(world);
  const movements = new MovementJudge(world);
  for (const machine of machines) {
    machine.start();
  }
  await timeline.pass(2000);
  await openAccounts(world);
  const [trafficMs, operatorsMs, faultsMs] = [
    dice.pick([2, 5, 10, 50]),
    dice.pick([200, 1000, 4000]),
    dice.pick([300, 1000, 4000]),
  ];
  traffic.begin(settings.trafficMs ?? trafficMs);
  operators.begin(operatorsMs);
  terms?.begin();
  retries?.begin();
  keys?.begin();
  beginFaults(world, settings.faultsMs ?? faultsMs, settings);
  await live(world, looking, requests * faultyPart, mostMs);
  world.heal();
  const healedAt = timeline.now;
  traffic.stop();
  await timeline.pass(recoverMs);
  traffic.begin(settings.trafficMs ?? trafficMs);
  const worksSince = timeline.now;
  const refusals = new RefusalJudge(world);
  const reasons = new ReasonJudge(world);
  traffic.onAdmitted = (run, worst) => {
    judgeAdmitted(run);
    refusals.admitted(run, worst);
  };
  traffic.onRefused = (run, worst) => {
    refusals.refused(run, worst);
    reasons.refused(run);
  };
  await live(world, looking, requests, healedAt + healthyMs);
  traffic.stop();
  operators.stop();
  terms?.stop();
  retries?.stop();
  keys?.stop();
  await timeline.pass(healedAt + healMs - timeline.now);
  for (const machine of machines) {
    if (machine.life === undefined && !machine.isGone) {
      history.violation("starts", `${machine.name} does not start again: ${String(machine.failure)}`);
    }
  }
  traffic.onRefused = () => {};
  refusals.judge();
  reasons.judge();
  judgeAnswers(world);
  judgeWallets(world);
  await judgePriceBooks(world);
  budgetSlices.judge();
  creditLines.judgeServing();
  judgeRemade(world);
  usageEvents.judge();
  judgeThresholds(world);
  judgeJournals(world, await endAll(world));
  judgeCharges(world);
  judgeLetters(world);
  judgeLabels(world, worksSince);
  lots.judge();
  creditLines.judge();
  judgeOwnPrices(world);
  paidRates.judge(worksSince);
  lines.judge();
  await judgeArchives(world);
  movements.judge();
  spending.judge();
  judgeBudgetWindows(world);
  judgeRates(world);
  judgeRateRefusals(world);
  judgeTurns(world);
  judgeWaits(world);
  judgeLeases(world);
  judgeExpiry(world);
  await judgeBooks(world);
  await judgeMonths(world);
  await judgeHarmedBooks(world);
  return {
    ...{ seed, requests: traffic.runs.length, admitted: traffic.runs.filter(({ hold }) => hold !== undefined).length },
    ...{ events: timeline.count, faults: history.faults, simulatedMs: timeline.now, digest: history.digest },
    violations: history.violations,
  };
}

/** What a world is like: from its settings, or else from its seed. */
function shapeOf(seed: number, settings: Settings): ConstructorParameters<typeof World>[2] {
  const { tell, alter, isSqlite = false } = settings;
  const isUsual = settings.only === undefined;
  const isDrawn = (kind: string, part: number) => isUsual && new Dice(seed).fork(kind).chance(part);
  const isNight = settings.isNight ?? isDrawn("night", nightPart);
  const hasNews = settings.hasNews ?? (!isNight && isDrawn("news", newsPart));
  return {
    cores: isSqlite ? 1 : 1 + (seed % 4),
    customers: 2 + (seed % 5),
    isSqlite,
    isNight,
    hasNews,
    hasKeys: settings.hasKeys ?? (!isNight && !hasNews && isDrawn("keys", keysPart)),
    hasLabels: settings.hasLabels ?? isDrawn("labels", labelsPart),
    hasRetries: settings.hasRetries ?? isDrawn("retries", retriesPart),
    hasTerms: settings.hasTerms ?? isDrawn("terms", termsPart),
    ...(tell && { tell }),
    ...(alter && { alter }),
    asksAgain: isUsual,
    bookSize: settings.bookSize ?? (isUsual ? new Dice(seed).fork("book").pick(bookSizes) : undefined),
  };
}

/** Lets requests come up to a number or a time, and proves the books meanwhile. */
async function live(world: World, judges: readonly { look(): void }[], requests: number, until: number): Promise<void> {
  const { timeline, traffic, history } = world;
  let judgeAt = timeline.now + judgeMs;
  while (traffic.runs.length < requests && timeline.now < until) {
    await timeline.pass(1000);
    for (const judge of judges) {
      judge.look();
    }
    if (timeline.now >= judgeAt && history.violations.length === 0) {
      judgeAt += judgeMs;
      await judgeBooks(world);
      judgeExpiry(world);
    }
  }
}

async function openAccounts({
  machines,
  customers,
  operators,
  timeline,
  history,
  server,
  night,
  news,
  keys,
  retries,
}: World): Promise<void> {
  const life = machines.find((machine) => machine.life !== undefined)?.life;
  if (life === undefined) {
    history.violation("starts", `no core starts: ${String(machines[0]?.failure)}`);
    return;
  }
  for (const customer of customers) {
    const opening = life.money.funds.open({ id: customer.accountId, name: "", maxKeys: 9 }, 0);
    await timeline.until(opening, 10_000);
    if (night !== undefined || news !== undefined) {
      storeKeys(server, customer, timeline.beginning);
    }
    keys?.issue(server, customer, timeline.beginning);
    operators.credit(customer, life);
    await timeline.pass(100);
  }
  retries?.age(server);
}

/** Starts faults. Each world has some kinds of faults only, so that rare kinds come together, too. */
function beginFaults(world: World, meanMs: number, { without = [], only }: Settings): void {
  const { dice, timeline } = world;
  const possible = faults.filter(
    ({ name }) =>
      (!world.isSqlite || localFaults.has(name)) &&
      (world.night === undefined ? !nightlyFaults.has(name) : !notAtNight.has(name)),
  );
  const mine = possible.filter(
    ({ name, isAsked = false }) => only?.includes(name) ?? (dice.chance(0.4) && !isAsked && !without.includes(name)),
  );
  const next = () => {
    timeline.after(dice.exponential(meanMs), () => {
      if (!world.isHealed) {
        dice.pickWeighted(mine).strike(world);
        next();
      }
    });
  };
  if (mine.length > 0) {
    next();
  }
}

/** Stops all cores in order. One more core clears away what dead cores had, and stops, too. Returns those that ended. */
async function endAll(world: World): Promise<readonly Machine[]> {
  const { machines, timeline, history } = world;
  const [last, ...others] = machines.filter(({ life }) => life !== undefined);
  if (last === undefined) {
    return [];
  }
  if (!(await timeline.until(Promise.all(others.map((machine) => machine.stop())), stopMs))) {
    history.violation("ends", "a core does not end");
    return [];
  }
  await timeline.pass(stopMs);
  if (!(await timeline.until(last.stop(), stopMs))) {
    history.violation("ends", "the last core does not end");
    return [];
  }
  return [last, ...others];
}
