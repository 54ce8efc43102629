import type { IncomingMessage, ServerResponse } from "node:http";
import { type Answer, sendError, sendJson } from "./answers.ts";
import type { CoreSessions, OpenedSession } from "./core.ts";
import { readFields } from "./read-credential.ts";

/** Gives a browser a session in place of the one that it had. */
export type Enter = (request: IncomingMessage, response: ServerResponse, opened: OpenedSession) => Promise<void>;

/** The calls of the sign-in page that sign somebody up or in with a passkey, by method and path. */
export function createPasskeyCalls(core: CoreSessions, enter: Enter): readonly (readonly [string, Answer])[] {
  const begin: Answer = async (request, response) => {
    const fields = await readFields(request, ["name"]);
    if (fields === undefined) {
      return sendError(response, 400, 'The body must be JSON: {} to sign in, {"name": "…"} to sign up.');
    }
    const { name } = fields;
    const { optionsJson, pending } =
      name === undefined ? await core.beginPasskeySignIn(request) : await core.beginPasskeySignUp(name, request);
    sendJson(response, 200, { options: JSON.parse(optionsJson) as object, pending });
  };

  const finish = (isNew: boolean): Answer =>
    async function answer(request, response) {
      const { credential, pending } = (await readFields(request, ["credential", "pending"])) ?? {};
      if (credential === undefined || pending === undefined) {
        return sendError(response, 400, 'The body must be JSON: {"credential": "…", "pending": "…"}.');
      }
      await enter(request, response, await core.finishPasskey(credential, pending, isNew, request));
    };

  return [
    ["POST /sign-in/passkey/begin", begin],
    ["POST /sign-in/passkey", finish(false)],
    ["POST /sign-up/passkey", finish(true)],
  ];
}
