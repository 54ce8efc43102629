import { createClient, type Transport } from "@connectrpc/connect";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";

/** Makes a link to the console at this URL that signs the operator in once. */
export async function makeSignInUrl(console: string, transport: Transport, operatorToken: string): Promise<string> {
  const headers = { authorization: `Bearer ${operatorToken}` };
  const { token } = await createClient(SessionsService, transport).createSignInLink({}, { headers });
  return `${console}/link/${token}`;
}
