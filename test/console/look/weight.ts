import type { Stage } from "../stage/stage.ts";

interface Weight {
  /** Bytes of bodies over the wire until the page stands still. */
  readonly bytes: number;
  readonly hosts: readonly string[];
}

/** Opens the overview without a cache and adds up what came. */
export async function weigh(stage: Stage): Promise<Weight> {
  const { context, page } = await stage.visit();
  await page.goto(await stage.makeLink("reader"));
  await page.waitForURL("**/overview");
  const cookies = await context.cookies();
  await context.close();
  const cold = await stage.visit();
  await cold.context.addCookies(cookies);
  const sizes: Promise<number>[] = [];
  const hosts = new Set<string>();
  cold.page.on("requestfinished", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "data:") {
      hosts.add(url.host);
    }
    if (request.method() === "GET") {
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    }
  });
  await cold.page.goto("/overview");
  await cold.page.getByText("Tokens a second").first().waitFor();
  const bytes = (await Promise.all(sizes)).reduce((all, size) => all + size, 0);
  await cold.context.close();
  return { bytes, hosts: [...hosts] };
}
