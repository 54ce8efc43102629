import type { DescMessage, JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { toPublicJson } from "./public-json.ts";

/** The facts of a change that are known in its transaction. */
export interface ChangeFacts {
  readonly target: string;
  /** The account whose owners see the change. Undefined: the caller's own, if the caller is a member. */
  readonly accountId?: string;
  readonly before?: JsonObject;
  /** Added to the request's fields. */
  readonly after: JsonObject;
}

/** A change that an operator is making. It is recorded in the audit log when it is made. */
export interface Change {
  /** The target before the change. Absent: the target is new, or nothing of it is replaced. */
  before?: JsonObject;
  /** Whether the change is recorded, or turned out to change nothing. */
  settled: boolean;
  /** Records the change, in the transaction that makes it. */
  note(em: SqlEntityManager, facts: ChangeFacts): Promise<void>;
}

/** The change that a call makes. Undefined: the call changes nothing, or there is no audit log. */
export const changeKey = createContextKey<Change | undefined>(undefined, { description: "change" });

type Context = Pick<HandlerContext, "values">;

/** Keeps a call's target as it was before the change, for the audit log. */
export function noteBefore<Desc extends DescMessage>(
  context: Context,
  schema: Desc,
  before: MessageInitShape<Desc>,
): void {
  const change = context.values.get(changeKey);
  if (change !== undefined) {
    change.before = toPublicJson(schema, before);
  }
}

/**
 * Makes a change in a transaction and records it there: money never moves without a trace. `run` calls the given
 * function inside its transaction, unless there is nothing to change.
 */
export async function noteWithin<T>(
  context: Context,
  run: (note: (em: SqlEntityManager, facts: ChangeFacts) => Promise<void>) => Promise<T>,
): Promise<T> {
  const change = context.values.get(changeKey);
  const result = await run(async (em, facts) => change?.note(em, facts));
  if (change !== undefined) {
    change.settled = true;
  }
  return result;
}
