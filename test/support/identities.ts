import { generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Client } from "@connectrpc/connect";
import type { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";

export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** A provider of identities (OpenID Connect) that vouches for whatever a test says. */
export interface Identities extends AsyncDisposable {
  readonly issuer: string;
  /** Signs somebody in, as the browser does that the provider sends back. */
  signIn(
    client: Client<typeof SessionsService>,
    claims: Claims,
    options?: { readonly provider?: string; readonly headers?: Readonly<Record<string, string>> },
  ): ReturnType<Client<typeof SessionsService>["finishOidcSignIn"]>;
}

/** Starts one on loopback. */
export async function startIdentities(clientId: string): Promise<Identities> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const toToken = (claims: object) => {
    const now = Math.floor(Date.now() / 1000);
    const payload = { iss: issuer, aud: clientId, iat: now, exp: now + 300, ...claims };
    const body = `${encode({ alg: "RS256", kid: "k" })}.${encode(payload)}`;
    return `${body}.${sign("RSA-SHA256", Buffer.from(body), privateKey).toString("base64url")}`;
  };
  const answer = async (request: IncomingMessage): Promise<unknown> => {
    switch (request.url) {
      case "/.well-known/openid-configuration":
        return {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
        };
      case "/jwks":
        return { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k", alg: "RS256", use: "sig" }] };
      default: {
        const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
        // The code is what the token will say.
        const claims = JSON.parse(Buffer.from(form.get("code") ?? "", "base64url").toString());
        return { access_token: "unused", token_type: "Bearer", id_token: toToken(claims) };
      }
    }
  };
  server.on("request", async (request, response) => {
    const body = await answer(request);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  return {
    issuer,
    async signIn(client, claims, { provider = "", headers = {} } = {}) {
      const redirectUrl = `http://127.0.0.1/sign-in/${provider || "oidc"}/callback`;
      const { authorizationUrl, pending } = await client.beginOidcSignIn({ provider, redirectUrl }, { headers });
      const { searchParams: asked } = new URL(authorizationUrl);
      const back = new URL(redirectUrl);
      back.searchParams.set("code", encode({ nonce: asked.get("nonce"), ...claims }));
      back.searchParams.set("state", asked.get("state") ?? "");
      return client.finishOidcSignIn({ callbackUrl: back.href, pending }, { headers });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
