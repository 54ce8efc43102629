import { Name } from "../../parts/figures/name.tsx";
import { path } from "../router.ts";
import { type Audience, isAllowed } from "../routes.ts";
import { isCustomer, session, signOut } from "../session.ts";
import { troubles, useTroubles } from "../status.ts";

interface Entry {
  readonly name: string;
  readonly path: string;
  readonly audience?: Audience;
}

/** The menu's entries, grouped by topic. */
const groups: readonly { readonly name: string; readonly entries: readonly Entry[] }[] = [
  {
    name: "Service",
    entries: [
      { name: "Overview", path: "/overview", audience: "customers" },
      { name: "Playground", path: "/playground", audience: "customers" },
      { name: "Models", path: "/models", audience: "customers" },
      { name: "Requests", path: "/requests", audience: "customers" },
      { name: "Fleet", path: "/fleet" },
    ],
  },
  {
    name: "Money",
    entries: [
      { name: "Accounts", path: "/accounts" },
      { name: "Money", path: "/money", audience: "payers" },
      { name: "Keys", path: "/keys", audience: "customers" },
      { name: "Usage", path: "/usage", audience: "customers" },
      { name: "Margin", path: "/margin" },
      { name: "Books", path: "/books" },
    ],
  },
  {
    name: "System",
    entries: [
      { name: "People", path: "/people", audience: "persons" },
      { name: "Audit", path: "/audit", audience: "owners" },
      { name: "Settings", path: "/settings" },
    ],
  },
];

/** The entries that the reader may see. */
export function shownEntries(): readonly Entry[] {
  return groups.flatMap(({ entries }) => entries.filter(({ audience = "operators" }) => isAllowed({ audience })));
}

/** The number of things that are wrong. */
function TroubleMark() {
  useTroubles();
  const { length } = troubles.value;
  return length === 0 ? null : (
    <span class="trouble-mark">
      {length}
      <span class="visually-hidden"> wrong</span>
    </span>
  );
}

export function Navigation() {
  // Receipts are part of usage.
  const isAt = (to: string) =>
    [to, ...(to === "/usage" ? ["/receipts"] : [])].some(
      (start) => path.value === start || path.value.startsWith(`${start}/`),
    );
  const shown = groups
    .map(({ name, entries }) => ({
      name,
      entries: entries.filter(({ audience = "operators" }) => isAllowed({ audience })),
    }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <nav id="menu" aria-label="Main">
      {shown.map(({ name, entries }) => (
        <div class="menu-group" key={name}>
          <p class="menu-title">{name}</p>
          <ul>
            {entries.map((entry) => (
              <li key={entry.path}>
                <a href={entry.path} aria-current={isAt(entry.path) ? "page" : undefined}>
                  {entry.name}
                  {entry.path === "/overview" && !isCustomer.value && <TroubleMark />}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <div class="who">
        <p class="small muted">
          <Name text={session.value?.name || "Customer"} />
          {session.value?.name && <span class="role">{session.value.memberRole || session.value.role}</span>}
        </p>
        <button type="button" class="quiet" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </nav>
  );
}
