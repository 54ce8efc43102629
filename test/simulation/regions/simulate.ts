import type { Wealth } from "./customers.ts";
import { faults } from "./faults.ts";
import { judgeCharges, judgeEnd, judgeLots, judgeStatements, judgeSums } from "./judges.ts";
import { Watch } from "./watch.ts";
import { World } from "./world.ts";

/** The result of a run. */
export interface Outcome {
  readonly seed: number;
  readonly requests: number;
  readonly admitted: number;
  readonly events: number;
  readonly faults: number;
  /** Wide-area messages while requests came. */
  readonly messages: number;
  readonly refusals: number;
  /** Entries of exchanges and notices: reports, wishes, grants, states. */
  readonly entries: number;
  /**
   * Refusals for lack of money while there was free money for two such requests anywhere; those while the home shard
   * could lend it; and those when it could have lent it for so long that the region could have known.
   */
  readonly wrong: number;
  readonly wrongAtHome: number;
  readonly wrongThoughHeard: number;
  /** The longest time that money was in quarantine, in milliseconds, and the largest part of all money that was. */
  readonly quarantineMs: number;
  readonly quarantined: number;
  /** The greatest age of the oldest statement that a proof used, in milliseconds. */
  readonly proofAgeMs: number;
  readonly simulatedMs: number;
  /** Changes when anything that was noted changes. */
  readonly digest: string;
  readonly violations: readonly string[];
}

/** Differences from a seed's own world. */
export interface Settings {
  /** Called with each line of the history. */
  readonly tell?: (line: string) => void;
  readonly requests?: number;
  /** Absent: as many regions as the seed says. */
  readonly regions?: number | undefined;
  /** Absent: some customers are rich, some poor. */
  readonly wealth?: Wealth | undefined;
  /** True: no faults strike. */
  readonly isFaultless?: boolean;
  /** The names of faults that do not strike. */
  readonly without?: readonly string[];
  /** The names of the only faults that strike. Absent: each world has some of all faults. */
  readonly only?: readonly string[] | undefined;
  /** The mean interval of requests, and of faults, in milliseconds. Absent: from the seed. */
  readonly meanMs?: number | undefined;
  readonly faultsMs?: number | undefined;
}

/** Milliseconds between two judgements of lots, and of statements, whose signatures take time. */
const judgeMs = 2000;
const proveMs = 10_000;
/** Simulated milliseconds after which a world in which nothing can run is given up. */
const mostMs = 900_000;
/**
 * Milliseconds after the last fault until all money is returned: a term, the longest run, the readers' time, and a
 * limit's minute.
 */
const quietMs = 210_000;

/** Lives one world of regions from its beginning to its end, and judges it. */
export async function simulate(
  seed: number,
  { tell, requests = 1000, without, only, ...given }: Settings = {},
): Promise<Outcome> {
  const shape = {
    regions: given.regions ?? 2 + (seed % 4),
    customers: 3 + (seed % 5),
    wealth: given.wealth,
    ...(tell && { tell }),
  };
  const world = new World(seed, { ...shape, ...(seed % 3 === 0 && { revocationMs: 10_000 }) });
  const { timeline, dice, operators, traffic, history, truth, wan } = world;
  await timeline.pass(1000);
  operators.open();
  await timeline.pass(1000);
  const meanMs = dice.pick([20, 60, 200, 800]);
  traffic.begin(given.meanMs ?? meanMs);
  operators.begin(dice.pick([1000, 5000]), given.isFaultless);
  const faultsMs = dice.pick([1000, 4000, 15_000]);
  beginFaults(world, given.faultsMs ?? faultsMs, without ?? [], given.isFaultless ? [] : only);
  const watch = new Watch(world);
  let [judgeAt, proveAt] = [judgeMs, proveMs];
  while (traffic.requests < requests && timeline.now < mostMs && history.violations.length === 0) {
    await timeline.pass(1000);
    watch.look();
    if (timeline.now >= judgeAt) {
      judgeAt += judgeMs;
      judgeLots(world);
    }
    if (timeline.now >= proveAt) {
      proveAt += proveMs;
      judgeStatements(world);
    }
  }
  const { messages, entries } = wan;
  world.heal();
  traffic.stop();
  operators.stop();
  await timeline.pass(quietMs);
  judgeLots(world);
  judgeStatements(world);
  judgeSums(world);
  judgeCharges(world);
  judgeEnd(world);
  return {
    ...{ seed, requests: traffic.requests, admitted: truth.admissions, events: timeline.count },
    ...{
      faults: history.faults,
      messages,
      wrong: truth.wrong,
      wrongAtHome: truth.wrongAtHome,
      wrongThoughHeard: truth.wrongThoughHeard,
      entries,
      simulatedMs: timeline.now,
    },
    refusals: truth.refusals.exhausted + truth.refusals.held,
    ...watch.worst,
    digest: history.digest,
    violations: history.violations,
  };
}

/** Starts faults. Each world has some kinds of faults only, so that rare kinds come together, too. */
function beginFaults(
  world: World,
  meanMs: number,
  without: readonly string[],
  only: readonly string[] | undefined,
): void {
  const { dice, timeline } = world;
  const mine = faults.filter(({ name }) => only?.includes(name) ?? (dice.chance(0.5) && !without.includes(name)));
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
