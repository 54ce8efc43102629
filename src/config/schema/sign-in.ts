import * as z from "zod";
import { isSecureWeb, plainName } from "./values.ts";

/** An identity provider. */
const id = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "must be 1 to 32 lower-case letters, digits or dashes")
  .refine((text) => text !== "options", "is taken by the console itself");
const idText = "Its name in addresses: people come back to /sign-in/ID/callback.";

const provider = z.strictObject({
  issuer: z
    .string()
    .refine(isSecureWeb, "must be an https address, or http on this machine, such as https://login.example.com")
    .describe("Where the provider is found (OpenID Connect Discovery)."),
  client_id: z.string().min(1).max(255).describe("The client id that Tollgate is registered under there."),
  client_secret_file: z.string().min(1).optional().describe("A file that holds the client secret."),
  client_secret_env: z
    .string()
    .min(1)
    .optional()
    .describe("An environment variable that holds the client secret. Default: Tollgate is a public client."),
  name: plainName.min(1).max(100).optional().describe("What people call the provider. Default: the host of issuer."),
  scopes: z
    .array(z.string().regex(/^[!-~]+$/))
    .max(20)
    .refine((scopes) => scopes.includes("openid"), "must have openid")
    .default(["openid", "profile", "email"])
    .describe("The scopes to ask for; openid must be among them."),
});

const hasOneSecret = (value: z.output<typeof provider>) =>
  value.client_secret_file === undefined || value.client_secret_env === undefined;
const oneSecret = "needs at most one of client_secret_file and client_secret_env";

/** An identity provider whose users sign in to the console as customers. */
export const customers = provider
  .extend({
    id: id.default("oidc").describe(idText),
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
  })
  .refine(hasOneSecret, oneSecret);

/** An identity provider whose groups give operators' roles. */
export const operators = provider
  .extend({
    id: id.default("operators").describe(idText),
    group_claim: z
      .string()
      .min(1)
      .default("groups")
      .describe("The claim of the ID token that holds somebody's groups."),
    groups: z
      .record(z.string().min(1), z.enum(["reader", "support", "billing", "owner"]))
      .refine((groups) => Object.keys(groups).length > 0, "must name a group")
      .describe(
        "The role of each group's people: reader (or support, which is the same), billing or owner. Of several groups the " +
          "highest counts.",
      ),
  })
  .refine(hasOneSecret, oneSecret);

export const signIn = z
  .strictObject({
    oidc: z
      .union([customers, z.array(customers).max(20)])
      .optional()
      .describe("A provider of identities, by OpenID Connect, or a list of providers. Default: none."),
    operators: z
      .strictObject({ oidc: operators.describe("A provider of identities whose groups are operators.") })
      .optional()
      .describe("How operators sign in beside tokens and links. Default: in no other way."),
    passkeys: z
      .boolean()
      .optional()
      .describe(
        "Whether people sign in with passkeys, which need no other service. Default: where site.address, or else listen.console, is a name over https, or is on this machine.",
      ),
  })
  .superRefine((value, context) => {
    const all = [value.oidc ?? [], value.operators?.oidc ?? []].flat(2);
    const ids = all.map((one) => one.id);
    const again = ids.find((id, at) => ids.indexOf(id) !== at);
    if (again !== undefined) {
      context.addIssue({ code: "custom", path: ["oidc"], message: `two providers have the id ${again}` });
    }
  })
  .prefault({})
  .describe("How people sign in to the console beside API keys.");

/** What happens to a person without an account. */
export const signUp = z
  .enum(["closed", "invited", "open"])
  .default("closed")
  .describe(
    "What happens to a person who signs in without an account: closed turns away, invited waits for an invitation, open makes an account with the free tier's money.",
  );
