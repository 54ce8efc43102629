import { isSigned } from "./bank/statements.ts";
import type { HomeSlice } from "./home/state.ts";
import type { World } from "./world.ts";

/** Judges that the parts of each lot add up to the lot, at all times. */
export function judgeLots(world: World): void {
  const { homeState, history } = world;
  for (const { facts, amount, lent, slices } of homeState.lots.values()) {
    let sum = 0;
    for (const slice of slices.values()) {
      const { granted, spent, returned, region } = slice;
      sum += granted - returned;
      if (spent + returned > granted && !isGivenUp(world, slice)) {
        history.violation(
          "slices",
          `${region} spent ${spent} and returned ${returned} of ${granted} of lot ${facts.id}`,
        );
      }
    }
    if (sum !== lent) {
      history.violation("slices", `lot ${facts.id}: ${lent} is lent, and its slices have ${sum}`);
    }
    // In doubt, a region's return may be forgotten while another region's grant from it is known.
    if (facts.kind === "money" && lent > amount && homeState.unheard.size === 0) {
      history.violation("slices", `lot ${facts.id}: ${lent} is lent of ${amount}`);
    }
  }
}

/**
 * Whether a slice was given up with its store. A message of that store may still be on its way. Spending that it
 * reports is the operator's loss, like all spending that was never reported.
 */
function isGivenUp({ destroyed }: World, { isClosed, region }: HomeSlice): boolean {
  return isClosed && destroyed.some((one) => one.region.name === region);
}

/** Statements with verified signatures: a world proves each many times. */
const signed = new WeakSet<object>();

/** Judges that each statement is signed by its region, and states no more than the home shard has heard. */
export function judgeStatements({ homeState, keys, history }: World): void {
  for (const statement of homeState.statements.values()) {
    const { region, epoch, rows } = statement;
    if (homeState.unheard.has(region)) {
      continue; // home has forgotten what it had heard, and is about to hear it again
    }
    const key = keys.get(region);
    if (key !== undefined && (signed.has(statement) || isSigned(statement, key))) {
      signed.add(statement);
    } else {
      history.violation("statements", `a statement of ${region} is not signed by it`);
    }
    for (const { lotId, granted, spent, returned } of rows) {
      const slice = homeState.lots.get(lotId)?.slices.get(`${region}/${epoch}`);
      const isKnown =
        slice !== undefined && slice.granted >= granted && slice.spent >= spent && slice.returned >= returned;
      if (!isKnown) {
        const said = JSON.stringify({ granted, spent, returned });
        history.violation("statements", `${region} signed ${said} of lot ${lotId}, home has ${JSON.stringify(slice)}`);
      }
    }
  }
}

/** Judges that each signed sum is the sum of the receipts, once no request runs. */
export function judgeSums(world: World): void {
  const { homeState, truth, history } = world;
  world.countLost();
  for (const [id, { spent }] of truth.lots) {
    const lot = homeState.lots.get(id);
    const told = [...(lot?.slices.values() ?? [])].reduce((sum, slice) => sum + slice.spent, 0);
    if (told !== spent) {
      history.violation("reports", `lot ${id}: regions charged ${spent}, home has heard of ${told}`);
    }
  }
  for (const statement of homeState.statements.values()) {
    const { region, epoch, rows } = statement;
    if (homeState.regions.get(region)?.epoch !== epoch) {
      continue;
    }
    for (const { lotId, spent } of rows) {
      const charged = sumOf(world, region, epoch, lotId);
      if (charged !== spent) {
        history.violation(
          "statements",
          `${region} signed that lot ${lotId} paid ${spent}, its receipts say ${charged}`,
        );
      }
    }
  }
}

function sumOf({ truth }: World, region: string, epoch: number, lotId: string): number {
  let sum = 0;
  for (const receipt of truth.receipts.values()) {
    for (const line of receipt.region === region ? receipt.lines : []) {
      sum += line.lotId === lotId && line.epoch === epoch ? line.cost : 0;
    }
  }
  return sum;
}

/** Judges that everything acknowledged was charged, and what ran when a region died as far as its journal knew. */
export function judgeCharges({ truth, history }: World): void {
  for (const [id, region] of truth.done) {
    if (!truth.receipts.has(id)) {
      history.violation("receipts", `${region} acknowledged ${id} and has no receipt`);
    }
  }
  for (const [id, cost] of truth.noted) {
    const charged = truth.receipts.get(id)?.cost ?? 0;
    if (charged < cost) {
      history.violation("journal", `${id} had cost ${cost} when its region died, and was charged ${charged}`);
    }
  }
  if (truth.running.size > 0) {
    history.violation("answers", `${truth.running.size} requests never ended`);
  }
}

/** Judges that all unspent money is returned, and that every region serves. */
export function judgeEnd(world: World): void {
  const { homeState, regions, history } = world;
  for (const { facts, slices } of homeState.lots.values()) {
    for (const slice of slices.values()) {
      const { region, epoch, granted, spent, returned } = slice;
      const left = granted - spent - returned;
      if (left > 0 || (left < 0 && !isGivenUp(world, slice))) {
        history.violation(
          "stranded money",
          `${left} of lot ${facts.id} never came home from ${region}, epoch ${epoch}`,
        );
      }
    }
  }
  if (homeState.unheard.size > 0) {
    history.violation("stranded money", "home does not know what it had lent");
  }
  for (const region of regions) {
    judgeRegion(region, history);
  }
}

function judgeRegion({ name, bank }: World["regions"][number], history: World["history"]): void {
  for (const purse of bank?.purses.values() ?? []) {
    if (purse.left > 0 || purse.held !== 0) {
      history.violation("stranded money", `${name} keeps ${purse.left} of ${purse.id}, ${purse.held} of it held`);
    }
  }
  if (!bank?.term.isValid) {
    history.violation("terms at the end", `${name} may not admit though all is well`);
  }
}
