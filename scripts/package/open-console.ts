/** Opens the console by its one-time link as a browser does: page, scripts, styles, and a call of its own. Throws what is amiss. */
export async function openConsole(link: string): Promise<void> {
  const { origin } = new URL(link);
  const entered = await fetch(link, { redirect: "manual" });
  const cookie = entered.headers.getSetCookie()[0]?.split(";", 1)[0];
  if (entered.status !== 303 || cookie === undefined) {
    throw new Error(`the printed link answered ${entered.status} and ${cookie === undefined ? "no" : "a"} cookie`);
  }
  const headers = { cookie, "sec-fetch-site": "same-origin" };
  const page = await read(`${origin}/overview`, { headers });
  const assets = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);
  if (!assets.some((path) => path?.endsWith(".js")) || !assets.some((path) => path?.endsWith(".css"))) {
    throw new Error(`the console's page has no script or no style: ${page}`);
  }
  for (const path of assets) {
    await read(`${origin}${path}`, { headers });
  }
  const servers = await read(`${origin}/tollgate.catalogue.v1.CatalogueService/ListServers`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", "connect-protocol-version": "1" },
    body: "{}",
  });
  if (JSON.parse(servers).servers.length === 0) {
    throw new Error("the console knows of no server");
  }
}

async function read(url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (response.status !== 200 || text === "") {
    throw new Error(`${url} answered ${response.status}: ${text.slice(0, 200)}`);
  }
  return text;
}
