import type { ReconcileFinding } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { noId } from "../../../metering/ledger/wallet/wallet-store.ts";
import type { Storage } from "../../../storage/orm.ts";

const rule = "what left a database with an account is in the one that it went to, or on its way";
/** Moves in one page. */
const pageSize = 10_000;
/** The proof reports at most this many findings. */
const mostFindings = 100;

interface Row {
  readonly id: string;
  readonly shards: string;
  readonly carried: string;
  readonly state: string;
}

/**
 * Proves that no money is in two databases or in none. Each move that arrived has left, with the same money, debt and
 * payments; each move that is done where it left has arrived. A move under way has left and not arrived. The databases
 * are not read at one moment: arrivals first, then departures, then arrivals again, so that a move under way meanwhile
 * is no finding.
 */
export async function proveMoves(storages: readonly Storage[]): Promise<ReconcileFinding[]> {
  const came = await readAll(storages, true);
  const left = await readAll(storages, false);
  const cameSince = await readAll(storages, true);
  const findings: ReconcileFinding[] = [];
  const find = (id: string, message: string) => {
    if (findings.length < mostFindings) {
      findings.push({ $typeName: "tollgate.metering.v1.ReconcileFinding", rule, row: `account_move ${id}`, message });
    }
  };
  for (const [id, there] of came) {
    const here = left.get(id);
    if (here === undefined || (here.state !== "sent" && here.state !== "done")) {
      find(id, `expected to have left, found ${here?.state ?? "nothing"}`);
    } else if (here.carried !== there.carried || here.shards !== there.shards) {
      find(id, `expected ${here.shards} ${here.carried}, found ${there.shards} ${there.carried}`);
    }
  }
  for (const [id, { state, carried }] of left) {
    if (state === "done" && !cameSince.has(id)) {
      find(id, `expected ${carried} to have come, found nothing`);
    }
  }
  return findings;
}

async function readAll(storages: readonly Storage[], incoming: boolean): Promise<Map<string, Row>> {
  const all = new Map<string, Row>();
  for (const storage of storages) {
    for (let after = noId; ; ) {
      const rows = await storage.orm.em.fork().execute<Row[]>(
        `select id, from_shard || ' to ' || to_shard as shards, money || ' ' || debt || ' ' || paid_total as carried, state
         from account_move where incoming = ? and state in ('sent', 'done', 'arrived') and id > ? order by id limit ${pageSize}`,
        [incoming, after],
      );
      for (const row of rows) {
        all.set(row.id, row);
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < pageSize) {
        break;
      }
      after = last.id;
    }
  }
  return all;
}
