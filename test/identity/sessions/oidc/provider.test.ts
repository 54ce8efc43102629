import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "@jest/globals";
import { isOfNow, Provider } from "#src/identity/sessions/oidc/provider.ts";
import { startIdentityProvider } from "../../../console/stage/identity-provider.ts";

const clientId = "tollgate";
/** The id of the key with which oidc-provider signs unless it is given keys. */
const providersKey = "keystore-CHANGE-ME";
const redirectUrl = "http://127.0.0.1:9/sign-in/oidc/callback";

/** Signs in at the provider's pages as a browser does. Returns the address to which it sends the browser back. */
async function walk(from: string): Promise<URL> {
  const cookies = new Map<string, string>();
  const visit = async (url: string, form?: Record<string, string>) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const body = form && new URLSearchParams(form);
    const init = body === undefined ? {} : { method: "POST", body };
    const response = await fetch(url, { ...init, headers: { cookie }, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  let url = from;
  for (let steps = 0; steps < 20 && !url.startsWith(redirectUrl); steps++) {
    const response = await visit(url);
    const prompt = response.status === 200 && /name="prompt" value="(\w+)"/.exec(await response.text())?.[1];
    const next = prompt ? await visit(url, { prompt, login: "ada", password: "x" }) : response;
    url = new URL(next.headers.get("location") ?? "", url).href;
  }
  return new URL(url);
}

async function signIn(published?: object, demands: Readonly<Record<string, readonly string[]>> = {}) {
  const identities = await startIdentityProvider(clientId, { ...(published && { published }) });
  try {
    const config = { issuer: identities.issuer, client_id: clientId, scopes: ["openid"], demands };
    const provider = new Provider(config, undefined);
    const { url, checks } = await provider.begin(redirectUrl);
    return await provider.finish(await walk(url), checks);
  } finally {
    await identities.close();
  }
}

test("the claims of a person come from a signed ID token", async () => {
  expect(await signIn()).toMatchObject({ sub: "ada", aud: clientId });
});

test("an ID token that another key signed is refused", async () => {
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: providersKey, use: "sig", alg: "RS256" };
  await expect(signIn({ keys: [jwk] })).rejects.toMatchObject({
    cause: { message: expect.stringMatching(/signature verification failed/) },
  });
});

test.each([
  [{}, {}, undefined],
  [{ hd: ["example.com"] }, { hd: "example.com" }, undefined],
  [{ hd: ["example.com"] }, { hd: "example.com.evil.example" }, "hd"],
  [{ hd: ["example.com"] }, {}, "hd"],
  [{ groups: ["staff", "ops"] }, { groups: ["guests", "ops"] }, undefined],
  [{ groups: ["staff"] }, { groups: ["guests", { staff: true }] }, "groups"],
  [{ hd: ["example.com"], groups: ["staff"] }, { hd: "example.com", groups: "guests" }, "groups"],
])("of the demands %j, the claims %j leave %s unmet", (demands, claims, unmet) => {
  const provider = new Provider({ issuer: "https://x.example", client_id: "x", scopes: [], demands }, undefined);
  expect(provider.findUnmet({ sub: "ada", ...claims })).toBe(unmet);
});

test("an ID token that was not made within ten minutes of now is not of this sign-in", () => {
  const now = 1_700_000_000_000;
  expect([-601, -600, 0, 600, 601].map((apart) => isOfNow(now / 1000 + apart, now))).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
});
