import type { DescMethod } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { type RunningConsole, startConsole } from "#src/compose/console.ts";
import { configSchema } from "#src/config/schema.ts";
import { errorLogger } from "../../support/loggers.ts";
import { type Service, startService } from "../../support/service.ts";

/** A whole service with its console, and a browser's ways to use it. */
export interface ConsoleService extends AsyncDisposable {
  readonly service: Service;
  readonly console: RunningConsole;
  readonly demoAccountId: string;
  /** Signs in with a credential; resolves with the value of the cookie header. */
  signIn(credential: { readonly operatorToken: string } | { readonly apiKey: string }): Promise<string>;
  asOwner(): Promise<string>;
  /** Signs in with the key that has money. */
  asCustomer(): Promise<string>;
  /** Requests as a page of the console does. */
  fetchAsPage(path: string, cookie?: string, init?: RequestInit): Promise<Response>;
  /** Calls a method of the contract as a page does, in JSON. */
  call(method: DescMethod, cookie: string | undefined, message?: object): Promise<Response>;
}

/** What a page's requests carry. */
export const fromPage = { "sec-fetch-site": "same-origin" };

/** The path of a method. */
export function pathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}

export async function startConsoleService(): Promise<ConsoleService> {
  const service = await startService();
  const { transport, front, lifecycle, operator, doors } = service;
  const { account } = await createClient(AccountsService, operator).createAccount({ name: "demo" });
  const demoAccountId = account?.id ?? "";
  const config = configSchema.parse({});
  const running = await startConsole({
    ...{ config, address: "127.0.0.1:0", transport, front, lifecycle, doors, logger: errorLogger, tls: undefined },
    demoAccountId,
  });
  const fetchAsPage = (path: string, cookie?: string, init: RequestInit = {}) =>
    fetch(running.url + path, {
      redirect: "manual",
      ...init,
      headers: { ...fromPage, ...(cookie && { cookie }), ...init.headers },
    });
  const signIn: ConsoleService["signIn"] = async (credential) => {
    const response = await fetchAsPage("/session", undefined, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(credential),
    });
    if (response.status !== 200) {
      throw new Error(`${response.status} ${await response.text()}`);
    }
    return readCookie(response);
  };
  return {
    ...{ service, console: running, demoAccountId, fetchAsPage, signIn },
    asOwner: () => signIn({ operatorToken: service.operatorToken }),
    asCustomer: () => signIn({ apiKey: service.key }),
    call: (method, cookie, message = {}) =>
      fetchAsPage(pathOf(method), cookie, {
        method: "POST",
        headers: { "content-type": "application/json", "connect-protocol-version": "1" },
        body: JSON.stringify(message),
      }),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** The name and value of the cookie that a response sets. */
export function readCookie(response: Response): string {
  return response.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
}
