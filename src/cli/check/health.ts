import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import type { Command } from "commander";
import type { Io } from "../shared/io.ts";

/** How long a process may take to answer, in milliseconds. */
const askMs = 2000;

/** `tollgate health` */
export function addHealth(program: Command, { environment }: Io): void {
  program
    .command("health")
    .description("exit with 0 when the service is ready (for container health checks)")
    .option("--url <url>", "what to ask; TOLLGATE_HEALTH_URL, or http://127.0.0.1:9464/readyz, unless set")
    .action(async ({ url = environment.TOLLGATE_HEALTH_URL ?? "http://127.0.0.1:9464/readyz" }: { url?: string }) => {
      const status = await ask(new URL(url));
      if (status !== 200) {
        throw new Error(`${url} answers ${status}`);
      }
    });
}

/** The status of an answer. Over HTTPS the certificate is not checked, because it is our own. */
function ask(url: URL): Promise<number | undefined> {
  const get = url.protocol === "https:" ? getHttps : getHttp;
  return new Promise((resolve, reject) => {
    const request = get(url, { timeout: askMs, rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on("timeout", () => request.destroy(new Error(`${url} does not answer within ${askMs} ms`)));
    request.on("error", reject);
  });
}
