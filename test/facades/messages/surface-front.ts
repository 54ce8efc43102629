import { afterEach } from "@jest/globals";
import { type FrontServer, startFront } from "../http/front-server.ts";
import { type Script, scriptedCore } from "../http/scripted-core.ts";

export const plain = { model: "m", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] };
export const versioned = { "anthropic-version": "2023-06-01", "x-api-key": "tg-1" };

/** Closes each test's fronts after it; the function starts a front over a core that does as the script says. Posts go to it. */
export function surfaceFronts() {
  const open: FrontServer[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((front) => front[Symbol.asyncDispose]()));
  });
  return async (script: Partial<Script> = {}) => {
    const core = scriptedCore(script);
    const front = await startFront(core.transport);
    open.push(front);
    const { url } = front;
    const post = (path: string, body: unknown, headers: Record<string, string> = versioned) =>
      fetch(url + path, { method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) });
    return { front, log: core.log, url, post };
  };
}
