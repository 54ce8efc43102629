import { path, query } from "../../app/router.ts";

/** Where somebody comes back to from the provider's page: this page, at its tab. */
export function returnUrl(): string {
  const tab = query.value.get("tab");
  return location.origin + path.value + (tab === null ? "" : `?${new URLSearchParams({ tab })}`);
}
