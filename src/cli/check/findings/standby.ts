import { Client, Pool } from "pg";
import type { Secrets } from "#src/config/secrets/secrets.ts";
import { History } from "#src/storage/postgresql/history.ts";
import { primaryClient } from "#src/storage/postgresql/primary.ts";
import { serversOf } from "#src/storage/postgresql/servers.ts";
import { Standby } from "#src/storage/postgresql/standby.ts";
import { type Finding, patienceMs, toReason } from "../finding.ts";

/** Checks that a standby answers long reads, and how old what it tells is. None is configured: finds nothing. */
export async function checkStandby(
  { storageUrl, readUrl }: Pick<Secrets, "storageUrl" | "readUrl">,
  mostAgeSeconds: number,
): Promise<Finding[]> {
  if (readUrl === undefined) {
    return [];
  }
  const part = "standby";
  const primary = openPrimary(storageUrl);
  try {
    const options = { url: readUrl, mostAgeMs: 0, observer: { readStandby() {}, readPrimary() {} }, warn() {} };
    const standby = new Standby(primary, options, "select 1");
    const seconds = (await standby.age().finally(() => standby.close())) / 1000;
    const age = Number.isFinite(seconds) ? `its last transaction is ${seconds.toFixed(1)} s old` : "it is empty";
    if (seconds <= mostAgeSeconds) {
      return [{ part, status: "ok", message: age }];
    }
    const mend = `above ${mostAgeSeconds} s (storage.read_max_age_s) the primary answers; cores that run write every 5 s`;
    return [{ part, status: "warning", message: `${age}: ${mend}` }];
  } catch (error) {
    const mend = "check TOLLGATE_STORAGE_READ_URL or storage.read_url; until then the primary answers";
    return [{ part, status: "warning", message: `${toReason(error)}: ${mend}` }];
  } finally {
    await primary.end();
  }
}

function openPrimary(url: string): Pool {
  const servers = serversOf(url);
  const pool = new Pool({
    connectionString: servers[0],
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
    Client: servers.length === 1 ? Client : primaryClient(servers, new History(), patienceMs),
  });
  return pool.on("error", () => {}); // an idle connection that breaks
}
