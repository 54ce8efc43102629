import type { IncomingMessage } from "node:http";
import { isSameOrigin } from "../calls/same-origin.ts";
import { type Dependencies, readReach } from "../dependencies.ts";
import { type Answer, sendCoreError, sendError, sendJson, toSessionJson } from "./answers.ts";
import { readToken, sessionCookie } from "./cookie.ts";
import type { CoreSessions } from "./core.ts";
import { askForMail } from "./mail.ts";
import { createPasskeyCalls, type Enter } from "./passkey-calls.ts";
import { readCredential, readText } from "./read-credential.ts";

/** The calls that sign a page in and out, by method and path. */
export function createSessionCalls(parts: Dependencies, core: CoreSessions): ReadonlyMap<string, Answer> {
  const { facts } = parts;
  const factsFor = (request: IncomingMessage) => ({ insecure: readReach(request, parts) === "insecure", ...facts });

  const enter: Enter = async (request, response, { session, cookie }) => {
    const reach = readReach(request, parts);
    const before = readToken(request, reach);
    // The session from before the sign-in is never reused, so that nobody can have prepared it.
    if (before !== undefined) {
      await core.end(before, request).catch(() => {}); // it may have ended by itself
    }
    response.setHeader("set-cookie", sessionCookie(cookie, request, reach));
    sendJson(response, 200, toSessionJson(session, factsFor(request)));
  };

  const signIn: Answer = async (request, response) => {
    const credential = await readCredential(request);
    if (credential === undefined) {
      return sendError(response, 400, 'The body must be JSON: {"operatorToken": "…"} or {"apiKey": "…"}.');
    }
    // No other characters fit into a header, and no credential of ours has any.
    if (!/^[!-~]{1,1024}$/.test(credential)) {
      return sendError(response, 401, "The credential is not a valid API key or token.");
    }
    await enter(request, response, await core.open(credential, request));
  };

  const tell: Answer = async (request, response) => {
    const answer = await core.read(readToken(request, readReach(request, parts)), request);
    switch (answer.kind) {
      case "open":
        return sendJson(response, 200, toSessionJson(answer.session, factsFor(request)));
      case "ended":
        return sendError(response, 401, "Nobody is signed in.");
      case "unknown":
        throw answer.error;
    }
  };

  const signOut: Answer = async (request, response) => {
    const reach = readReach(request, parts);
    const token = readToken(request, reach);
    const answer = await core.read(token, request);
    if (token !== undefined && answer.kind !== "ended") {
      await core.end(token, request);
    }
    response.setHeader("set-cookie", sessionCookie("", request, reach));
    response.writeHead(204).end();
  };

  const makeKey: Answer = async (request, response) => {
    const token = readToken(request, readReach(request, parts));
    if (token === undefined) {
      return sendError(response, 401, "Nobody is signed in.");
    }
    const answer = await core.read(token, request);
    switch (answer.kind) {
      case "open":
        break;
      case "ended":
        return sendError(response, 401, "Nobody is signed in.");
      case "unknown":
        throw answer.error;
    }
    const own = answer.session.personId === "" ? "" : answer.session.accountId;
    const accountId = (await readText(request, "accountId")) || own || facts.demoAccountId;
    if (accountId === "") {
      return sendError(response, 404, "There is no demo account: choose the account that pays.");
    }
    const key = await core.createKey(token, accountId, request);
    sendJson(response, 200, { key, accountId });
  };

  const switchAccount: Answer = async (request, response) => {
    const reach = readReach(request, parts);
    const token = readToken(request, reach);
    const accountId = await readText(request, "accountId");
    if (token === undefined) {
      return sendError(response, 401, "Nobody is signed in.");
    }
    if (accountId === undefined) {
      return sendError(response, 400, 'The body must be JSON: {"accountId": "…"}.');
    }
    const opened = await core.switchAccount(token, accountId, request);
    response.setHeader("set-cookie", sessionCookie(opened.cookie, request, reach));
    sendJson(response, 200, toSessionJson(opened.session, factsFor(request)));
  };

  const tellOptions: Answer = async (request, response) => {
    const { providers, passkeyHost, signUp, mail } = await core.readOptions(request);
    const shown = providers.map(({ id, name, forOperators }) => ({ id, name, forOperators }));
    sendJson(response, 200, { providers: shown, passkeyHost, signUp, mail, insecure: factsFor(request).insecure });
  };

  const fromPage = (answer: Answer): Answer =>
    async function judge(request, response) {
      if (!isSameOrigin(request, readReach(request, parts))) {
        return sendError(response, 403, "This call is for pages of the console itself.");
      }
      try {
        await answer(request, response);
      } catch (error) {
        if (!sendCoreError(response, error)) {
          parts.logger.error({ err: error }, "a request failed unexpectedly");
        }
      }
    };
  const calls: readonly (readonly [string, Answer])[] = [
    ...createPasskeyCalls(core, enter),
    ["POST /sign-in/mail", askForMail(parts, core)],
    ["POST /session", signIn],
    ["GET /session", tell],
    ["DELETE /session", signOut],
    ["POST /session/key", makeKey],
    ["POST /session/account", switchAccount],
    ["GET /sign-in/options", tellOptions],
  ];
  return new Map<string, Answer>([...calls.map(([call, answer]) => [call, fromPage(answer)] as const)]);
}
