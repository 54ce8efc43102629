import { fromJsonString, toJsonString } from "@bufbuild/protobuf";
import { type ReconcileResponse, ReconcileResponseSchema } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { Setting } from "#src/storage/entities/setting.ts";
import type { Storage } from "#src/storage/storage.ts";

/** The last proof that a core made for all cores of a database. */
export interface LastProof {
  /** When it was done, by the database's clock. */
  readonly at: number;
  readonly proof: ReconcileResponse;
}

const name = "last-proof";

/** Undefined: the books were never proved. */
export async function readLastProof(storage: Storage): Promise<LastProof | undefined> {
  const found = await storage.orm.em.fork().findOne(Setting, { name });
  if (found === null) {
    return undefined;
  }
  const { at, proof } = JSON.parse(found.value) as { at: number; proof: string };
  return { at, proof: fromJsonString(ReconcileResponseSchema, proof) };
}

export async function storeLastProof(storage: Storage, { at, proof }: LastProof): Promise<void> {
  const value = JSON.stringify({ at, proof: toJsonString(ReconcileResponseSchema, proof) });
  await storage.orm.em.fork().upsert(Setting, { name, value });
}
