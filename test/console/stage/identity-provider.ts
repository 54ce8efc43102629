import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
// @ts-expect-error The package comes without types.
import Provider from "oidc-provider";

/** A provider of identities (OpenID Connect) that lets in whoever gives a name. */
export interface IdentityProvider {
  readonly issuer: string;
  close(): Promise<void>;
}

/**
 * Starts one on loopback, where a program of the same machine is registered whatever its port. `published`: the keys
 * that it publishes in place of those that it signs with. `mailHost`: where everybody has an address that it vouches for.
 */
export async function startIdentityProvider(
  clientId: string,
  { published, mailHost }: { readonly published?: object; readonly mailHost?: string } = {},
): Promise<IdentityProvider> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        application_type: "native",
        token_endpoint_auth_method: "none",
        redirect_uris: ["http://127.0.0.1/sign-in/oidc/callback"],
      },
    ],
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({
        sub,
        ...(mailHost === undefined ? {} : { name: sub, email: `${sub}@${mailHost}`, email_verified: true }),
      }),
    }),
    claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
    conformIdTokenClaims: false, // the ID token has them all, as with most providers
    cookies: { keys: ["a key for tests"] },
  });
  const answer = provider.callback();
  server.on("request", (request, response) => {
    if (published !== undefined && request.url === "/jwks") {
      response.setHeader("content-type", "application/jwk-set+json");
      response.end(JSON.stringify(published));
    } else {
      answer(request, response);
    }
  });
  return {
    issuer,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
