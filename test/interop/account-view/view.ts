import { type Client, createClient } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { type Service, startService } from "../../support/service.ts";

/** What a customer sees of its key and account with the key alone, over the real wire. */
export interface View extends AsyncDisposable {
  readonly service: Service;
  readonly operator: Client<typeof AccountsService>;
  /** Asks for a path of the surfaces, by default with the service's own key. */
  get(path: string, key?: string): Promise<{ status: number; json: { data: never; error: never } }>;
}

export async function startView(): Promise<View> {
  const service = await startService();
  return {
    service,
    operator: createClient(AccountsService, service.operator),
    async get(path, key = service.key) {
      const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${key}` } });
      return { status: response.status, json: (await response.json()) as { data: never; error: never } };
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
