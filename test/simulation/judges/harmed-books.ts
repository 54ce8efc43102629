import { systemRandom } from "#lib/ids/random.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { sealDay } from "#src/money/books/seals/seal-day.ts";
import { extendChain } from "#src/money/books/seals/seal-tree.ts";
import { DaySeal } from "#src/storage/entities/metering/seal.ts";
import { readEntity } from "#src/storage/reads/read-entity.ts";
import { chargeStatements } from "../database/charges.ts";
import type { SimulatedServer } from "../database/server.ts";
import { judgesStorage } from "../database/storage.ts";
import type { World } from "../world.ts";

type Tables = SimulatedServer["tables"];

/** Something that no program does to the books. */
interface Harm {
  readonly name: string;
  /** Whether only a proof that reads everything finds it. */
  readonly needsAll?: boolean;
  /** The rule that finds it, whatever others do. Absent: any. */
  readonly rule?: string;
  do(tables: Tables): void;
}

const dayMs = 86_400_000;
/** Receipts that a proof takes at once, so that it takes those of a small world in parts. */
const partSize = 20;

/** Changes the last seal, and makes its chain anew, so that it holds. */
function changeSeal(tables: Tables, change: (seal: DaySeal) => Partial<DaySeal>): void {
  const [row, before] = tables.all<Record<string, string>>("select * from day_seal order by number desc limit 2");
  const seal = readEntity(DaySeal, row ?? {});
  const { receipts, root } = { ...seal, ...change(seal) };
  const chain = extendChain(before?.chain ?? "", { ...seal, receipts, root });
  const sql = "update day_seal set receipts = ?, root = ?, chain = ? where number = ?";
  tables.run(sql, ...[receipts, root, chain, seal.number]);
}

/** Harms of the seal of a day whose receipts are there. */
const harmsOfSeals: readonly Harm[] = [
  {
    name: "the chain of seals is broken",
    do: (tables) => tables.run("update day_seal set chain = root where number = (select max(number) from day_seal)"),
  },
  {
    name: "a day has fewer receipts than its seal says",
    rule: "a day has all receipts that were sealed",
    do: (tables) => changeSeal(tables, ({ receipts }) => ({ receipts: receipts + 1 })),
  },
  {
    name: "a seal has another root than its receipts",
    needsAll: true,
    do: (tables) => changeSeal(tables, ({ root }) => ({ root: [...root].reverse().join("") })),
  },
];

const newestCostsMore: Harm = {
  name: "the newest receipt costs more",
  do: (tables) =>
    tables.run(
      `update usage set cost = cost + 1
       where (request_id, run_id) = (select request_id, run_id from usage order by settled_at desc limit 1)`,
    ),
};

/**
 * Seals the newest day of a world that is over, harms it or its seal, and judges that this is found: where its receipts or
 * sums are harmed, the day is not sealed.
 */
export async function judgeHarmedBooks(world: World): Promise<void> {
  const { tables } = world.server;
  const newest = tables.get<{ day: number | null }>(
    `select max(settled_at / ${dayMs}) as day from usage where settled_at / ${dayMs} not in (select day from day_seal)`,
  )?.day;
  if (world.history.violations.length > 0 || newest == null) {
    return;
  }
  tables.run("update usage_tally set seen = true"); // nobody is there who would still look
  chargeStatements["fold tallies"]?.(tables, [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
  const drawn = world.dice.fork("harm");
  if (drawn.chance(0.2)) {
    await judgeUnsealed(world, newest, drawn.pick(["hour", "day"]));
  } else if (drawn.chance(0.3)) {
    await judgeFound(world, newestCostsMore);
  } else if (await isSealed(world, newest)) {
    await judgeFound(world, drawn.pick(harmsOfSeals));
  } else {
    world.history.violation("books", "a day could not be sealed whose books are proved");
  }
}

async function isSealed({ server }: World, day: number): Promise<boolean> {
  const { storage, now } = server;
  return "seal" in (await sealDay({ storage, clock: { now }, random: systemRandom, pace: async () => {} }, day));
}

async function judgeUnsealed(world: World, day: number, sums: "hour" | "day"): Promise<void> {
  const slots = sums === "hour" ? `slot / 24 = ${day}` : `slot = ${day}`;
  world.server.tables.run(
    `update usage_rollup set output_tokens = output_tokens + 1 where span = '${sums}' and ${slots}`,
  );
  if (await isSealed(world, day)) {
    world.history.violation("books", "a day was sealed whose sums of usage are not those of its receipts");
  }
}

async function judgeFound(
  { server, history }: World,
  { name, needsAll = false, rule: finder, do: harm }: Harm,
): Promise<void> {
  harm(server.tables);
  for (const all of needsAll ? [true] : [false, true]) {
    const { findings } = await reconcile(judgesStorage(server), undefined, { all, size: partSize });
    if (!findings.some(({ rule }) => finder === undefined || rule === finder)) {
      const kind = all ? "reading everything" : "believing seals";
      history.violation("books", `a proof, ${kind}, does not find that ${name}`);
    }
  }
}
