import type { IncomingMessage } from "node:http";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type { Session } from "#gen/tollgate/sessions/v1/session_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { clientAddressHeader, requestIdHeader } from "#lib/rpc/call-headers.ts";
import { createClient } from "#lib/rpc/client.ts";
import { clientAddress, type IsTrustedProxy } from "../../http/request/client-address.ts";

/** Milliseconds that the core may take to answer about a session. */
const timeoutMs = 10_000;

/** The core's answer about a session token. */
export type SessionAnswer =
  | { readonly kind: "open"; readonly session: Session }
  | { readonly kind: "ended" }
  /** The core could not be asked. */
  | { readonly kind: "unknown"; readonly error: ConnectError };

/** A newly opened session and its cookie. */
export interface OpenedSession {
  readonly session: Session;
  readonly cookie: string;
}

/** The core's sessions. Calls throw ConnectError. */
export class CoreSessions {
  readonly #client;
  readonly #isTrustedProxy: IsTrustedProxy | undefined;

  constructor(transport: Transport, isTrustedProxy: IsTrustedProxy | undefined) {
    this.#client = createClient(SessionsService, transport);
    this.#isTrustedProxy = isTrustedProxy;
  }

  /** Asks for a cookie's session. */
  async read(cookie: string | undefined, request: IncomingMessage): Promise<SessionAnswer> {
    if (cookie === undefined) {
      return { kind: "ended" };
    }
    try {
      const { session } = await this.#client.getSession({}, this.#options(request, cookie));
      return session === undefined ? { kind: "ended" } : { kind: "open", session };
    } catch (reason) {
      const error = ConnectError.from(reason);
      return error.code === Code.Unauthenticated ? { kind: "ended" } : { kind: "unknown", error };
    }
  }

  /** Opens a session for an API key or an operator's token. */
  async open(credential: string, request: IncomingMessage): Promise<OpenedSession> {
    const headers = { ...this.headersFor(request), authorization: `Bearer ${credential}` };
    return required(await this.#client.createSession({}, { headers, timeoutMs }));
  }

  /** Opens the session of a sign-in link. */
  async redeem(link: string, request: IncomingMessage): Promise<OpenedSession> {
    return required(await this.#client.redeemSignInLink({ token: link }, this.#options(request)));
  }

  /** The ways to sign in. */
  async readOptions(request: IncomingMessage) {
    return this.#client.getSignInOptions({}, this.#options(request));
  }

  /** Begins a sign-in with an identity provider. */
  async beginOidc(provider: string, redirectUrl: string, request: IncomingMessage) {
    return this.#client.beginOidcSignIn({ provider, redirectUrl }, this.#options(request));
  }

  /** Opens a session for the person that the provider confirms. */
  async finishOidc(callbackUrl: string, pending: string, request: IncomingMessage): Promise<OpenedSession> {
    return required(await this.#client.finishOidcSignIn({ callbackUrl, pending }, this.#options(request)));
  }

  /** Begins to make a passkey for somebody new. */
  async beginPasskeySignUp(name: string, request: IncomingMessage) {
    return this.#client.beginPasskeySignUp({ name }, this.#options(request));
  }

  /** Begins a sign-in with a passkey. */
  async beginPasskeySignIn(request: IncomingMessage) {
    return this.#client.beginPasskeySignIn({}, this.#options(request));
  }

  /** Opens a session for the person of a passkey. `isNew`: it was made just now. */
  async finishPasskey(credentialJson: string, pending: string, isNew: boolean, request: IncomingMessage) {
    const [facts, options] = [{ credentialJson, pending }, this.#options(request)];
    const answer = isNew
      ? await this.#client.finishPasskeySignUp(facts, options)
      : await this.#client.finishPasskeySignIn(facts, options);
    return required(answer);
  }

  /** Has a link mailed to somebody. */
  async beginMail(email: string, request: IncomingMessage) {
    return this.#client.beginMailSignIn({ email }, this.#options(request));
  }

  /** Opens a session for the person of the address that a link came to. */
  async finishMail(token: string, pending: string, request: IncomingMessage): Promise<OpenedSession> {
    return required(await this.#client.finishMailSignIn({ token, pending }, this.#options(request)));
  }

  /** Opens a session for another account of a person, and ends the one of the cookie. */
  async switchAccount(cookie: string, accountId: string, request: IncomingMessage): Promise<OpenedSession> {
    return required(await this.#client.switchAccount({ accountId }, this.#options(request, cookie)));
  }

  async end(cookie: string, request: IncomingMessage): Promise<void> {
    await this.#client.endSession({}, this.#options(request, cookie));
  }

  /** Creates an API key that ends with the session. */
  async createKey(cookie: string, accountId: string, request: IncomingMessage): Promise<string> {
    const { secret } = await this.#client.createSessionKey({ accountId }, this.#options(request, cookie));
    return secret;
  }

  /** The headers with which a page's call goes to the core, its id among them: the console alone sends a cookie, which is no bearer. */
  headersFor(request: IncomingMessage, cookie?: string): Record<string, string> {
    const address = clientAddress(request, this.#isTrustedProxy);
    const id = request.headers[requestIdHeader];
    return {
      ...(typeof id === "string" && { [requestIdHeader]: id }),
      ...(cookie !== undefined && { authorization: `Session ${cookie}` }),
      ...(address !== undefined && { [clientAddressHeader]: address }),
    };
  }

  #options(request: IncomingMessage, cookie?: string) {
    return { headers: this.headersFor(request, cookie), timeoutMs };
  }
}

function required({ session, cookie }: { session?: Session | undefined; cookie: string }): OpenedSession {
  if (session === undefined) {
    throw new ConnectError("The core told no session.", Code.Internal);
  }
  return { session, cookie };
}
