import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { ListRequestsRequestSchema } from "#gen/tollgate/metering/v1/request_pb.js";
import { listRequests } from "#src/services/metering/requests/request-list.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { SqliteStorage } from "#src/storage/storage.ts";
import { databases } from "../../../money/databases.ts";
import { explainSqlite } from "../../../support/plans.ts";

// SQLite has no statistics: how it reads a query does not depend on how many rows there are.

const newDatabase = databases();

/** The steps in which a list is read, for each of its queries. */
async function plansOf(storage: SqliteStorage, asked: object): Promise<readonly string[]> {
  const plans: string[] = [];
  const note = (sql: string, parameters: readonly unknown[] = []) => {
    const values = parameters.map((value) => (value instanceof Date ? value.getTime() : value)) as string[];
    plans.push(
      explainSqlite(storage, sql, values)
        .map(({ detail }) => detail)
        .join("\n"),
    );
  };
  const snapshot: SqliteStorage["snapshot"] = async () => {
    const { rows, few, close } = await storage.snapshot();
    return {
      rows(sql, parameters) {
        note(sql, parameters);
        return rows(sql, parameters);
      },
      few(sql, parameters) {
        note(sql, parameters);
        return few(sql, parameters);
      },
      close,
    };
  };
  await listRequests({ ...storage, snapshot }, create(ListRequestsRequestSchema, asked));
  return plans;
}

test("a request is found by the index of its id, however many its account has; lists are read in the order of an index", async () => {
  const storage = (await openStorage(await newDatabase("sqlite"))) as SqliteStorage;
  const accountId = v7();
  for (const asked of [{ requestId: "req_1" }, { requestId: "req_1", accountId, keyId: "k", model: "m" }]) {
    const plans = await plansOf(storage, asked);
    expect(plans).toHaveLength(2);
    for (const plan of plans) {
      expect(plan).toMatch(/^SEARCH \w+ USING INDEX \w+ \(request_id=\?\)/);
    }
  }
  for (const asked of [{}, { accountId }, { model: "m" }, { keyId: "k" }, { reason: "R" }, { accountId, model: "m" }]) {
    for (const plan of await plansOf(storage, asked)) {
      expect(plan).toMatch(/^SEARCH \w+ USING (COVERING )?INDEX/);
      expect(plan).not.toMatch(/USE TEMP B-TREE FOR ORDER BY/);
    }
  }
  await storage.close();
});
