import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, test } from "@jest/globals";
import type { Dependencies } from "../../../../facades/console/dependencies.ts";
import type { CoreSessions } from "../../../../facades/console/sessions/core.ts";
import { answerOidc } from "../../../../facades/console/sessions/oidc.ts";

/** Where a provider is told to lead back to. */
async function leadsBackTo(host: string, consoleUrl: string | undefined): Promise<string> {
  let told = "";
  const core = {
    async beginOidc(_: string, redirectUrl: string) {
      told = redirectUrl;
      return { authorizationUrl: "https://identity.example/authorize", pending: "p" };
    },
  } as unknown as CoreSessions;
  const response = { setHeader() {}, writeHead: () => response, end: () => response } as unknown as ServerResponse;
  const request = { method: "GET", headers: { host }, socket: {} } as unknown as IncomingMessage;
  await answerOidc("/sign-in/corp", request, response, { reach: "tls", consoleUrl } as Dependencies, core);
  return told;
}

test("a provider leads back to the console's own address, whatever host a browser names", async () => {
  const callback = "https://console.example.com/sign-in/corp/callback";
  expect(await leadsBackTo("evil.example", "https://console.example.com")).toBe(callback);
  expect(await leadsBackTo("console.example.com", undefined)).toBe(callback);
});
