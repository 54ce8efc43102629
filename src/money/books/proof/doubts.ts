// Rules that compare stored sums with those of all receipts of the open days, proved in parts: one query over all of them
// would hold its snapshot, and a processor, for longer the more the day has.

import { setImmediate as endOfTurn } from "node:timers/promises";
import type { Row } from "#src/storage/reads/snapshot.ts";
import { breachesOf } from "./breaches.ts";
import { atOnce, type PieceReader, partsBetween, readCuts } from "./parts.ts";
import type { Rule } from "./rules/reconcile-rules.ts";
import { inScope, type PartOfTime, readScope } from "./scope.ts";
import { Unexplained } from "./unexplained.ts";

/**
 * Ids whose sums are held at once, in 40 MB at most. More of them are proved range by range, each by reading all parts again:
 * to read twice is slow, and one query over all receipts disturbs others.
 */
export const mostSums = 100_000;
/** So many of the newest parts are read together with the stored sums, so that charges which are just being stored are all in them. */
const newestParts = 2;

interface PartedReader extends PieceReader {
  /** Receipts of a part. */
  readonly size: number;
  /** Where the open days were cut already. */
  readonly cuts: readonly number[];
  readonly most: number;
}

/** A rule, and the first id that is to be proved yet. */
interface Range {
  readonly rule: Rule;
  readonly from?: string;
}

interface Explained {
  readonly rule: Rule;
  readonly sums: Unexplained;
}

/**
 * The rules, of those with `addends`, that are not proved by parts of the receipts within a span. One query then judges each of
 * them: what the parts do not explain need not be wrong. A receipt may have come with a time of a part that is still to be
 * read, a day may have been sealed meanwhile, and few receipts are no parts at all.
 *
 * One snapshot tells how stored sums differ from those of sealed days and of the newest receipts. Older receipts, which stay as
 * they are, must explain the differences to the last digit, however long it takes to read them: what is charged meanwhile
 * is newer, and in neither.
 */
export async function findDoubted(
  rules: readonly Rule[],
  within: PartOfTime,
  reader: PartedReader,
): Promise<readonly Rule[]> {
  const doubted: Rule[] = [];
  let ranges: readonly Range[] = rules.map((rule) => ({ rule }));
  while (ranges.length > 0) {
    const explained = await explain(ranges, within, reader);
    if (explained === undefined) {
      return [...doubted, ...ranges.map(({ rule }) => rule)];
    }
    const isProved = ({ sums }: Explained) => sums.isEmpty;
    doubted.push(...explained.filter((one) => !isProved(one)).map(({ rule }) => rule));
    ranges = explained
      .filter(isProved)
      .flatMap(({ rule, sums: { next } }) => (next === undefined ? [] : [{ rule, from: next }]));
  }
  return doubted;
}

/** What is left of the stored sums in ranges of ids when all receipts were read. Undefined: they are too few for parts. */
async function explain(
  ranges: readonly Range[],
  within: PartOfTime,
  reader: PartedReader,
): Promise<readonly Explained[] | undefined> {
  const { dialect, read, pace, most } = reader;
  const rules = ranges.map(({ rule }) => rule);
  const older = (await cutsWithin(within, reader)).slice(0, -newestParts);
  const cuts = rules.every(({ ofDay }) => ofDay === "hours") ? atOnce(older) : older;
  const last = cuts.at(-1);
  if (last === undefined) {
    return undefined;
  }
  await pace();
  const { scope, explained } = await read(async (snapshot) => {
    const scope = await readScope(snapshot, false);
    const explained = ranges.map(({ rule, from }) => ({ rule, sums: new Unexplained(most, from) }));
    const newest = { ...scope, within, receipts: { ...within, from: last } };
    for await (const rows of snapshot.rows(breachesOf(rules, newest, dialect))) {
      for (const { rule, id, expected, found } of rows) {
        const { sums } = explained[Number(rule)] as Explained;
        sums.add(String(id), String(found));
        sums.take(String(id), String(expected));
      }
    }
    return { scope, explained };
  });
  // The newest first: a receipt that comes late is likely to be among them, and changes nothing once its part was read.
  for (const part of partsBetween(cuts, within.from).toReversed()) {
    await pace();
    const sql = inScope(addendsOf(rules), { ...scope, within: part }, dialect);
    const pieces = await read(async (snapshot) => {
      const all: (readonly Row[])[] = [];
      for await (const rows of snapshot.rows(sql)) {
        all.push(rows);
      }
      return all;
    });
    for (const [at, rows] of pieces.entries()) {
      if (at > 0) {
        await endOfTurn(); // requests wait for no more than a piece
      }
      for (const { rule, id, amounts } of rows) {
        explained[Number(rule)]?.sums.take(String(id), String(amounts));
      }
    }
  }
  return explained;
}

/** The cuts within a span, until now. */
async function cutsWithin(within: PartOfTime, { cuts, size, ...reader }: PartedReader): Promise<readonly number[]> {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = within;
  const known = cuts.filter((cut) => cut > from && cut < to);
  const last = known.at(-1);
  const since = last === undefined ? within : { ...within, from: last };
  const scope = await reader.read((snapshot) => readScope(snapshot, false));
  return [...known, ...(await readCuts(reader, { ...scope, within: since }, size))];
}

/** What receipts add to the sums of rules, whose receipts and lines are read once. */
const addendsOf = (rules: readonly Rule[]): string =>
  rules
    .map(({ addends }, at) => `select ${at} as rule, id, amounts from (${addends}) addends_${at}`)
    .join(" union all ");
