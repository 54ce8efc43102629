import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient, type Transport } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";

/** The account that an embedded service makes at its first start. */
export interface Demo {
  readonly accountId: string;
  readonly key: string;
}

/**
 * Makes the demo account and its key at the first start. The key is kept in the data directory, readable only by its
 * user, so that every start can print a command to try.
 */
export async function ensureDemo(dataDir: string, transport: Transport, operatorToken: string): Promise<Demo> {
  const file = join(dataDir, "demo-account.json");
  const kept = await readFile(file, "utf8").catch(() => undefined);
  if (kept !== undefined) {
    return JSON.parse(kept) as Demo;
  }
  const accounts = createClient(AccountsService, transport);
  const headers = { authorization: `Bearer ${operatorToken}` };
  const { account } = await accounts.createAccount({ name: "demo" }, { headers });
  const accountId = account?.id ?? "";
  const { secret } = await accounts.createKey({ accountId, name: "demo" }, { headers });
  const demo: Demo = { accountId, key: secret };
  await writeFile(file, `${JSON.stringify(demo)}\n`, { mode: 0o600 });
  return demo;
}
