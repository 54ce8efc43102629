import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Seal } from "#gen/tollgate/metering/v1/seal_pb.js";
import { dayName } from "#lib/time/days.ts";
import { DaySeal } from "#src/storage/entities/metering/seal.ts";
import type { Storage } from "#src/storage/storage.ts";
import { digestSums } from "./seal-tree.ts";

/** The most seals of an answer: those of almost three years. */
const mostSeals = 1000;

/** The seals of the chain after a number, in order, without what they sum up. */
export async function listSeals(storage: Storage, after: number): Promise<Seal[]> {
  const where = { number: { $gt: after } };
  const seals = await storage.orm.em.fork().find(DaySeal, where, { orderBy: { number: "asc" }, limit: mostSeals });
  return seals.map((seal) => ({
    $typeName: "tollgate.metering.v1.Seal",
    number: seal.number,
    day: dayName(seal.day),
    root: seal.root,
    sums: digestSums(seal),
    chain: seal.chain,
    sealedAt: timestampFromDate(seal.at),
  }));
}
