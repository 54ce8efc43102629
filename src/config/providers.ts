import type { output } from "zod";
import type { customers, operators, signIn } from "./schema/sign-in.ts";

/** A provider with its id, and whose people it is for. */
export type ProviderConfig = { readonly id: string } & (
  | (Omit<output<typeof customers>, "id"> & { readonly kind: "customers" })
  | (Omit<output<typeof operators>, "id"> & { readonly kind: "operators" })
);

/** All providers, customers' first, each with its id. */
export function toProviders(config: Pick<output<typeof signIn>, "oidc" | "operators">): ProviderConfig[] {
  const of = [config.oidc ?? []].flat().map((one) => ({ ...one, id: one.id ?? "oidc", kind: "customers" as const }));
  const operators = config.operators?.oidc;
  return operators === undefined ? of : [...of, { ...operators, id: operators.id ?? "operators", kind: "operators" }];
}
