import type { output } from "zod";
import type { customers, operators, signIn } from "./schema/sign-in.ts";

/** A provider, and whose people it is for. */
export type ProviderConfig =
  | (output<typeof customers> & { readonly kind: "customers" })
  | (output<typeof operators> & { readonly kind: "operators" });

/** All providers, customers' first. */
export function toProviders({ oidc, operators }: Pick<output<typeof signIn>, "oidc" | "operators">): ProviderConfig[] {
  return [
    ...[oidc ?? []].flat().map((one) => ({ ...one, kind: "customers" as const })),
    ...[operators?.oidc ?? []].flat().map((one) => ({ ...one, kind: "operators" as const })),
  ];
}
