import type { Load } from "./load-page.ts";

interface Route {
  /** The beginning of the path. The rest is the id. */
  readonly path: string;
  readonly hasId: boolean;
  /** Whether customers may see it. */
  readonly isForCustomers: boolean;
  readonly load: Load;
}

const page = (path: string, load: Load, options: { hasId?: boolean; isForCustomers?: boolean } = {}): Route => ({
  path,
  hasId: options.hasId ?? false,
  isForCustomers: options.isForCustomers ?? false,
  load,
});
const forCustomers = { isForCustomers: true };

const routes: readonly Route[] = [
  page("/overview", () => import("../pages/overview/page.tsx"), forCustomers),
  page("/accounts", () => import("../pages/accounts/page.tsx")),
  page("/accounts", () => import("../pages/account/page.tsx"), { hasId: true }),
  page("/models", () => import("../pages/models/page.tsx"), forCustomers),
  page("/models", () => import("../pages/model/page.tsx"), { hasId: true, isForCustomers: true }),
  page("/fleet", () => import("../pages/fleet/page.tsx")),
  page("/books", () => import("../pages/books/page.tsx")),
  page("/usage", () => import("../pages/usage/page.tsx"), forCustomers),
  page("/playground", () => import("../pages/playground/page.tsx"), forCustomers),
  page("/audit", () => import("../pages/audit/page.tsx")),
  page("/settings", () => import("../pages/settings/page.tsx")),
  page("/first-run", () => import("../pages/first-run/page.tsx")),
  page("/receipts", () => import("../pages/receipt/page.tsx"), { hasId: true, isForCustomers: true }),
  page("/requests", () => import("../pages/requests/page.tsx"), forCustomers),
  page("/requests", () => import("../pages/request/page.tsx"), { hasId: true, isForCustomers: true }),
  page("/keys", () => import("../pages/keys/page.tsx"), forCustomers),
];

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
