import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Stage } from "../stage/stage.ts";

/** Signs in at a host of the console's own, and tells which hosts of another server of this machine get the cookie. */
export async function signInAtOwnHost(stage: Stage): Promise<readonly string[]> {
  const own = "tollgate.localhost";
  const told: string[] = [];
  const other = createServer(({ headers: { cookie = "", host = "" } }, response) => {
    if (cookie.includes("tgco_")) {
      told.push(host.replace(/:\d+$/, ""));
    }
    response.end("a page");
  }).listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const { context, page } = await stage.visit();
  await page.goto((await stage.makeLink("reader")).replace("127.0.0.1", own));
  await page.waitForURL(`http://${own}:*/overview`);
  for (const host of ["127.0.0.1", "localhost", own]) {
    await page.goto(`http://${host}:${port}/`);
  }
  await context.close();
  other.closeAllConnections();
  other.close();
  return told;
}
