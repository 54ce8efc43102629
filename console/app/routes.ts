import type { Load } from "./load-page.ts";
import { isAccountOwner, isCustomer, isMember, isWithoutAccount } from "./session.ts";

/**
 * Who may see a page beside operators. Payers: customers, and not operators, who see what was paid on the account's page.
 * Members: people with a place in the account, and not operators.
 */
export type Audience = "operators" | "customers" | "payers" | "owners" | "members" | "persons";

export interface Route {
  /** The beginning of the path. The rest is the id. */
  readonly path: string;
  readonly hasId: boolean;
  readonly audience: Audience;
  readonly load: Load;
}

const page = (path: string, load: Load, options: { hasId?: boolean; audience?: Audience } = {}): Route => ({
  path,
  hasId: options.hasId ?? false,
  audience: options.audience ?? "operators",
  load,
});
const forCustomers = { audience: "customers" } as const;

const routes: readonly Route[] = [
  page("/overview", () => import("../pages/service/overview/page.tsx"), forCustomers),
  page("/accounts", () => import("../pages/money/accounts/page.tsx")),
  page("/accounts", () => import("../pages/money/account/page.tsx"), { hasId: true }),
  page("/models", () => import("../pages/service/models/page.tsx"), forCustomers),
  page("/models", () => import("../pages/service/model/page.tsx"), { hasId: true, audience: "customers" }),
  page("/fleet", () => import("../pages/service/fleet/page.tsx")),
  page("/books", () => import("../pages/money/books/page.tsx")),
  page("/money", () => import("../pages/money/money/page.tsx"), { audience: "payers" }),
  page("/usage", () => import("../pages/money/usage/page.tsx"), forCustomers),
  page("/margin", () => import("../pages/money/margin/page.tsx")),
  page("/playground", () => import("../pages/service/playground/page.tsx"), forCustomers),
  page("/audit", () => import("../pages/system/audit/page.tsx"), { audience: "owners" }),
  page("/people", () => import("../pages/system/people/page.tsx"), { audience: "persons" }),
  page("/invitation", () => import("../pages/system/invitation/page.tsx"), { hasId: true, audience: "persons" }),
  page("/settings", () => import("../pages/system/settings/page.tsx")),
  page("/first-run", () => import("../pages/service/first-run/page.tsx")),
  page("/receipts", () => import("../pages/money/receipt/page.tsx"), { hasId: true, audience: "customers" }),
  page("/requests", () => import("../pages/service/requests/page.tsx"), forCustomers),
  page("/requests", () => import("../pages/service/request/page.tsx"), { hasId: true, audience: "customers" }),
  page("/keys", () => import("../pages/money/keys/page.tsx"), forCustomers),
];

/** Whether whoever is signed in may see what is for some. */
export function isAllowed({ audience }: { readonly audience: Audience }): boolean {
  switch (audience) {
    case "operators":
      return !isCustomer.value;
    case "customers":
      return !isWithoutAccount.value;
    case "payers":
      return isCustomer.value && !isWithoutAccount.value;
    case "owners":
      return !isCustomer.value || isAccountOwner.value;
    case "members":
      return isMember.value;
    case "persons":
      return isMember.value || isWithoutAccount.value;
  }
}

/** The page at a path. Undefined: no page. */
export function findRoute(path: string): { readonly route: Route; readonly id: string } | undefined {
  for (const route of routes) {
    if (!route.hasId && route.path === path) {
      return { route, id: "" };
    }
    if (route.hasId && path.startsWith(`${route.path}/`) && path.length > route.path.length + 1) {
      return { route, id: path.slice(route.path.length + 1) };
    }
  }
  return undefined;
}
