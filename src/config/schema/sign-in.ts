import * as z from "zod";
import { isLoopback } from "#lib/net/address.ts";
import { plainName } from "./values.ts";

/** An identity provider whose users sign in to the console as customers. */
const oidc = z
  .strictObject({
    issuer: z
      .string()
      .refine(isIssuer, "must be an https address, or http on this machine, such as https://login.example.com")
      .describe("Where the provider is found (OpenID Connect Discovery)."),
    client_id: z.string().min(1).max(255).describe("The client id that Tollgate is registered under there."),
    client_secret_file: z.string().optional().describe("A file that holds the client secret."),
    client_secret_env: z
      .string()
      .optional()
      .describe("An environment variable that holds the client secret. Default: Tollgate is a public client."),
    name: plainName.min(1).max(100).optional().describe("What people call the provider. Default: the host of issuer."),
    scopes: z
      .array(z.string().regex(/^[!-~]+$/))
      .max(20)
      .default(["openid", "profile", "email"])
      .describe("The scopes to ask for; openid must be among them."),
    account_claim: z
      .string()
      .min(1)
      .optional()
      .describe("A claim of the ID token that holds the id of somebody's account. Default: none does."),
    demands: z
      .record(z.string().min(1).max(100), z.array(z.string().min(1).max(255)).min(1).max(100))
      .default({})
      .describe(
        "Claims that the ID token must have, each with the values that are let in, such as hd: [example.com] or groups: [staff]. Default: everybody whom the provider signs in.",
      ),
    create_accounts: z
      .boolean()
      .default(false)
      .describe("Whether a person without an account gets one, with the free tier's money; else they are turned away."),
  })
  .refine(
    (value) => value.client_secret_file === undefined || value.client_secret_env === undefined,
    "needs at most one of client_secret_file and client_secret_env",
  )
  .refine((value) => value.scopes.includes("openid"), { path: ["scopes"], message: "must have openid" });

export const signIn = z
  .strictObject({
    oidc: oidc.optional().describe("A provider of identities, by OpenID Connect. Default: none."),
    public_url: z
      .string()
      .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), "must be an http address")
      .optional()
      .describe(
        "The console's address for browsers, such as https://console.example.com: the provider leads back there. Default: the Host that a browser names.",
      ),
  })
  .prefault({})
  .describe("How customers sign in to the console beside API keys.");

function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  const isNear = url?.protocol === "http:" && isLoopback(url.hostname.replace(/^\[|\]$/g, ""));
  return url?.protocol === "https:" || isNear;
}
