import { type ProviderConfig, toProviders } from "#src/config/providers.ts";
import type { Config } from "#src/config/schema.ts";
import type { Secrets } from "#src/config/secrets/secrets.ts";
import { Provider } from "#src/identity/sessions/oidc/provider.ts";
import { type Finding, toReason } from "../finding.ts";

/** Never followed: nobody is sent there. */
const nowhere = "http://127.0.0.1/";

/** Checks that each provider of identities is found, and tells where it sends people to. */
export function checkSignIn(config: Config, { oidcClientSecrets }: Secrets): Promise<Finding[]> {
  return Promise.all(
    toProviders(config.sign_in).map((provider) => checkProvider(provider, oidcClientSecrets.get(provider.id))),
  );
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
