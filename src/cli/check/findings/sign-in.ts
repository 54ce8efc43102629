import { readParty } from "#src/compose/core/people/passkeys.ts";
import { type ProviderConfig, toProviders } from "#src/config/providers.ts";
import type { Config } from "#src/config/schema.ts";
import type { Secrets } from "#src/config/secrets/secrets.ts";
import { Provider } from "#src/identity/sessions/oidc/provider.ts";
import { type Finding, toReason } from "../finding.ts";

/** Never followed: nobody is sent there. */
const nowhere = "http://127.0.0.1/";

/** Checks that each provider of identities is found, tells where it sends people to, and whether anybody can sign up. */
export async function checkSignIn(config: Config, { oidcClientSecrets }: Secrets): Promise<Finding[]> {
  const providers = toProviders(config.sign_in);
  const found = await Promise.all(
    providers.map((provider) => checkProvider(provider, oidcClientSecrets.get(provider.id))),
  );
  return [...found, ...checkSignUp(config, providers)];
}

function checkSignUp(config: Config, providers: readonly ProviderConfig[]): Finding[] {
  const { sign_up: policy, mail, site } = config;
  try {
    const hasMail = mail !== undefined && site.address !== undefined;
    const isThere = readParty(config) !== undefined || hasMail || providers.some(({ kind }) => kind === "customers");
    const message = `${policy}, and nobody can sign up: set sign_in.oidc, mail with site.address, or sign_in.passkeys`;
    return policy === "closed" || isThere ? [] : [{ part: "sign_up", status: "warning", message }];
  } catch (error) {
    return [{ part: "sign_in.passkeys", status: "wrong", message: toReason(error) }];
  }
}

async function checkProvider(config: ProviderConfig, secret: string | undefined): Promise<Finding> {
  const part = `sign_in ${config.id}`;
  try {
    const { url } = await new Provider(config, secret).begin(nowhere);
    return { part, status: "ok", message: `${config.issuer} is found; people sign in at ${new URL(url).host}` };
  } catch (error) {
    return { part, status: "wrong", message: `${config.issuer}: ${toReason(error)}: check issuer` };
  }
}
