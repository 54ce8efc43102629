import type { output } from "zod";
import type { Path } from "./problems/path.ts";
import type { customers, operators, signIn } from "./schema/sign-in.ts";

/** A provider, and whose people it is for. */
export type ProviderConfig =
  | (output<typeof customers> & { readonly kind: "customers" })
  | (output<typeof operators> & { readonly kind: "operators" });

/** All providers, customers' first, each with its path in the configuration. */
export function toProviders({
  oidc = [],
  operators,
}: Pick<output<typeof signIn>, "oidc" | "operators">): (ProviderConfig & { readonly path: Path })[] {
  const pathOf = (path: Path, all: unknown, index: number) => (Array.isArray(all) ? [...path, index] : path);
  const own = operators?.oidc ?? [];
  return [
    ...[oidc].flat().map((one, index) => {
      return { ...one, kind: "customers" as const, path: pathOf(["sign_in", "oidc"], oidc, index) };
    }),
    ...[own].flat().map((one, index) => {
      return { ...one, kind: "operators" as const, path: pathOf(["sign_in", "operators", "oidc"], own, index) };
    }),
  ];
}
