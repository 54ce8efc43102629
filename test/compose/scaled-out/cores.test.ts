import { expect, test } from "@jest/globals";
import { eventually } from "../../support/eventually.ts";
import { twoCores } from "./two-cores.ts";

const scaled = twoCores();
const { admin, ask, customer } = scaled;

interface ListedServer {
  readonly id: string;
  readonly state: string;
}
test("a server that one core drains is drained by the other, and resumed", async () => {
  const states = async (id: unknown) => {
    const lists = await Promise.all(
      scaled.cores.map((core) => core.admin("servers", "list") as Promise<ListedServer[]>),
    );
    return lists.map((list) => list.find((server) => server.id === id)?.state);
  };
  const [server] = (await admin("servers", "list")) as ListedServer[];
  await admin("servers", "drain", String(server?.id));
  await eventually("both drain it", async () => (await states(server?.id)).every((state) => state === "draining"));
  await scaled.cores[0]?.admin("servers", "resume", String(server?.id));
  await eventually("both resume it", async () => (await states(server?.id)).every((state) => state === "healthy"));
});

test("a core that is killed under load leaves the books right, and the other goes on", async () => {
  const { account, key } = await customer("100000");
  const acknowledged: { id: string; tokens: number }[] = [];
  let asking = true;
  const client = async () => {
    while (asking) {
      try {
        const response = await ask(key);
        const body = (await response.json()) as { usage?: { completion_tokens: number } };
        const id = response.headers.get("x-request-id");
        if (response.ok && id && body.usage) {
          acknowledged.push({ id, tokens: body.usage.completion_tokens });
        }
      } catch {
        // a connection that the killed core took with it
      }
    }
  };
  const clients = Array.from({ length: 8 }, client);
  const answered = (count: number) => eventually(`${count} requests are answered`, () => acknowledged.length >= count);
  await answered(5 * clients.length);
  await scaled.killFirst();
  await answered(acknowledged.length + 5 * clients.length);
  asking = false;
  await Promise.all(clients);
  // What the killed core had answered and not stored yet is in its journal.
  await scaled.restartFirst();
  await eventually("every answer is in the books", async () => {
    const usage = (await admin("usage", "--account", account)) as { requests: number }[];
    return usage.reduce((sum, row) => sum + row.requests, 0) >= acknowledged.length;
  });
  for (const { id, tokens } of [...acknowledged.slice(0, 3), ...acknowledged.slice(-3)]) {
    expect(await admin("receipt", id)).toMatchObject({ account_id: account, output_tokens: tokens });
  }
  expect(await admin("reconcile")).toMatchObject({ ok: true });
}, 90_000);
